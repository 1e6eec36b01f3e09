package claude

import "strings"

// A pidDomain is "linux:<machine id>:pid:[<inode of the pid namespace>]": where a record's pid means something. A home
// can be shared with a container or another machine, whose pids are other processes here, or none.

// foreign tells whether a record that names domain was written where pids mean something else than in own. A record
// that names none, as those before 2.1.250, is taken for ours. What is not known of own is not compared; for an own of
// which nothing is known, goos still tells a record of another system, if it is named as Node names systems.
func foreign(domain, own, goos string) bool {
	if domain == "" {
		return false
	}
	theirs, ours := splitDomain(domain), splitDomain(own)
	if ours[0] == "" && nodePlatform[theirs[0]] != "" {
		ours[0], theirs[0] = goos, nodePlatform[theirs[0]]
	}
	for i := range theirs {
		if theirs[i] != "" && ours[i] != "" && theirs[i] != ours[i] {
			return true
		}
	}
	return false
}

// nodePlatform is what Go calls the systems that Node, in which Claude Code is written, names so.
var nodePlatform = map[string]string{"linux": "linux", "darwin": "darwin", "win32": "windows"}

// splitDomain is the system, the machine and the namespace of a domain, each "" where it is not said.
func splitDomain(s string) (parts [3]string) {
	parts[0], s, _ = strings.Cut(s, ":")
	parts[1], parts[2], _ = strings.Cut(s, ":")
	return parts
}
