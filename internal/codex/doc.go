// Package codex reads what Codex leaves on disk of its threads: the writer locks, which say that a thread is open in
// some process, and the rollouts, which say whose it is and whether a turn is under way. A thread that is held is a
// peer; one process may hold many.
//
// The folder of the locks is looked at and never touched: a lock that is taken, and on Linux even a file that is
// opened there, can make a session of the user's fail to start. Who holds a lock the kernel tells.
//
// Where Codex's own daemon runs, it is listened to as well. It tells what the files do not, that a thread waits for
// its user, and is no more than a hint: without it the files are what counts.
//
// The vendor changes all of this without notice. What is absent, garbled or in new words makes a fact unknown, and
// nobody gone.
package codex
