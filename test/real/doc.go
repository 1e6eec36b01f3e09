// Package real drives the real Claude Code, offline, the way a person at a terminal does: it opens windows, types into
// them, answers what they ask, and ends them. The model is a stand-in, and each test has a home of its own.
//
// What a client did is read in two ways that share nothing with the program under test: the registry's records as
// they lie there, and what `claude agents --json` prints.
//
// Clients are not installed by tests. The environment variable PEERBUS_CLIENTS names a folder that has for each
// version an npm prefix of that name, made by
//
//	npm install --prefix $PEERBUS_CLIENTS/2.1.332 --no-save --no-package-lock @anthropic-ai/claude-code@2.1.332
//
// Without it the tests are skipped. They also need tmux.
package real
