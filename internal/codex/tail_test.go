package codex

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
)

const (
	startedLine  = `{"timestamp":"2026-11-30T22:14:40.000Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}`
	completeLine = `{"timestamp":"2026-11-30T22:14:43.753Z","ordinal":2,"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"\"task_started\""}}`
	abortedLine  = `{"timestamp":"2026-11-30T22:14:44Z","ordinal":3,"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`
	otherLine    = `{"timestamp":"2026-11-30T22:14:45.000Z","type":"response_item","payload":{"type":"event_msg","content":"\"task_started\" \"event_msg\""}}`
)

func readAll(t testing.TB, data string) tail {
	t.Helper()
	got, err := readTail(strings.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLastTurn(t *testing.T) {
	long := strings.Repeat("x", lineMost+2)
	far := strings.Repeat(strings.Repeat("x", 1023)+"\n", tailMost>>10)
	for name, tc := range map[string]struct{ data, want string }{
		"empty":                                    {"", ""},
		"a turn":                                   {startedLine + "\n", "task_started"},
		"a turn that has ended":                    {startedLine + "\n" + completeLine + "\n", "task_complete"},
		"a turn that was aborted":                  {startedLine + "\n" + abortedLine + "\n", "turn_aborted"},
		"behind it others":                         {startedLine + "\n" + completeLine + "\n" + otherLine + "\n" + otherLine + "\n", "task_complete"},
		"its end is cut":                           {startedLine + "\n" + completeLine[:60], "task_started"},
		"its end is not yet ended":                 {startedLine + "\n" + completeLine, "task_started"},
		"one line that is not ended":               {startedLine, ""},
		"no JSON":                                  {"\x00\xff{{{\"event_msg\" \"task_started\"\n\n}\n", ""},
		"no JSON behind it":                        {startedLine + "\n\x00\xff\"event_msg\"\"task_\n[]\nnull\n", "task_started"},
		"words of tomorrow":                        {strings.ReplaceAll(startedLine, "task_started", "task_dreamt") + "\n", ""},
		"in another type":                          {strings.ReplaceAll(startedLine, "event_msg", "response_item") + "\n", ""},
		"beside another key":                       {`{"Type":"event_msg","type":"x","payload":{"type":"task_started"}}` + "\n", ""},
		"a long line behind it":                    {startedLine + "\n" + long + "\n", "task_started"},
		"a long line before it":                    {long + "\n" + startedLine + "\n", "task_started"},
		"a long line alone":                        {long, ""},
		"a long line that is not ended":            {startedLine + "\n" + long, "task_started"},
		"further back than is looked":              {startedLine + "\n" + far, ""},
		"a line of more than is looked":            {startedLine + "\n" + strings.Repeat("x", tailMost), ""},
		"the first line, where a block ends":       {startedLine + "\n" + strings.Repeat("x", blockLeast-1) + "\n", "task_started"},
		"an empty line":                            {startedLine + "\n\n\n", "task_started"},
		"carriage returns":                         {startedLine + "\r\n", "task_started"},
		"its other names":                          {strings.ReplaceAll(completeLine, "task_complete", "turn_complete") + "\n", "turn_complete"},
		"a time that is none":                      {strings.ReplaceAll(startedLine, "2026-11-30T", "") + "\n", "task_started"},
		"no type in the payload":                   {`{"type":"event_msg","payload":["task_started"]}` + "\n", ""},
		"a payload in which the word is elsewhere": {`{"type":"event_msg","payload":{"type":"x","word":"task_started"}}` + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := readAll(t, tc.data).turn.word; got != tc.want {
				t.Errorf("last turn %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTurnHasStatusAndTime(t *testing.T) {
	for line, want := range map[string]turn{
		startedLine:  {events.Busy, "task_started", 1796076880000},
		completeLine: {events.Idle, "task_complete", 1796076883753},
		abortedLine:  {events.Idle, "turn_aborted", 1796076884000},
	} {
		if got, ok := decodeTurn([]byte(line)); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	if got, ok := decodeTurn([]byte(strings.ReplaceAll(startedLine, "2026", "1970"))); !ok || got.at != 0 {
		t.Errorf("a clock that was never set: %+v", got)
	}
}

// rolloutTexts draws what may stand in a rollout.
var rolloutTexts = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		startedLine + "\n", completeLine + "\n", abortedLine + "\n", otherLine + "\n", "\n", "\x00{\n", startedLine, completeLine[:40],
		strings.Repeat("y", blockLeast), strings.Repeat("z", lineMost), strings.Repeat("x", blockLeast-len(startedLine)) + "\n",
	}), 0, 12).Draw(t, "parts")
	return strings.Join(parts, "")
})

// What was followed, cut where it may, is what somebody finds who reads from the end.
func TestFollowedTailIsAFreshOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rolloutTexts.Draw(t, "text")
		checkFollowed(t, []byte(text), rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 6).Draw(t, "cuts"))
	})
}

