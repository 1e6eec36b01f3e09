// Package claude reads what Claude Code writes about its sessions: one small JSON file a process, in the folder
// sessions of a Claude home. [Decode] reads such a record, and [Harness] makes snapshots of all of them for package
// reconcile and watches for changes.
//
// The program rewrites its records in place, so a reader meets empty and cut-off files; it leaves them behind when it
// is killed; and it changes their form without notice. So nothing here is taken from the absence or the breakage of
// a record alone: a session is gone when its process is proven to be gone, or when the record itself says so.
//
// Beside the records lie files that end in .key and hold secrets. They are never opened.
package claude
