package codex

import (
	"bytes"
	"errors"
	"io"
)

// maxFirst is how long the first line of a rollout may be. One of 0.171.0 has 18 KiB, nearly all of it instructions.
const maxFirst = 1 << 20

// What a rollout may have as its first line instead of what belongs there.
var (
	errFirst      = errors.New("has no first line that says whose it is")
	errFirstLong  = errors.New("has a first line of more than 1 MiB")
	errFirstOther = errors.New("says that it is another thread's")
)

// meta is what a rollout's first line says of its thread. A zero field is absent or was not valid.
type meta struct {
	id         string
	cwd        string
	originator string // "codex-tui", "codex_exec"
	version    string
	nickname   string // of a sub-agent
	parent     string // the thread that has started this one as its sub-agent
}

// decodeMeta reads a rollout's first line.
func decodeMeta(line []byte) (meta, error) {
	f, err := readFields(line)
	if err != nil || f.text("type", maxWord) != "session_meta" {
		return meta{}, errFirst
	}
	p := f.object("payload")
	m := meta{
		id: p.thread("id"), cwd: p.text("cwd", maxPath), originator: p.text("originator", maxWord),
		version: p.text("cli_version", maxWord), nickname: p.text("agent_nickname", maxWord), parent: p.thread("parent_thread_id"),
	}
	if m.id == "" {
		return meta{}, errFirst
	}
	// Before 0.171.0 it is only here that a sub-agent says whose it is.
	spawn := p.object("source").object("subagent").object("thread_spawn")
	if m.parent == "" {
		m.parent = spawn.thread("parent_thread_id")
	}
	if m.nickname == "" {
		m.nickname = spawn.text("agent_nickname", maxWord)
	}
	return m, nil
}

// readMeta reads the first line of the thread's rollout, and no more than that.
func readMeta(r io.ReaderAt, thread string) (meta, error) {
	var line []byte
	for size := 32 << 10; ; size *= 2 {
		buf := make([]byte, size)
		n, err := r.ReadAt(buf, 0)
		if err != nil && err != io.EOF {
			return meta{}, err
		}
		var whole bool
		line, _, whole = bytes.Cut(buf[:n], []byte("\n"))
		if whole {
			break
		}
		if n < size {
			return meta{}, errFirst // not written to its end yet
		}
		if size >= maxFirst {
			return meta{}, errFirstLong
		}
	}
	m, err := decodeMeta(line)
	if err == nil && m.id != thread {
		return meta{}, errFirstOther
	}
	return m, err
}
