package events_test

import (
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"peerbus/events"
)

// hostile are names that would be something else in a subject, in a terminal, in JSON or in an endpoint.
var hostile = []string{
	"two\nlines", "carriage\rreturn", "tab\there", "nul\x00byte", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "del\x7f",
	"c1\u009b31m", "\u202egnirts", "zero\u200bwidth", "line\u2028separator", "*", ">", ">.>", "a.b.c", "...", "$SYS.>", " ",
	" leading and trailing ", "=", "=2E", "==", "%3A", "%", ":", "a:b%c", "/", "..", `"`, `\`, `\u0041`, "<script>&amp;",
	"null", "{}", "名前", "é", "e\u0301", "👩‍👩‍👧", "\ufffd", "\ufeffbom", strings.Repeat("x", 300),
	strings.Repeat(".", 300), strings.Repeat("é", 150), strings.Repeat("x", 64), strings.Repeat("x", 65),
}

// names draws any name that is not empty; texts draws an empty one as well, which is a fact that is absent.
var (
	names = rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(1, -1, -1), rapid.StringMatching(`[a-z0-9-]{1,12}`))
	texts = rapid.OneOf(rapid.Just(""), names)
)

// times draws from all that RFC 3339 can write; 0 is the time that is not known.
var times = rapid.OneOf(rapid.Just(events.Time(0)),
	rapid.Map(rapid.Int64Range(-62_167_219_200_000, 253_402_300_799_999), func(ms int64) events.Time { return events.Time(ms) }))

var statuses = rapid.SampledFrom([]events.Status{events.Busy, events.Idle, events.Waiting, events.Unknown})

var metas = rapid.Custom(func(t *rapid.T) events.Meta {
	return events.Meta{
		ID: texts.Draw(t, "id"), Time: times.Draw(t, "time"), Host: names.Draw(t, "host"), Epoch: texts.Draw(t, "epoch"),
	}
})

var peers = rapid.Custom(func(t *rapid.T) events.Peer {
	return events.Peer{
		Harness: names.Draw(t, "harness"), Session: names.Draw(t, "session"),
		PID: rapid.IntRange(1, 1<<31-1).Draw(t, "pid"), Start: names.Draw(t, "start"),
		Name: texts.Draw(t, "name"), Cwd: texts.Draw(t, "cwd"), Home: texts.Draw(t, "home"), Kind: texts.Draw(t, "kind"),
		Entrypoint: texts.Draw(t, "entrypoint"), Version: texts.Draw(t, "version"),
		Status: statuses.Draw(t, "status"), VendorStatus: texts.Draw(t, "vendor_status"), WaitingFor: texts.Draw(t, "waiting_for"),
		StatusSince: times.Draw(t, "status_since"), Started: times.Draw(t, "started"),
		Addressable: rapid.Bool().Draw(t, "addressable"), Socket: texts.Draw(t, "socket"),
		Endpoint: texts.Draw(t, "endpoint"), Tmux: texts.Draw(t, "tmux"), Job: texts.Draw(t, "job"), Parent: texts.Draw(t, "parent"),
	}
})

// changes draws old values of any of a peer's fields.
var changes = rapid.Custom(func(t *rapid.T) events.Was {
	var was events.Was
	from, to := reflect.ValueOf(peers.Draw(t, "old")), reflect.ValueOf(&was.Old).Elem()
	for i, key := range peerKeys() {
		if rapid.Bool().Draw(t, key) {
			was.Fields = append(was.Fields, key)
			to.Field(i).Set(from.Field(i))
		}
	}
	slices.Sort(was.Fields)
	return was
})

// anyEvent draws one of every type.
var anyEvent = rapid.Custom(func(t *rapid.T) events.Event {
	m, p := metas.Draw(t, "meta"), peers.Draw(t, "peer")
	switch rapid.IntRange(0, 5).Draw(t, "type") {
	case 0:
		return events.PeerAppeared{Meta: m, Peer: p}
	case 1:
		return events.StatusChanged{Meta: m, Peer: p, Was: changes.Draw(t, "was")}
	case 2:
		return events.PeerChanged{Meta: m, Peer: p, Was: changes.Draw(t, "was")}
	case 3:
		return events.PeerPresent{Meta: m, Peer: p}
	case 4:
		gone := events.PeerGone{
			Meta: m, Peer: p, Missed: rapid.Bool().Draw(t, "missed"), NotBefore: times.Draw(t, "not_before"),
			Reason: events.Reason(names.Draw(t, "reason")), Job: texts.Draw(t, "job"),
		}
		if rapid.Bool().Draw(t, "succeeded") {
			gone.Successor = events.Ref{Session: names.Draw(t, "successor"), Instance: names.Draw(t, "instance")}
		}
		return gone
	default:
		return events.WatchResumed{
			Meta: m, BlindFrom: times.Draw(t, "from"), BlindTo: times.Draw(t, "to"), Why: events.Blindness(names.Draw(t, "why")),
		}
	}
})

// peerKeys are the keys of a peer on the wire, in the order of its fields.
func peerKeys() []string {
	var keys []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[events.Peer]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}
