// Watcher sees the coding-agent sessions of this machine, puts what happens to them on a bus, and answers questions
// about them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"

	"github.com/alecthomas/kong"

	"peerbus/internal/screen"
)

// The exit codes.
const (
	exitYes         = 0
	exitNo          = 1
	exitUsage       = 2
	exitNoAnswer    = 3
	exitInterrupted = 130
)

// exitError is an error that says with which code the command ends. An empty text is not printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second ^C ends at once whatever does not listen to the first
	os.Exit(report(runMain(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr))
}

// report prints what went wrong, in one line, and returns the exit code.
func report(err error, stderr io.Writer) int {
	if err == nil {
		return exitYes
	}
	code := exitNo
	if exit, ok := errors.AsType[*exitError](err); ok {
		code = exit.code
	} else if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "watcher: "+screen.Clean(strings.ReplaceAll(text, "\n", "; ")))
	}
	return code
}

// runMain is the program but for the process around it. A nil error is exit code 0.
func runMain(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c cli
	ended := errors.New("the parser has answered")
	parser, err := kong.New(&c,
		kong.Name("watcher"),
		kong.Description("See the coding-agent sessions of this machine, and what happens to them."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { panic(ended) }),
		kong.Vars{"types": strings.Join(eventTypes, ",")},
	)
	if err != nil {
		return fmt.Errorf("build the command line: %w", err)
	}
	parsed, err := parse(parser, args, ended)
	if errors.Is(err, ended) {
		return nil
	}
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("%w; see watcher --help", err)}
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return &exitError{exitUsage, err}
	}
	env := env{
		Globals: c.Globals,
		out:     screen.New(stdout),
		log:     slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})),
	}
	if c.NATS == "" && (c.Creds != "" || c.NKey != "" || c.TLSCA != "") {
		return &exitError{exitUsage, errors.New("--creds, --nkey and --tlsca are for a bus of one's own; name it by --nats")}
	}
	return c.dispatch(ctx, env, parsed.Selected().Name)
}

// parse turns kong's wish to exit, after printing help, into an error.
func parse(parser *kong.Kong, args []string, ended error) (parsed *kong.Context, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != ended {
				panic(r)
			}
			err = ended
		}
	}()
	return parser.Parse(args)
}
