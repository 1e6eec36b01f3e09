//go:build !linux && !darwin

package proc

// BootID is "": it cannot be told here.
func BootID() string { return "" }
