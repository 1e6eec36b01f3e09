// Package readme runs what README.md tells its readers to run, and compares what it says with the code: its commands,
// its program, its events and its subjects.
//
// Lines that need the nats command are skipped unless the environment variable PEERBUS_NATS_CLI names the folder that
// it is in. It is not taken from the PATH, and sees a home and an environment made for it only.
package readme
