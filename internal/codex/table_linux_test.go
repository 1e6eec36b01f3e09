package codex

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"peerbus/internal/proc"
)

// FuzzLocks: whatever stands in the table, a taker is of a row about that file, and its pid is one that can be.
func FuzzLocks(f *testing.F) {
	f.Add([]byte("3: FLOCK  ADVISORY  WRITE 8654 fe:00:9979749 0 EOF\n"), uint64(9979749))
	f.Add([]byte("3: -> FLOCK  ADVISORY  WRITE 8654 fe:00:9979749 0 EOF\n3: FLOCK ADVISORY READ -1 zz:00:1 0 EOF"), uint64(1))
	if table, err := os.ReadFile("/proc/locks"); err == nil {
		f.Add(table, uint64(7))
	}
	f.Fuzz(func(t *testing.T, table []byte, ino uint64) {
		file := lockFile{at: fileID{dev: unix.Mkdev(0xfe, 0), ino: ino}}
		h := join([]lockFile{file}, table, true).of[file.at]
		rows, loose := 0, 0
		for line := range bytes.Lines(table) {
			if row, ok := parseLock(line); ok && row.ino == ino {
				rows++
				if row.major != 0xfe || row.minor != 0 {
					loose++
				}
			}
		}
		want := rows - loose
		if want == 0 {
			want = loose
		}
		if len(h.takers) != want {
			t.Errorf("%d takers of %d rows, %d of them loose", len(h.takers), rows, loose)
		}
		for _, tk := range h.takers {
			if tk.pid != 0 && !proc.ValidPID(int64(tk.pid)) {
				t.Errorf("pid %d", tk.pid)
			}
		}
	})
}
