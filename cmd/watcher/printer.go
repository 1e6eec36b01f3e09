package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"time"
)

const (
	// unread is how many texts wait for whoever reads the output. Those that come when it is full are left out.
	unread = 4096

	// drain is how long the end waits for what is still to be printed.
	drain = 200 * time.Millisecond
)

// printer prints in a goroutine of its own: whoever does not read the output, or stops it by ^S, holds up nothing else.
// Its methods are called by one goroutine at a time.
type printer struct {
	env     env
	texts   chan []byte
	done    chan struct{}
	dropped int // since the last text that was taken
}

func newPrinter(e env) *printer {
	p := &printer{env: e, texts: make(chan []byte, unread), done: make(chan struct{})}
	go p.run()
	return p
}

func (p *printer) run() {
	defer close(p.done)
	failed := false
	for text := range p.texts {
		if _, err := p.env.out.Write(text); err != nil && !failed {
			failed = true // nobody reads any more, which is no reason to stop watching
			p.env.log.Info("nothing is printed any more", slog.Any("err", err))
		}
	}
}

// print has what say writes printed, unless too much is waiting; then it is left out, and that is said in its place.
func (p *printer) print(say func(env) error) {
	var text bytes.Buffer
	if p.dropped > 0 {
		fmt.Fprintf(&text, "%s\n", p.missing())
	}
	e := p.env
	e.out = e.out.To(&text)
	if err := say(e); err != nil {
		p.env.log.Warn("an event cannot be printed", "err", err)
		return
	}
	select {
	case p.texts <- text.Bytes():
		p.dropped = 0
	default:
		p.dropped++
	}
}

// missing says how much was left out.
func (p *printer) missing() string {
	if p.env.JSON {
		return fmt.Sprintf(`{"unprinted":%d}`, p.dropped)
	}
	return fmt.Sprintf("(%d lines were not read in time and are left out; watcher tail --since has them)", p.dropped)
}

// close waits a moment for what is still to be printed. A write that hangs ends with the process.
func (p *printer) close() {
	close(p.texts)
	select {
	case <-p.done:
	case <-time.After(drain):
	}
}
