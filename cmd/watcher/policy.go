package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"peerbus/internal/claude"
	"peerbus/internal/screen"
)

type policyCmd struct {
	Action     string `arg:"" optional:"" default:"get" enum:"get,set" help:"get or set."`
	Policy     string `arg:"" optional:"" help:"For set: accept, hold, refuse, or default, which removes the setting."`
	Revision   string `help:"For set: only if the settings are at this revision, as get prints it." placeholder:"R"`
	ClaudeHome string `help:"Claude home whose settings are meant. Default: $$CLAUDE_CONFIG_DIR, else ~/.claude." placeholder:"DIR"`
}

// run prints what the user's settings say of mail from other sessions, after changing it if asked. It asks no watcher.
func (c *policyCmd) run(ctx context.Context, e env) error {
	if err := c.check(); err != nil {
		return &exitError{exitUsage, err}
	}
	home, err := c.home()
	if err != nil {
		return fmt.Errorf("find the Claude home: %w", err)
	}
	settings := claude.NewSettings(home)
	var p claude.Policy
	if c.Action == "set" {
		p, err = settings.Set(ctx, c.Policy, c.Revision)
	} else {
		p, err = settings.Policy(ctx)
	}
	if err != nil {
		return err
	}
	return e.printPolicy(p)
}

func (c *policyCmd) check() error {
	switch {
	case c.Action != "set" && (c.Policy != "" || c.Revision != ""):
		return fmt.Errorf("policy %s takes nothing more", c.Action)
	case c.Action == "set" && !slices.Contains(claude.Policies, c.Policy):
		return fmt.Errorf("policy set needs one of %s", strings.Join(claude.Policies, ", "))
	}
	return nil
}

// home is the Claude home that the client itself would use.
func (c *policyCmd) home() (string, error) {
	if c.ClaudeHome != "" {
		return filepath.Abs(c.ClaudeHome)
	}
	if named := os.Getenv("CLAUDE_CONFIG_DIR"); named != "" {
		return filepath.Abs(named)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(user, ".claude"), nil
}

func (e env) printPolicy(p claude.Policy) error {
	if e.JSON {
		return e.printJSON(plain[claude.Policy]{p})
	}
	const indent = len("effective  ")
	_, err := fmt.Fprintf(e.out, "value      %s\nrevision   %s\npath       %s\neffective  %s\n", screen.Clean(p.Value), p.Revision,
		screen.Clean(p.Path), screen.Wrap(p.Effective, e.out.Width-indent, indent))
	return err
}
