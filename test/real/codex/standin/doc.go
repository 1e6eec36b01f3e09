// Package standin answers in place of the model, so that the real Codex runs whole turns without an account and without
// a network. Each answer follows from words in what the user said last:
//
//	HOLD[name]   wait for [Model.Release] of that name before answering: the thread stays busy
//	THEN[name]   the same, before what follows a tool's result
//	RUN[cmd]     run cmd in the shell, outside the sandbox, which the user has to approve
//	SPAWN[name]  start a sub-agent that is told HOLD[name]
//
// A tool is called once; its result, and everything else, is answered by a word. A request for an object, by which the
// client makes up a title, is answered at once.
package standin
