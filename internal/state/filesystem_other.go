//go:build !linux && !darwin && !windows

package state

func fsType(string) string { return "" }
