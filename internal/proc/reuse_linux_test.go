package proc

import (
	"os"
	"strconv"
	"testing"
)

const lastPID = "/proc/sys/kernel/ns_last_pid"

// withReuse runs scenario with a process and a function that ends it and starts another one under its pid, with a
// start that differs. Others on this machine get pids too: when one of them had that pid first, the function returns
// nil, the scenario false, and it is run anew.
func withReuse(t *testing.T, scenario func(old *child, replace func() *child) bool) {
	t.Helper()
	if f, err := os.OpenFile(lastPID, os.O_WRONLY, 0); err != nil {
		t.Skipf("the kernel lets only root choose a pid: %v", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		old := sleeper(t)
		if scenario(old, func() *child { return heir(t, old) }) {
			return
		}
	}
	t.Fatal("no pid was to be had twice")
}

func heir(t *testing.T, old *child) *child {
	t.Helper()
	eventually(t, "the clock of starts goes on", func() bool {
		c := sleeper(t)
		c.kill(t)
		return c.id.Start != old.id.Start
	})
	old.kill(t)
	for range 20 {
		if err := os.WriteFile(lastPID, []byte(strconv.Itoa(old.id.PID-1)), 0); err != nil {
			t.Fatal(err)
		}
		c := sleeper(t)
		if c.id.PID != old.id.PID {
			c.kill(t)
			continue
		}
		if c.id.Start == old.id.Start {
			t.Fatalf("%v has the start of its forerunner", c.id)
		}
		return c
	}
	return nil
}

func TestReusedPIDIsReplaced(t *testing.T) {
	withReuse(t, func(old *child, replace func() *child) bool {
		heir := replace()
		if heir == nil {
			return false
		}
		for name, k := range kernels() {
			s := judge(old.id, k.look(old.id.PID))
			if s.Verdict != Replaced || s.Start != heir.id.Start {
				t.Errorf("%s: saw %+v, want replaced by %v", name, s, heir.id)
			}
		}
		if m := Compare(old.id.Start, Look(old.id.PID)); m != Different {
			t.Errorf("what the old wrote is %v, want different", m)
		}
		if m := Compare(heir.id.Start, Look(old.id.PID)); m != Same {
			t.Errorf("what the heir wrote is %v, want the same", m)
		}
		return true
	})
}

// The pid passes to another process between any two steps of Watch. Who is watched is never the heir in the name of
// the old, whether or not its start is known.
func TestReuseBetweenTheStepsOfWatch(t *testing.T) {
	for point, want := range map[string]struct{ known, unread Verdict }{
		// Without a start nothing tells the heir from the old when it had the pid before anybody looked.
		"before open":           {Replaced, Alive},
		"between open and stat": {Dead, Dead},
		"between stat and poll": {Dead, Dead},
	} {
		for _, known := range []bool{true, false} {
			t.Run(point+"/"+map[bool]string{true: "start known", false: "start unread"}[known], func(t *testing.T) {
				withReuse(t, func(old *child, replace func() *child) bool {
					id, wanted := old.id, want.known
					if !known {
						id.Start, wanted = Unread, want.unread
					}
					var heir *child
					armed := false
					k := deadly(t, system, point, func() {
						if armed {
							armed = false
							heir = replace()
						}
					})
					d := newDeaths(t).with(k, plenty)
					start(t, d, func(Identity) {})
					d.Mode() // which opens a pidfd of its own
					armed = true
					v := d.Watch(id)
					if heir != nil && v != wanted {
						t.Errorf("Watch = %v, want %v", v, wanted)
					}
					return heir != nil
				})
			})
		}
	}
}

// After Watch the old is told, and the heir is not mistaken for it, by pidfd and by polling.
func TestReuseAfterWatch(t *testing.T) {
	for name, k := range kernels() {
		t.Run(name, func(t *testing.T) {
			withReuse(t, func(old *child, replace func() *child) bool {
				d := newDeaths(t).with(k, plenty)
				told := run(t, d)
				if v := d.Watch(old.id); v != Alive {
					t.Fatalf("Watch = %v", v)
				}
				heir := replace()
				if heir == nil {
					return false
				}
				if v := d.Watch(heir.id); v != Alive {
					t.Fatalf("watching the heir: %v", v)
				}
				only(t, d, told, old.id)
				heir.kill(t)
				only(t, d, told, heir.id)
				return true
			})
		})
	}
}
