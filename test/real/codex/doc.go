// Package codex drives the real Codex, offline, the way its users do: by `codex exec` and in windows, of which one has
// the shared daemon behind it and another does all by itself. The model is a stand-in, and each test has a home of its
// own.
//
// What a client did is read in a way that shares nothing with the program under test: the folder of writer locks and
// /proc/locks, and the rollouts, whole.
//
// The client is not installed by tests. The environment variable PEERBUS_CLIENTS names a folder that has it as
//
//	npm install --prefix $PEERBUS_CLIENTS/codex-0.171.0 --no-save --no-package-lock @openai/codex@0.171.0
//
// makes it. Without it the tests are skipped. They also need tmux.
package codex
