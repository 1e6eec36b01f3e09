// Package occupancy answers whether somebody else holds a thread, so that a program which wants to write to it knows
// that it must not.
//
// "I found no owner" is not "there is no owner". A thread is attachable only where the question was a good one, a
// registry was read to its end, every record in it was understood, and none of them has a live owner but processes of
// our own. All else is not attachable, and the [Verdict] says why.
//
// [Judge] is a pure function of [Evidence]. A [Gatherer] gathers that, with a deadline, by functions that are handed to
// it: the package knows neither processes nor file systems nor any harness.
package occupancy
