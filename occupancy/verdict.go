package occupancy

import "peerbus/events"

// Reason is why a thread is not attachable.
type Reason string

// The reasons. Readers take one that they do not know for one more way of not being attachable.
const (
	// LiveProcess is that a live process holds the thread. The word is older than owners that are no desktop's.
	LiveProcess Reason = "live_desktop_process"

	UnsupportedProvider Reason = "unsupported_provider" // no harness that is known here
	InvalidThreadID     Reason = "invalid_thread_id"    // no UUID in its canonical form
	AttachDisabled      Reason = "attach_disabled"      // the user wants no attaching; nothing was looked at
	DetectorUnavailable Reason = "detector_unavailable" // there is nothing to look at, or nobody who can

	RegistryUnreadable         Reason = "registry_unreadable"          // a folder or a record in it was not read
	UnverifiableProcessStart   Reason = "unverifiable_process_start"   // a live process may be the owner or another one
	UnverifiableLivenessSocket Reason = "unverifiable_liveness_socket" // the owner lives and its socket was not found
	ForeignPIDDomain           Reason = "foreign_pid_domain"           // the owner's pid means nothing here
	HolderUnknown              Reason = "holder_unknown"               // somebody holds it, or nobody
	ProbeFailed                Reason = "probe_failed"                 // it could not be asked, or not in time
)

// Verdict is the answer about one thread. It says what was so at Time, which is before the look began: whoever came
// later is not in it.
type Verdict struct {
	Attachable bool        `json:"attachable"`
	Reason     Reason      `json:"reason,omitzero"` // why not
	Host       string      `json:"host"`
	Time       events.Time `json:"time"`
	// Seq is the last event of the host's log when the question came.
	Seq uint64 `json:"seq"`
	// Owners are all that hold the thread, our own among them. Doubts are in the order in which they were met.
	Owners []Owner `json:"owners"`
	Doubts []Doubt `json:"doubts"`
}

// Owner is a live process that holds the thread.
type Owner struct {
	Harness string `json:"harness"`
	Thread  string `json:"thread"`
	PID     int    `json:"pid"`
	Start   string `json:"start"` // as in events.Peer
	Source  string `json:"source"`
	// SelfOwned is that the spawn ledger has this process, by its pid and its start. Such an owner is no obstacle.
	SelfOwned bool          `json:"self_owned"`
	Status    events.Status `json:"status,omitzero"`
}

// Doubt is one thing that could not be settled.
type Doubt struct {
	Reason Reason `json:"reason"`
	About  string `json:"about"` // what was looked at: a record, a folder, the question
	Why    string `json:"why"`
}
