package main

import "runtime/debug"

// serviceVersion is that of the questions and answers on the bus, as semantic versioning has it.
const serviceVersion = "1.0.0"

// version is the version of this program, as the Go toolchain has stamped it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
