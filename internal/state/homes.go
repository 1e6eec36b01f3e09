package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
)

const homesFile = "homes.json"

// Home is a harness's folder that is watched.
type Home struct {
	Harness string
	Path    string
}

// SetHomes keeps which homes are watched, for the mailer.
func (d *Dir) SetHomes(homes []Home) error {
	byHarness := map[string][]string{}
	for _, h := range homes {
		byHarness[h.Harness] = append(byHarness[h.Harness], h.Path)
	}
	data, err := json.Marshal(byHarness)
	if err != nil {
		return fmt.Errorf("write %s: %w", homesFile, err)
	}
	return replace(d.file(homesFile), append(data, '\n'))
}

// Homes are the homes that are watched, or were last; none where nobody ever watched. They are ordered by harness,
// those of one harness as they were set.
func (d *Dir) Homes() ([]Home, error) {
	data, err := os.ReadFile(d.file(homesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the watched homes: %w", err)
	}
	var byHarness map[string][]string
	if err := json.Unmarshal(data, &byHarness); err != nil {
		return nil, fmt.Errorf("read the watched homes from %s: %w", d.file(homesFile), err)
	}
	var homes []Home
	for _, harness := range slices.Sorted(maps.Keys(byHarness)) {
		for _, path := range byHarness[harness] {
			homes = append(homes, Home{Harness: harness, Path: path})
		}
	}
	return homes, nil
}
