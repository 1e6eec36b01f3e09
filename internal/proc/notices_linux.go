package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const pollSoon = 250 * time.Millisecond

// spare is how many descriptors are left to the rest of the program: without any, not even a file can be read.
const spare = 64

var errRoom = errors.New("half of the descriptors are in use for pidfds")

// pidfds tells of ends by pidfds in one epoll: a pidfd becomes readable when its process has ended.
type pidfds struct {
	kernel kernel
	epoll  int
	event  int            // an eventfd, which ends a wait; key 0
	fds    map[uint64]int // by key
	most   int            // so many pidfds are open at a time
}

func openNotices() (notices, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil, fmt.Errorf("read the limit of descriptors: %w", err)
	}
	p, err := openPidfds(system, mostPidfds(limit.Cur))
	if err != nil {
		return nil, err // a nil *pidfds would be a notices that is not nil
	}
	return p, nil
}

// mostPidfds is half of what the process may open, less where that would leave too little.
func mostPidfds(limit uint64) int {
	limit = min(limit, 1<<30) // unlimited is the highest number that there is
	return int(min(limit/2, limit-min(limit, spare)))
}

// openPidfds fails where pidfds are not to be had: ENOSYS before Linux 5.3, EPERM in some sandboxes.
func openPidfds(k kernel, most int) (*pidfds, error) {
	self, err := k.pidfdOpen(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	unix.Close(self)
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	p := &pidfds{kernel: k, epoll: epoll, event: event, fds: map[uint64]int{}, most: most}
	if err := p.register(event, 0, unix.EPOLLIN); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pidfds) mode() string { return "pidfd" }

// add pins the process, asks who it is, and asks whether it still lives, in this order: then what was read is its
// own. A death after that finds the pidfd in the epoll, or readable when it comes there.
func (p *pidfds) add(id Identity, key uint64) (Verdict, error) {
	if len(p.fds) >= p.most {
		return Unknown, errRoom
	}
	fd, err := p.kernel.pidfdOpen(id.PID)
	if noProcess(err) {
		return Dead, nil
	}
	if err != nil {
		return Unknown, fmt.Errorf("pidfd_open: %w", err)
	}
	s := judge(id, p.kernel.lookPinned(id.PID, fd))
	err = s.Err
	if s.Verdict == Alive {
		if err = p.register(fd, key, unix.EPOLLIN|unix.EPOLLONESHOT); err == nil {
			p.fds[key] = fd
			return Alive, nil
		}
	}
	unix.Close(fd)
	return s.Verdict, err
}

// register puts fd into the epoll; its events bear key.
func (p *pidfds) register(fd int, key uint64, events uint32) error {
	e := unix.EpollEvent{Events: events, Fd: int32(uint32(key)), Pad: int32(uint32(key >> 32))}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

func (p *pidfds) drop(key uint64) {
	fd, ok := p.fds[key]
	if !ok {
		return
	}
	delete(p.fds, key)
	// Closing alone leaves it in the epoll while a child that was forked just now still holds a copy. A failure is
	// harmless: the key fits nobody any more.
	_ = unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	unix.Close(fd)
}

func (p *pidfds) wait(timeout time.Duration) (ended, doubtful []uint64, err error) {
	ms := -1
	if timeout >= 0 {
		ms = int((timeout + time.Millisecond - 1) / time.Millisecond)
	}
	var batch [64]unix.EpollEvent
	n, err := unix.EpollWait(p.epoll, batch[:], ms)
	if err == unix.EINTR {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("epoll_wait: %w", err)
	}
	for _, e := range batch[:n] {
		key := uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32
		if key == 0 {
			var count [8]byte
			_, _ = unix.Read(p.event, count[:]) // it is readable, and if it is not, that is all there is to know
			continue
		}
		ended = append(ended, key)
	}
	return ended, nil, nil
}

func (p *pidfds) wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(p.event, one[:]) // full is as good as written
}

func (p *pidfds) close() {
	for key := range p.fds {
		p.drop(key)
	}
	unix.Close(p.event)
	unix.Close(p.epoll)
}
