package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const couriersFolder = "couriers"

// maxCourier is the largest entry of the ledger that is read, in bytes. One names a handful of processes.
const maxCourier = 64 << 10

// Courier is a process that was started for a courier.
type Courier struct {
	PID int `json:"pid"`
	// Start is when it started, as the operating system counts; it is the process only if both are the same.
	Start string `json:"start"`
}

// Couriers are the processes in the spawn ledger, which has a file couriers/<id>.json for each courier, there before
// its process is:
//
//	{"boot":"<boot id>","pids":[{"pid":6540,"start":"31702"}]}
//
// Entries of other lives of the machine than boot are left out, and so is everything if boot is "": a pid and a start
// are one process within one life only. Entries that are being written or are of a form that is not known are left out
// and told in the error, which comes with the others.
func (d *Dir) Couriers(boot string) ([]Courier, error) {
	entries, err := os.ReadDir(d.file(couriersFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger of couriers: %w", err)
	}
	var all []Courier
	var failed []error
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || !e.Type().IsRegular() {
			continue
		}
		pids, err := readCourier(d.file(couriersFolder, e.Name()), boot)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("read the ledger of couriers: %s: %w", e.Name(), err))
		}
		all = append(all, pids...)
	}
	return all, errors.Join(failed...)
}

func readCourier(path, boot string) ([]Courier, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCourier))
	if err != nil {
		return nil, err
	}
	var entry struct {
		Boot string    `json:"boot"`
		PIDs []Courier `json:"pids"`
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		return nil, err
	}
	if boot == "" || entry.Boot != boot {
		return nil, nil
	}
	return entry.PIDs, nil
}
