// Package events holds the words that peerbus puts on the wire: the events and the peers they are about, the
// subjects they are published on, their encoding, and the fold that turns a log of them back into what is there.
//
// Every event about a peer carries the whole peer as it is after the event, so a program that acts on one event
// needs no other. A program that wants to know what is there folds them into a [View], in the order of their
// stream sequence; package peerbus/events/follow does that over a connection.
//
// The set of events grows: [Decode] answers [ErrUnknownType] for a type it does not know, and a reader skips it.
//
// The package imports the standard library only.
package events
