//go:build !linux && !darwin && !windows

package state

func machineID() string { return "" }