// fataler is what rapid and testing have in common.
type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func checkFollowed(t fataler, text []byte, cuts []int) {
	r := bytes.NewReader(text)
	first := int64(len(text))
	if len(cuts) > 0 {
		first = int64(min(cuts[0], len(text)))
	}
	got, err := readTail(r, first)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range append(cuts, len(text)) {
		if size := int64(min(cut, len(text))); size > got.next {
			if err := got.follow(r, size); err != nil {
				t.Fatal(err)
			}
		}
	}
	fresh, err := readTail(r, int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if fresh.turn != got.turn {
		t.Fatalf("followed %+v, fresh %+v", got, fresh)
	}
	if naive := lastOf(text); fresh.turn != naive {
		t.Fatalf("read %+v, and line by line %+v", fresh, naive)
	}
}

// lastOf is the last turn by reading all lines from the first on.
func lastOf(text []byte) (last turn) {
	for line := range bytes.Lines(text) {
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		if turn, ok := decodeTurn(line); ok && ended && len(line) <= lineMost {
			last = turn
		}
	}
	return last
}

// FuzzTail: the last turn is the same however it is looked for, and what is followed costs no more than what is new.
func FuzzTail(f *testing.F) {
	f.Add([]byte(startedLine+"\n"+completeLine+"\n"), 10)
	f.Add([]byte(startedLine+"\n"+otherLine+"\n"+completeLine[:50]), len(startedLine)+1)
	f.Add([]byte("\n\n\x00{\"event_msg\"\"task_\n"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if cut < 0 {
			cut = 0
		}
		checkFollowed(t, text, []int{cut})
	})
}

func TestFileThatIsCutWhileItIsRead(t *testing.T) {
	short := strings.NewReader(startedLine)
	if _, err := readTail(short, 10_000); err == nil {
		t.Error("read from the end without an error")
	}
	if err := new(tail).follow(short, 10_000); err == nil {
		t.Error("followed without an error")
	}
}

func TestFirstLine(t *testing.T) {
	const id, parent = "01a22e86-039d-7dd2-bfb6-8531ece18fc0", "01a22e85-76fa-7943-8656-97e165ecb0cd"
	wrap := func(payload string) string { return `{"type":"session_meta","payload":` + payload + `}` + "\n" }
	for name, tc := range map[string]struct {
		data string
		want meta
		err  error
	}{
		"all of it": {
			wrap(`{"id":"` + id + `","cwd":"/p","originator":"codex_exec","cli_version":"0.171.0","agent_nickname":"Lagrange","parent_thread_id":"` + parent + `"}`),
			meta{id, "/p", "codex_exec", "0.171.0", "Lagrange", parent},
			nil,
		},
		"a sub-agent of an older version": {
			wrap(`{"id":"` + id + `","source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + parent + `","agent_nickname":"Gauss"}}}}`),
			meta{id: id, nickname: "Gauss", parent: parent},
			nil,
		},
		"bad fields":            {wrap(`{"id":"` + id + `","cwd":7,"originator":null,"cli_version":["x"],"parent_thread_id":"../x"}`), meta{id: id}, nil},
		"broken UTF-8":          {wrap("{\"id\":\"" + id + "\",\"cwd\":\"/\xff\"}"), meta{id: id}, nil},
		"a text that is long":   {wrap(`{"id":"` + id + `","cli_version":"` + strings.Repeat("v", 300) + `"}`), meta{id: id, version: strings.Repeat("v", 256)}, nil},
		"another thread's":      {wrap(`{"id":"` + parent + `"}`), meta{}, errFirstOther},
		"no id":                 {wrap(`{"cwd":"/p"}`), meta{}, errFirst},
		"an id in capitals":     {wrap(`{"id":"` + strings.ToUpper(id) + `"}`), meta{}, errFirst},
		"empty":                 {"", meta{}, errFirst},
		"not ended":             {strings.TrimSuffix(wrap(`{"id":"`+id+`"}`), "\n"), meta{}, errFirst},
		"cut":                   {wrap(`{"id":"` + id + `"}`)[:40] + "\n", meta{}, errFirst},
		"another line":          {startedLine + "\n", meta{}, errFirst},
		"no JSON":               {"\x00\x01\n", meta{}, errFirst},
		"longer than is read":   {strings.Repeat(" ", maxFirst+1), meta{}, errFirstLong},
		"instructions of 100KB": {wrap(`{"id":"` + id + `","base_instructions":{"text":"` + strings.Repeat("i", 100<<10) + `"},"cwd":"/p"}`), meta{id: id, cwd: "/p"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readMeta(strings.NewReader(tc.data), id)
			if err != tc.err {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if err != nil {
				return
			}
			if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(meta{})); d != "" {
				t.Errorf("meta (-want +got):\n%s", d)
			}
		})
	}
}

// FuzzFirstLine: whatever comes in, what comes out keeps its limits, and is about a thread.
func FuzzFirstLine(f *testing.F) {
	f.Add([]byte(`{"type":"session_meta","payload":{"id":"01a22e86-039d-7dd2-bfb6-8531ece18fc0","cwd":"/p"}}`))
	f.Add([]byte(`{"type":"session_meta","payload":{"id":"x","source":{"subagent":{"thread_spawn":{}}}}}`))
	f.Add([]byte(startedLine))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeMeta(data)
		if err != nil {
			return
		}
		if !validID(m.id) || m.parent != "" && !validID(m.parent) {
			t.Errorf("ids %+v", m)
		}
		if len(m.cwd) > maxPath || len(m.originator) > maxWord || len(m.version) > maxWord || len(m.nickname) > maxWord {
			t.Errorf("longer than allowed: %+v", m)
		}
	})
}

func TestBorn(t *testing.T) {
	at, ok := born("01a22dd4-c448-7f63-8000-000000000000")
	if got := at.Format("15:04:05.000"); !ok || got != "19:00:48.328" {
		t.Errorf("%s, %t", got, ok)
	}
	for _, id := range []string{
		"25c49259-5cd0-4744-a158-5d764d50082a", // version 4
		"00000000-0000-7000-8000-000000000000", // 1970
		"ffffffff-ffff-7fff-8000-000000000000",
	} {
		if at, ok := born(id); ok {
			t.Errorf("%s was born %v", id, at)
		}
	}
}
