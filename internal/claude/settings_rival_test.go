package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// scaled is n times PEERBUS_SCALE, which is a fifth where it is not set, and 1 at the least.
func scaled(t testing.TB, n int) int {
	t.Helper()
	scale := 0.2
	if text := os.Getenv("PEERBUS_SCALE"); text != "" {
		var err error
		if scale, err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("PEERBUS_SCALE: %v", err)
		}
	}
	return max(int(float64(n)*scale), 1)
}

// saved is what the rival keeps in the settings: the number of its edit, and a policy, which it has read at some time.
type saved struct {
	Edit   int    `json:"edit"`
	Policy string `json:"crossSessionInbound,omitzero"`
}

// rival writes the settings at random moments.
type rival struct {
	office
	save func(path string, data []byte) error

	mu   sync.Mutex // held while it writes
	last saved      // the last edit that is complete
}

func (r *rival) run(done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		case <-time.After(rand.N(2 * time.Millisecond)):
		}
		if err := r.edit(); err != nil {
			return err
		}
	}
}

// edit reads the settings, or has them still in memory, and writes them with its next edit.
func (r *rival) edit() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.last
	if rand.IntN(2) == 0 {
		data, err := os.ReadFile(r.path())
		if err == nil {
			err = json.Unmarshal(data, &next)
		}
		if err != nil {
			return err
		}
	}
	next.Edit = r.last.Edit + 1
	data, err := json.Marshal(next)
	if err == nil {
		err = r.save(r.path(), data)
	}
	r.last = next
	return err
}

// quiet fails the test unless, with nobody writing, the settings are whole and have the rival's last edit.
func (r *rival) quiet() {
	r.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var now saved
	if err := json.Unmarshal([]byte(r.text()), &now); err != nil {
		r.Fatalf("the settings are %q: %v", r.text(), err)
	}
	if now.Edit != r.last.Edit {
		r.Fatalf("the settings have edit %d, and the last one was %d", now.Edit, r.last.Edit)
	}
}

// TestPolicySetAgainstARival sets the policy 1,000 times while somebody else rewrites the file at random moments, in
// place as the client does and by renaming. No edit of theirs is lost, not even one that is reported, and a reader who
// looks all the time never meets anything but whole JSON, but for what the rival itself leaves half-written.
func TestPolicySetAgainstARival(t *testing.T) {
	for name, save := range map[string]func(path string, data []byte) error{
		"in place": func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) },
		"by renaming": func(path string, data []byte) error {
			temp := filepath.Join(filepath.Dir(path), "theirs")
			if err := os.WriteFile(temp, data, 0o600); err != nil {
				return err
			}
			return os.Rename(temp, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &rival{office: newOffice(t, `{"edit":0}`), save: save}
			done := make(chan struct{})
			ended := make(chan error, 2)
			var wg sync.WaitGroup
			wg.Go(func() { ended <- r.run(done) })
			reads := 0
			if name == "by renaming" {
				wg.Go(func() {
					n, err := readAllTheTime(r.path(), done)
					reads = n
					ended <- err
				})
			}
			set, reported, torn := 0, 0, 0
			for i := range scaled(t, 1000) {
				_, err := r.Set(t.Context(), Policies[i%len(Policies)], "")
				switch {
				case err == nil:
					set++
				case errors.Is(err, ErrRival):
					reported++
				case name == "in place" && errors.Is(err, errNoJSON): // at each of the four reads
					torn++
				default:
					t.Errorf("set: %v", err)
				}
				r.quiet()
			}
			close(done)
			wg.Wait()
			close(ended)
			for err := range ended {
				if err != nil {
					t.Error(err)
				}
			}
			r.quiet()
			_ = os.Remove(filepath.Join(r.home, "theirs")) // it is there if the rival was stopped at it
			r.tidy()
			t.Logf("set %d times, reported a rival %d times and half-written settings %d times, against %d edits; %d reads",
				set, reported, torn, r.last.Edit, reads)
			if set == 0 || reported == 0 || r.last.Edit == 0 {
				t.Error("they did not meet")
			}
		})
	}
}

// readAllTheTime reads the file until done, and fails when it is not whole.
func readAllTheTime(path string, done <-chan struct{}) (reads int, err error) {
	for ; ; reads++ {
		select {
		case <-done:
			return reads, nil
		default:
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return reads, err
		}
		if !json.Valid(data) {
			return reads, fmt.Errorf("read %q", data)
		}
	}
}
