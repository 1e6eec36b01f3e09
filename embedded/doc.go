// Package embedded runs a NATS server in this process: from a claimed state folder, on loopback, with TLS, and with one
// account for every key, so that what one role sends can neither be aimed at another's subjects nor be answered
// there. The watcher's own connections are made inside the process.
package embedded
