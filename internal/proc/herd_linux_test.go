package proc

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// 300 at once: each is told once, and nothing stays open.
func TestHerdIsToldOnceEach(t *testing.T) {
	const herd = 300
	before := openFiles(t)
	d := newDeaths(t)
	told := make(chan Identity, 2*herd)
	stop := start(t, d, func(id Identity) { told <- id })
	var all []*child
	left := map[Identity]bool{}
	for range herd {
		c := sleeper(t)
		if v := d.Watch(c.id); v != Alive {
			t.Fatalf("Watch(%v) = %v", c.id, v)
		}
		all, left[c.id] = append(all, c), true
	}
	if watched, polled := d.Counts(); watched != herd || polled != 0 {
		t.Errorf("%d are watched and %d polled, want %d and none", watched, polled, herd)
	}
	for _, c := range all {
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	for len(left) > 0 {
		id := next(t, told)
		if !left[id] {
			t.Fatalf("told of %v twice", id)
		}
		delete(left, id)
	}
	for _, c := range all {
		c.kill(t)
	}
	only(t, d, told)
	stop()
	if after := openFiles(t); after != before {
		t.Errorf("%d files were open before and %d after", before, after)
	}
}

// Forgetting closes pidfds whose events are on their way, and the next to be watched get their numbers. A notice
// must never fall on somebody else.
func TestForgettingWhileNoticesArrive(t *testing.T) {
	const workers, rounds = 4, 60
	d := newDeaths(t)
	var mu sync.Mutex
	told := map[Identity]int{}
	stop := start(t, d, func(id Identity) {
		mu.Lock()
		defer mu.Unlock()
		told[id]++
	})
	// The survivors come and go all the time, and take the numbers that are free.
	var survivors []Identity
	for range 20 {
		survivors = append(survivors, sleeper(t).id)
	}
	victims := make([][]*child, workers)
	for i := range workers * rounds {
		victims[i%workers] = append(victims[i%workers], sleeper(t))
	}
	most := map[Identity]int{} // the forgotten may be told, once
	must := map[Identity]bool{}
	var wg sync.WaitGroup
	for _, mine := range victims {
		wg.Go(func() {
			for _, c := range mine {
				forget := rand.N(2) == 0
				d.Watch(c.id)
				mu.Lock()
				most[c.id], must[c.id] = 1, !forget
				mu.Unlock()
				killAndForget(t, d, c, forget, survivors[rand.N(len(survivors))])
			}
		})
	}
	wg.Wait()
	eventually(t, "all who were not forgotten are told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for id, m := range must {
			if m && told[id] == 0 {
				return false
			}
		}
		return true
	})
	stop()
	for id, n := range told {
		if n > most[id] {
			t.Errorf("told of %v %d times, want %d at most", id, n, most[id])
		}
	}
}

// killAndForget kills c while it is forgotten, if it is to be, and while a survivor is forgotten and watched again.
func killAndForget(t *testing.T, d *Deaths, c *child, forget bool, survivor Identity) {
	var both sync.WaitGroup
	both.Go(func() { c.kill(t) })
	both.Go(func() {
		if forget {
			d.Forget(c.id)
		}
		d.Forget(survivor)
		if v := d.Watch(survivor); v != Alive {
			t.Errorf("watching a survivor: %v", v)
		}
	})
	both.Wait()
}
