package audit

import (
	"reflect"
	"slices"
	"strings"

	"peerbus/events"
)

// statusFields are what a StatusChanged is for; status_since may go with either event.
var statusFields = []string{"status", "vendor_status", "waiting_for"}

const sinceField = "status_since"

// keys are the fields of a peer by their keys on the wire. That is written here once more, and not taken from the
// code whose work is checked.
var keys = func() map[string]int {
	out := make(map[string]int)
	for f := range reflect.TypeFor[events.Peer]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[key] = f.Index[0]
	}
	return out
}()

// put copies the field with that key, and tells whether there is one.
func put(to *events.Peer, from events.Peer, key string) bool {
	i, ok := keys[key]
	if ok {
		reflect.ValueOf(to).Elem().Field(i).Set(reflect.ValueOf(from).Field(i))
	}
	return ok
}

// changed are the keys that w names and whose old value is not the one of now.
func changed(w events.Was, now events.Peer) []string {
	d := differing(w.Old, now)
	return slices.DeleteFunc(slices.Clone(w.Fields), func(key string) bool { return !slices.Contains(d, key) })
}

// differing are the keys of the fields in which a and b differ, sorted.
func differing(a, b events.Peer) []string {
	var out []string
	for key := range keys {
		c := a
		if put(&c, b, key); c != a {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
