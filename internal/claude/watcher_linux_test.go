package claude

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"peerbus/events"
	"peerbus/reconcile"
)

// TestOverflowOfTheQueue rewrites records more often than the kernel's queue has places, while the consumer stands
// still.
func TestOverflowOfTheQueue(t *testing.T) {
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	queue, err := strconv.Atoi(strings.TrimSpace(string(limit)))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	var ps []process
	var files []*os.File
	for range 4 {
		p := spawn(t)
		w.write(p.idle("s"))
		f, err := os.OpenFile(w.file(p.pid), os.O_WRONLY, 0)
		w.must(err)
		defer f.Close()
		ps, files = append(ps, p), append(files, f)
	}
	var ws wakes
	var still sync.Mutex
	w.watch(func(pl reconcile.Place) {
		still.Lock()
		defer still.Unlock()
		ws.add(pl)
	})
	seen := w.read().At
	ws.forget()
	still.Lock()
	for i := range max(40_000, queue*3/2) { // in turn, since the kernel joins two equal notices in a row
		_, err := files[i%4].WriteAt([]byte("{"), 0)
		w.must(err)
	}
	w.write(ps[3].idle("last"))
	still.Unlock()
	eventually(t, "woken for the home", func() bool { return ws.have(w.home()) })
	back := w.read(w.at(ps[0].pid))
	if len(back.Blind) > 0 {
		t.Error("told of blindness by a look at one record, though the others are not read yet")
	}
	back = w.read()
	if len(w.blind) == 0 || w.blind[0] != (reconcile.Blind{From: seen, To: back.At, Why: events.Overflow}) {
		t.Errorf("blind %v, want from %v to %v", w.blind, seen, back.At)
	}
	w.says("claude watch", "notices were lost")
	fresh := New([]string{w.dir}, Options{}).Read(t.Context(), nil, nil)
	if d := cmp.Diff(fresh.Peers, back.Peers); d != "" {
		t.Errorf("a fresh reader sees otherwise (-fresh +this):\n%s", d)
	}
}

// opens tells which names in dir are opened, until the test ends it.
func opens(t *testing.T, dir string) (end func() []string) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
		t.Fatal(err)
	}
	return func() []string {
		var names []string
		buf := make([]byte, 64<<10)
		for {
			n, err := unix.Read(fd, buf)
			if err == unix.EAGAIN {
				return names
			} else if err != nil {
				t.Fatal(err)
			}
			for at := 0; at < n; {
				ev := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
				at += unix.SizeofInotifyEvent
				names = append(names, strings.TrimRight(string(buf[at:at+int(ev.Len)]), "\x00"))
				at += int(ev.Len)
			}
		}
	}
}

func TestAKeyIsNeverOpened(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	key := strconv.Itoa(p.pid) + "." + strings.Repeat("0123456789abcdef", 4) + ".key"
	secrets := []string{key, key + ".tmp.0a1b", strconv.Itoa(p.pid) + ".key", strconv.Itoa(p.pid) + ".json.key"}
	var ws wakes
	w.watch(ws.add)
	for _, name := range secrets {
		w.must(os.WriteFile(filepath.Join(w.folder(), name), []byte("secret"), 0o600))
	}
	w.write(p.idle("s"))
	end := opens(t, w.folder())
	w.read()
	w.write(p.idle("t"))
	w.read(w.at(p.pid))
	w.h.Explain(t.Context(), w.only())
	report := w.facts()
	names := end()
	if strings.Contains(strings.Join(names, "\n"), ".key") {
		t.Errorf("opened: %q", names)
	}
	if !strings.Contains(strings.Join(names, "\n"), fileName(p.pid)) {
		t.Errorf("the record itself was not seen to be opened: %q", names)
	}
	if strings.Contains(report, "secret") || strings.Contains(report, ".key") {
		t.Errorf("the report tells of keys:\n%s", report)
	}
}
