package proc

import (
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// From sys/proc.h.
const (
	stateZombie = 5      // SZOMB: ended and not reaped
	flagExiting = 0x2000 // P_WEXIT: on its way out, from which no process returns; the kernel sets it before it tells of the end
)

// look asks sysctl, which answers for every process that can be seen, those of other users and those with
// entitlements too, where proc_pidinfo is refused.
func look(pid int) Sight {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return lookMissing(pid, err)
	}
	p := &info.Proc
	if p.P_stat == stateZombie || p.P_flag&flagExiting != 0 {
		return Sight{Verdict: Dead, Start: Unread}
	}
	sec, nsec := p.P_starttime.Unix()
	return Sight{Verdict: Alive, Start: strconv.FormatInt(sec, 10), Began: time.Unix(sec, nsec)}
}

// lookMissing looks at a pid for which sysctl has nothing. No such process is an empty answer, which SysctlKinfoProc
// makes EIO; only signal 0 tells it from a process that is hidden.
func lookMissing(pid int, missing error) Sight {
	s := Sight{Start: Unread, Err: fmt.Errorf("sysctl kern.proc.pid: %w", missing)}
	switch err := unix.Kill(pid, 0); {
	case err == unix.ESRCH:
		return Sight{Verdict: Dead, Start: Unread}
	case missing == unix.EIO && (err == nil || err == unix.EPERM):
		s.Verdict = Alive
	}
	return s
}
