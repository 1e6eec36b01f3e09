package attack

import (
	"slices"
	"strings"
	"testing"
)

// table is what each attacker tries, by kind.
var table = map[string]func(role, api string) []try{
	"foreign reply subjects":         foreignReplies,
	"plain publishes":                plainPublishes,
	"JetStream API calls":            apiCalls,
	"push consumers":                 pushConsumers,
	"trace destinations":             traces,
	"subscriptions and direct reads": reads,
}

var attackers = []string{"observer", "s-alice", "mailer"}

// The row "the attack table for observer, senders, mailer".
func TestAttackTable(t *testing.T) {
	for name, tries := range table {
		for _, role := range attackers {
			t.Run(name+"/"+role, func(t *testing.T) {
				w := shipped(t)
				list := tries(role, w.api)
				effects := w.attack(t, role, list)
				for _, effect := range effects {
					t.Error(effect)
				}
				t.Logf("%d tries, %d effects", len(list), len(effects))
			})
		}
	}
}

func TestTheTableSeesEffectsWhereThereAreSome(t *testing.T) {
	for name, tries := range table {
		for _, role := range attackers {
			t.Run(name+"/"+role, func(t *testing.T) {
				w := weak(t)
				list := slices.DeleteFunc(tries(role, w.api), endless)
				effects := w.attack(t, role, list)
				if len(effects) == 0 {
					t.Errorf("%d tries without accounts and permissions have no effect", len(list))
				}
				t.Logf("%d tries, %d effects", len(list), len(effects))
			})
		}
	}
}

// endless tells of a try whether it would have no end where it has an effect: a push consumer that delivers into the
// stream that it reads, and a backup that nobody takes.
func endless(t try) bool {
	_, target, push := strings.Cut(t.payload, `"deliver_subject":"`)
	return push && (strings.HasPrefix(target, "ingest.") || strings.HasPrefix(target, "mail.v1.")) || strings.Contains(t.subject, "STREAM.SNAPSHOT")
}
