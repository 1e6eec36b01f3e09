package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/internal/proc"
	"peerbus/occupancy"
)

// broken are the records that cannot be taken for what they are not, by what is wrong with them.
var broken = map[string]func(r *register){
	"corrupt":     func(r *register) { r.put("812.json", `{"pid":812,"sessionId":"`+threadB+`"]`) },
	"empty":       func(r *register) { r.put("812.json", "") },
	"cut off":     func(r *register) { r.put("812.json", `{"pid":812,"sessionI`) },
	"no object":   func(r *register) { r.put("812.json", `[812]`) },
	"without pid": func(r *register) { r.put("812.json", `{"sessionId":"`+threadB+`"}`) },
	"another pid": func(r *register) { r.put("812.json", `{"pid":813,"sessionId":"`+threadB+`"}`) },
	"a pid that cannot be": func(r *register) {
		r.put("812.json", `{"pid":4294967295,"sessionId":"`+threadB+`"}`)
	},
	"no session":   func(r *register) { r.put("812.json", `{"pid":812}`) },
	"two sessions": func(r *register) { r.put("812.json", `{"pid":812,"sessionId":"a","sessionId":"`+threadA+`"}`) },
	"two pid domains": func(r *register) {
		r.put("812.json", `{"pid":812,"sessionId":"`+threadB+`","pidDomain":"a","pidDomain":"b"}`)
	},
	"a job that is no text":      func(r *register) { r.put("812.json", `{"pid":812,"sessionId":"`+threadB+`","jobId":7}`) },
	"a file name that cannot be": func(r *register) { r.put("99999999.json", `{"pid":812,"sessionId":"`+threadB+`"}`) },
	"a file name with zeros":     func(r *register) { r.put("0812.json", `{"pid":812,"sessionId":"`+threadB+`"}`) },
	"a symbolic link":            func(r *register) { r.must(os.Symlink(r.socket, filepath.Join(r.folder(), "812.json"))) },
	"a folder":                   func(r *register) { r.must(os.Mkdir(filepath.Join(r.folder(), "812.json"), 0o700)) },
	"too large": func(r *register) {
		r.put("812.json", `{"pid":812,"sessionId":"`+threadB+`"}`+strings.Repeat(" ", maxFile))
	},
	"501 records": func(r *register) {
		for pid := 1_000_001; pid <= 1_000_501; pid++ {
			r.put(fileName(pid), `{"pid":`+strconv.Itoa(pid)+`,"sessionId":"`+threadB+`"}`)
		}
	},
}

func TestOwnersBesideWhatCannotBeRead(t *testing.T) {
	p := spawn(t)
	for name, spoil := range broken {
		t.Run(name, func(t *testing.T) {
			r := newRegister(t)
			spoil(r)
			if v := r.wants(occupancy.RegistryUnreadable); len(v.Doubts) != 1 || !strings.HasPrefix(v.Doubts[0].About, "sessions") || v.Doubts[0].Why == "" {
				t.Errorf("doubts %+v", v.Doubts)
			}
			r.write(r.record(p, threadA))
			if v := r.wants(occupancy.LiveProcess); len(v.Owners) != 1 || len(v.Doubts) != 1 {
				t.Errorf("beside a live owner: %+v", v)
			}
		})
	}
}

func TestOwnersFiveHundredRecordsAreNoDoubt(t *testing.T) {
	r := newRegister(t)
	for pid := 1_000_001; pid <= 1_000_500; pid++ {
		r.put(fileName(pid), `{"pid":`+strconv.Itoa(pid)+`,"sessionId":"`+threadB+`"}`)
	}
	r.wants("")
}

// TestOwnersBoundsItsDoubts has more doubts than fit into a message.
func TestOwnersBoundsItsDoubts(t *testing.T) {
	r := newRegister(t)
	for pid := 1_000_001; pid <= 1_000_700; pid++ {
		r.put(fileName(pid), `{"pid":1}`)
	}
	v := r.wants(occupancy.RegistryUnreadable)
	if n := len(v.Doubts); n != maxDoubts+1 || v.Doubts[n-1].Why != "and 201 more" {
		t.Errorf("%d doubts, the last %+v", n, v.Doubts[n-1])
	}
}

