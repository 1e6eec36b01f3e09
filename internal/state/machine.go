package state

import (
	"crypto/sha256"
	"encoding/hex"
)

// machineHash is the identity of this machine as it is kept in the folder, "" where the machine has none that can be
// read. The id itself is confidential (machine-id(5)), so a hash for this purpose alone stands for it.
func machineHash() string {
	id := machineID()
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("peerbus state folder\n" + id))
	return hex.EncodeToString(sum[:])
}
