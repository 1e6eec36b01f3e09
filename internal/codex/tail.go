package codex

import (
	"bytes"
	"io"
	"slices"
)

const (
	// tailMost is how far from the end of a rollout a turn's beginning or end is looked for. A turn of hours has some
	// megabytes; what lies further back is not worth the time of everybody who waits for this look.
	tailMost = 16 << 20
	// lineMost is how long a line may be that is looked at. The end of a turn repeats the agent's last words; an image
	// in a line, which can be longer, is neither.
	lineMost = 1 << 20
	// The blocks in which is read: the last turn is mostly near the end.
	blockLeast, blockMost = 64 << 10, 1 << 20
)

// tail is how far a rollout has been read, and the last turn in what was read.
type tail struct {
	turn turn
	next int64 // where the first line begins that was not there as a whole
	skip bool  // next is within a line that is too long
}

// readTail looks for the last turn in the first size bytes of r, from their end backwards.
func readTail(r io.ReaderAt, size int64) (tail, error) {
	var (
		t     tail
		found bool
		rest  []byte // of a line whose beginning was not read yet, which ends where the last newline was found
		lost  bool   // the rest was too long to be kept
		ended bool   // a newline was found
	)
	pos, block := size, int64(blockLeast)
	for pos > 0 && size-pos < tailMost && !found {
		n := min(block, pos, tailMost-(size-pos))
		pos -= n
		buf := make([]byte, n, n+int64(len(rest)))
		if err := readFull(r, buf, pos); err != nil {
			return tail{}, err
		}
		buf = append(buf, rest...)
		for i := bytes.LastIndexByte(buf, '\n'); i >= 0 && !found; i = bytes.LastIndexByte(buf, '\n') {
			if !ended {
				ended, t.next = true, pos+int64(i)+1
			} else if !lost {
				t.turn, found = decodeTurn(buf[i+1:])
			}
			lost, buf = false, buf[:i]
		}
		if rest = buf; len(rest) > lineMost {
			rest, lost = nil, true
		}
		block = min(block*4, blockMost)
	}
	switch {
	case found:
	case pos == 0 && ended && !lost:
		t.turn, _ = decodeTurn(rest)
	case pos > 0 && !ended:
		t.next, t.skip = size, true
	}
	return t, nil
}

// follow reads on to size, which must be at most tailMost behind where t was left.
func (t *tail) follow(r io.ReaderAt, size int64) error {
	var rest []byte
	for pos := t.next; pos < size; {
		buf := make([]byte, min(blockLeast, size-pos))
		if err := readFull(r, buf, pos); err != nil {
			return err
		}
		pos += int64(len(buf))
		buf = slices.Concat(rest, buf)
		for i := bytes.IndexByte(buf, '\n'); i >= 0; i = bytes.IndexByte(buf, '\n') {
			if turn, ok := decodeTurn(buf[:i]); ok && !t.skip {
				t.turn = turn
			}
			t.skip, buf = false, buf[i+1:]
		}
		if t.skip || len(buf) > lineMost {
			t.skip, buf = true, nil
		}
		rest, t.next = buf, pos-int64(len(buf))
	}
	return nil
}

// readFull fills buf from at; a file that ends before that was cut meanwhile.
func readFull(r io.ReaderAt, buf []byte, at int64) error {
	n, err := r.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
