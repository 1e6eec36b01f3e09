// Package standin answers in place of the model, so that a real client runs whole turns without an account and
// without a network. Each answer follows from words in what the user said last:
//
//	HOLD[name]    wait for [Model.Release] of that name before answering: the session stays busy
//	THEN[name]    the same, before what follows a tool's result
//	RUNBASH[cmd]  call Bash with cmd
//	BGSHELL[cmd]  call Bash with cmd, to run in the background
//	ASKMENU       ask by a menu with the choices One and Two
//
// A tool is called once; its result, and everything else, is answered by a word or two. A request that brings no
// tools is one that the client makes for itself, to name a session say, and is answered at once.
package standin
