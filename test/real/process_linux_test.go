package real

import (
	"os"
	"os/exec"
	"testing"
)

func TestWhatRunsInAHomeIsFoundAndEnded(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"HOME=" + dir, waitForStdin + "=1"}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	found := running(dir)
	if len(found) != 1 || found[0].pid != cmd.Process.Pid {
		t.Fatalf("found %v, want process %d", found, cmd.Process.Pid)
	}
	other := found[0]
	other.start += "1"
	if err := other.kill(); err != nil {
		t.Error(err)
	}
	if again := running(dir); len(again) != 1 {
		t.Fatal("a process of another start was ended")
	}
	if err := found[0].kill(); err != nil {
		t.Error(err)
	}
	<-ended
	if left := running(dir); len(left) > 0 {
		t.Errorf("still found %v", left)
	}
	if err := found[0].kill(); err != nil {
		t.Errorf("end what has ended: %v", err)
	}
}
