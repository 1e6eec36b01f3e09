package proc

import "testing"

func TestBootIDStaysTheSame(t *testing.T) {
	id := BootID()
	if len(id) != 36 || id != BootID() {
		t.Errorf("boot id %q, then %q", id, BootID())
	}
}
