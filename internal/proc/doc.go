// Package proc answers three questions about processes: is this one alive, who is it, and tell me when it dies.
//
// A pid is not an identity: the kernel gives it to the next process when its bearer is gone. An [Identity] is the pid
// and the start of its bearer. [Look] asks who bears a pid, [Check] whether an identity is still there, [Compare]
// whether a start that somebody wrote down is the one that was seen, and [Deaths] tells when identities end.
//
// There are four verdicts and never two, since "could not ask" is neither alive nor dead. Nothing here sends a signal
// other than 0, and a pid outside the range of [ValidPID] reaches no system call: the kernel cuts pids to 32 bits and
// takes 0 and -1 for everybody.
package proc
