package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Was holds the old values of the fields that changed. On the wire it is an object with a key for each of them, null
// where the fact was absent: the only place in which null occurs.
type Was struct {
	// Fields names what changed, by the keys of [Peer] on the wire, sorted.
	Fields []string
	// Old has the old values in the fields named, and zero in all others.
	Old Peer
}

// Has tells whether the field with that key on the wire changed.
func (w Was) Has(field string) bool { return slices.Contains(w.Fields, field) }

// peerKeys are the keys of a [Peer], in the order in which they stand on the wire.
var peerKeys = keysOf(reflect.TypeFor[Peer]())

func keysOf(t reflect.Type) []string {
	keys := make([]string, 0, t.NumField())
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}

// MarshalJSON writes the changed fields only, in the order of a peer's.
func (w Was) MarshalJSON() ([]byte, error) {
	all, err := json.Marshal(w.Old)
	if err != nil {
		return nil, err
	}
	var had map[string]json.RawMessage
	if err := json.Unmarshal(all, &had); err != nil {
		return nil, err
	}
	fields := slices.Clone(w.Fields)
	slices.SortStableFunc(fields, func(a, b string) int {
		return cmp.Compare(slices.Index(peerKeys, a), slices.Index(peerKeys, b))
	})
	out := []byte{'{'}
	for i, f := range fields {
		key, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, key...), ':')
		if old, ok := had[f]; ok {
			out = append(out, old...)
		} else {
			out = append(out, "null"...)
		}
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes; a key that is no field of a peer stays in Fields.
func (w *Was) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("decode was: %w", err)
	}
	fields := slices.Sorted(maps.Keys(all))
	// encoding/json would take a key that differs in case for a field of the peer.
	maps.DeleteFunc(all, func(f string, _ json.RawMessage) bool { return !slices.Contains(peerKeys, f) })
	known, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("decode was: %w", err)
	}
	var old Peer
	if err := json.Unmarshal(known, &old); err != nil {
		return fmt.Errorf("decode was: %w", err)
	}
	*w = Was{Fields: fields, Old: old}
	return nil
}
