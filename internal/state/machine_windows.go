package state

import "golang.org/x/sys/windows/registry"

// machineID is made when the system is installed.
func machineID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	id, _, err := key.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return id
}
