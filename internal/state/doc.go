// Package state keeps the state folder: who may use it (a lock, a version, the machine it belongs to), where the bus
// is (server.json), the keys of the roles, the certificate, and the homes that are watched.
//
// One watcher claims the folder and writes to it; commands open it and read. Folders are 0700 and files 0600. Every
// file is replaced whole: written beside, synced, renamed.
package state
