package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// claudeHomes are the Claude homes to watch: those asked for, else $CLAUDE_CONFIG_DIR and ~/.claude, those that exist,
// else ~/.claude, which will be there once Claude Code has run.
func claudeHomes(asked []string) ([]string, error) {
	return homesOf(asked, "CLAUDE_CONFIG_DIR", ".claude")
}

// codexHomes are the Codex homes to watch, likewise: $CODEX_HOME and ~/.codex. Who has the one set here may run Codex
// without it elsewhere.
func codexHomes(asked []string) ([]string, error) { return homesOf(asked, "CODEX_HOME", ".codex") }

func homesOf(asked []string, variable, name string) ([]string, error) {
	if len(asked) > 0 {
		return absolute(asked)
	}
	var candidates, found []string
	if named := os.Getenv(variable); named != "" {
		candidates = append(candidates, named)
	}
	user, err := os.UserHomeDir()
	if err == nil {
		candidates = append(candidates, filepath.Join(user, name))
	} else if len(candidates) == 0 {
		return nil, err
	}
	for _, h := range candidates {
		if _, err := os.Stat(h); err == nil {
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		found = candidates[len(candidates)-1:]
	}
	return absolute(found)
}

// absolute is the paths from the root, each folder once.
func absolute(paths []string) ([]string, error) {
	var out []string
	var taken []os.FileInfo
	for _, p := range paths {
		if p == "" {
			return nil, errors.New("a home without a name")
		}
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(abs)
		if err == nil && slices.ContainsFunc(taken, func(t os.FileInfo) bool { return os.SameFile(t, info) }) {
			continue
		}
		if err == nil {
			taken = append(taken, info)
		}
		out = append(out, abs)
	}
	return out, nil
}