func TestOwnersDoubtsAreInRecordOrder(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	r.put("9000001.json", "{}")
	r.put("33.json", `{"pid":33,"sessionId":"`+threadA+`","pidDomain":"linux:f00:pid:[1]"}`)
	r.put("9.json", "")
	rec := r.record(p, threadA)
	rec.ProcStart = "garbled"
	r.write(rec)
	v := r.ask(threadA)
	var got []string
	for _, d := range v.Doubts {
		got = append(got, d.About+" "+string(d.Reason))
	}
	want := []string{
		"sessions/9000001.json registry_unreadable", "sessions/9.json registry_unreadable", "sessions/33.json foreign_pid_domain",
		"sessions/" + fileName(p.pid) + " unverifiable_process_start",
	}
	if runtime.GOOS != "linux" {
		want = append(want[:2], want[3:]...)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("doubts (-want +got):\n%s", d)
	}
	if v.Reason != occupancy.RegistryUnreadable {
		t.Errorf("reason %q", v.Reason)
	}
}

// TestOwnersReadsATornRecordAgain has a record whole a moment after it was met torn.
func TestOwnersReadsATornRecordAgain(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	o := owners{homes: []string{r.home}, domain: proc.Domain(), look: proc.Look}
	d, err := openFolder(r.folder())
	r.must(err)
	defer d.close()
	r.put(fileName(p.pid), `{"pid":`)
	e := entry{pid: p.pid}
	e.load(d, make([]byte, maxFile+1))
	if !e.torn() {
		t.Fatalf("not torn: %+v", e)
	}
	r.write(r.record(p, threadA))
	e.load(d, make([]byte, maxFile+1))
	if e.torn() || e.doubt != "" || e.rec.Session != threadA {
		t.Errorf("read again: %+v", e)
	}

	// And a whole look waits for it.
	r.put(fileName(p.pid), "")
	healed := make(chan error, 1)
	time.AfterFunc(5*time.Millisecond, func() { healed <- writeRecord(r.folder(), r.record(p, threadA)) })
	about, err := o.read(t.Context())
	r.must(err)
	r.must(<-healed)
	if f := about(t.Context(), threadA); len(f.Doubts) > 0 || len(f.Owners) != 1 {
		t.Errorf("found %+v", f)
	}
}

func TestOwnersFolders(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		r := newRegister(t)
		r.must(os.Remove(r.folder()))
		r.wants(occupancy.DetectorUnavailable)
	})
	t.Run("no home", func(t *testing.T) {
		r := newRegister(t)
		r.home = filepath.Join(r.home, "none")
		r.wants(occupancy.DetectorUnavailable)
	})
	t.Run("no folder", func(t *testing.T) {
		r := newRegister(t)
		r.must(os.Remove(r.folder()))
		r.must(os.WriteFile(r.folder(), nil, 0o600))
		r.wants(occupancy.RegistryUnreadable)
	})
	t.Run("one of several is away", func(t *testing.T) {
		r := newRegister(t)
		if v := r.ask(threadA, t.TempDir()); v.Reason != occupancy.DetectorUnavailable {
			t.Errorf("verdict %+v", v)
		}
		r.write(r.record(spawn(t), threadA))
		if v := r.ask(threadA, t.TempDir()); v.Reason != occupancy.LiveProcess {
			t.Errorf("beside a live owner: %+v", v)
		}
	})
	t.Run("the owner is in the last of several", func(t *testing.T) {
		r, other := newRegister(t), newRegister(t)
		other.write(other.record(spawn(t), threadA))
		if v := r.ask(threadA, newRegister(t).home, other.home); v.Reason != occupancy.LiveProcess || len(v.Owners) != 1 {
			t.Errorf("verdict %+v", v)
		}
		other.put("812.json", "")
		want := filepath.ToSlash(filepath.Join(other.home, "sessions", "812.json"))
		if v := r.ask(threadA, other.home); len(v.Doubts) != 1 || v.Doubts[0].About != want {
			t.Errorf("doubts %+v, want one about %s", v.Doubts, want)
		}
	})
	t.Run("the same one twice", func(t *testing.T) {
		r := newRegister(t)
		r.put("812.json", "")
		link := filepath.Join(t.TempDir(), "link")
		r.must(os.Symlink(r.home, link))
		if v := r.ask(threadA, link); len(v.Doubts) != 1 {
			t.Errorf("doubts %+v", v.Doubts)
		}
	})
}
