package events_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"peerbus/events"
)

func TestTimeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := times.Draw(t, "time")
		if got := events.At(want.Std()); got != want {
			t.Fatalf("%d is %v, which is %d", want, want.Std(), got)
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got events.Time
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Fatalf("%d is written %s and read as %d (%v)", want, data, got, err)
		}
	})
}

func TestTimeIsWrittenInUTCWithMilliseconds(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	for want, at := range map[string]time.Time{
		"2026-11-30T19:01:08.000Z": time.Date(2026, 11, 30, 21, 1, 8, 0, zone),
		"2026-11-30T19:01:08.446Z": time.Date(2026, 11, 30, 21, 1, 8, 446_999_999, zone),
		"":                         {},
	} {
		if got := events.At(at).String(); got != want {
			t.Errorf("%v is written %q, want %q", at, got, want)
		}
	}
}

func TestTimeThatHasNoWrittenFormIsAnError(t *testing.T) {
	for _, at := range []time.Time{time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if data, err := events.Encode(events.WatchResumed{Meta: events.Meta{Host: "h", Time: events.At(at)}}); err == nil {
			t.Errorf("%v is written %s", at, data)
		}
	}
}
