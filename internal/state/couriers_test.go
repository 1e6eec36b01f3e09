package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCouriers(t *testing.T) {
	d := mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{})
	if got, err := d.Couriers("boot-1"); got != nil || err != nil {
		t.Errorf("without a ledger: %v, %v", got, err)
	}
	if err := os.Mkdir(d.file(couriersFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.json":          `{"boot":"boot-1","pids":[{"pid":6540,"start":"31702"},{"pid":6541,"start":"31703"}],"since":1}`,
		"b.json":          `{"boot":"boot-1","pids":[{"pid":7000,"start":"5"}]}`,
		"before.json":     `{"boot":"boot-0","pids":[{"pid":6542,"start":"31702"}]}`,
		"no boot.json":    `{"pids":[{"pid":6543,"start":"31702"}]}`,
		"torn.json":       `{"boot":"boot-1","pids":[{"pid":6544,"sta`,
		"other.json":      `{"boot":"boot-1","pids":[{"pid":"6545","start":"1"}]}`,
		"large.json":      `{"boot":"boot-1","pids":[{"pid":6546,"start":"1"}]}` + strings.Repeat(" ", maxCourier),
		".new-1.json.tmp": `{"boot":"boot-1","pids":[{"pid":6547,"start":"1"}]}`,
	} {
		write(t, d.file(couriersFolder, name), text)
	}
	if err := os.Symlink("a.json", d.file(couriersFolder, "link.json")); err != nil {
		t.Fatal(err)
	}
	got, err := d.Couriers("boot-1")
	// The one that is too large is all there, and cut where only blanks are cut off.
	want := []Courier{{6540, "31702"}, {6541, "31703"}, {7000, "5"}, {6546, "1"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("couriers (-want +got):\n%s", d)
	}
	for _, name := range []string{"torn.json", "other.json"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name %s", err, name)
		}
	}
	for _, boot := range []string{"", "boot-2"} {
		if got, _ := d.Couriers(boot); got != nil {
			t.Errorf("in the life %q: %v", boot, got)
		}
	}
}
