//go:build !linux

package proc

// Domain is "": there are no pid namespaces here.
func Domain() string { return "" }
