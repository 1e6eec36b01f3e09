// Package bus holds what peerbus keeps and asks on a NATS connection: the four streams of a host, the log of events
// among them, the service named "watcher", and how a command finds and reads the bus.
//
// A stored message is read by [Direct] alone. A message that was republished, or a note, is a hint that something is
// there; the direct get by sequence is the truth.
package bus
