package state

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

// holdEnv has the test binary claim the folder that it names, say so, and hold it until its standard input ends.
const holdEnv = "PEERBUS_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		hold(path)
		return
	}
	goleak.VerifyTestMain(m)
}

func hold(path string) {
	d, err := Claim(path, Claiming{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	d.Close()
}

// holding starts a process that holds path, and returns when it does.
func holding(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe() // stays open: the child ends when it is closed
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait() // who killed it expects its error
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "held\n" {
		t.Fatalf("the holder said %q, %v: %s", line, err, stderr.Bytes())
	}
	return cmd
}
