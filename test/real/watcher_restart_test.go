package real

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWatcherKilledInBetween(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		stays := w.open(c, "stays", Opening{})
		w.tells("stays appeared: idle")
		works := w.open(c, "works", Opening{})
		w.tells("works appeared: idle")
		dies := w.open(c, "dies", Opening{})
		w.tells("dies appeared: idle")
		w.agrees(c, 3)

		w.kill()
		dies.Kill()
		works.Type("HOLD[turn]")
		works.Until("it is busy", Status("busy", ""))
		w.open(c, "comes", Opening{})
		w.start()
		w.agrees(c, 3)
		w.goesOn(afterTheBreak)

		h.Model.Release("turn")
		w.tells("works: idle")
		stays.Quit()
		w.tells("stays gone: exited")
		w.agrees(c, 2)
	})
}

func afterTheBreak(got []string) error {
	want := []string{"comes appeared: idle", "dies gone: died, missed", "works: busy"}
	if len(got) == 0 || got[0] != "watch resumed: start" {
		return fmt.Errorf("the story: %q, want first that the watch is resumed", got)
	}
	if d := cmp.Diff(want, slices.Sorted(slices.Values(got[1:]))); d != "" {
		return fmt.Errorf("the rest of the story, sorted (-want +got):\n%s", d)
	}
	return nil
}
