// Package reconcile turns what is seen into events: a [Snapshot] is what was there at one instant, [Diff] says which
// events lead from the log's [events.View] to it, and [Loop] reads, compares and publishes until it is told to stop.
//
// State is what was published, not what was seen. A place that could not be read keeps whoever the log says is there,
// and a peer goes only with evidence for its going.
//
// Diff and Keeping are pure. The package knows neither processes nor file systems nor NATS: a [Harness] reads, a
// [Log] stores, and both are handed in.
package reconcile
