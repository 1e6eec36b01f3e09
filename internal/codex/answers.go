package codex

import (
	"peerbus/internal/proc"
)

// answers are what was asked about processes in one reading: a daemon may hold hundreds of threads and is asked once.
type answers struct {
	sights   map[int]proc.Sight
	verdicts map[proc.Identity]proc.Verdict
	opened   map[int]opened
}

// opened is what a process has open, or why that cannot be looked at.
type opened struct {
	descriptors
	err error
}

func newAnswers() answers {
	return answers{map[int]proc.Sight{}, map[proc.Identity]proc.Verdict{}, map[int]opened{}}
}

func (a answers) look(pid int) proc.Sight {
	s, ok := a.sights[pid]
	if !ok {
		s = proc.Look(pid)
		a.sights[pid] = s
	}
	return s
}

func (a answers) check(id proc.Identity) proc.Verdict {
	v, ok := a.verdicts[id]
	if !ok {
		v = proc.Check(id).Verdict
		a.verdicts[id] = v
	}
	return v
}

func (a answers) inspect(pid int, files func() []lockFile) (descriptors, error) {
	o, ok := a.opened[pid]
	if !ok {
		o.descriptors, o.err = inspect(pid, files())
		a.opened[pid] = o
	}
	return o.descriptors, o.err
}
