package events

import (
	"encoding/json"
	"fmt"
	"time"
)

// Time is an instant in milliseconds since the Unix epoch. Zero means that the instant is not known. On the wire it
// is RFC 3339 in UTC with three decimals. As a number it makes a [Peer] comparable with ==.
type Time int64

// layout is what the wire carries; RFC3339Nano would drop trailing zeros.
const layout = "2006-01-02T15:04:05.000Z"

// At is the Time of t, cut to the millisecond; the zero time.Time becomes 0.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// Std is t as a time.Time in UTC, the zero time.Time for 0.
func (t Time) Std() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}

// String is t as it stands on the wire, "" for 0.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.Std().Format(layout)
}

// MarshalJSON writes t as a string; a year outside 0 to 9999 is an error.
func (t Time) MarshalJSON() ([]byte, error) {
	if err := checkYear(t.Std()); err != nil {
		return nil, fmt.Errorf("encode time: %w", err)
	}
	return json.Marshal(t.String())
}

// checkYear refuses what has no RFC 3339 form in UTC, though it may have one in another zone.
func checkYear(utc time.Time) error {
	if y := utc.Year(); y < 0 || y > 9999 {
		return fmt.Errorf("year %d is outside 0 to 9999", y)
	}
	return nil
}

// UnmarshalJSON reads any RFC 3339 time within the years 0 to 9999 of UTC, and "" or null as 0.
func (t *Time) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("decode time: %w", err)
	}
	if s == "" {
		*t = 0
		return nil
	}
	std, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("decode time: %w", err)
	}
	if err := checkYear(std.UTC()); err != nil {
		return fmt.Errorf("decode time: %w", err)
	}
	*t = At(std)
	return nil
}
