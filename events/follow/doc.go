// Package follow is for programs that want to know which peers are there, and then of every change: [Follow] tells
// first what is there, then each event, in the order of the log and without a gap.
//
// A connection as any role will do; a program that watches and does nothing else connects as the observer. What is
// told is what is stored: an event that the log does not hold is never told, whoever may have put it on the wire.
package follow
