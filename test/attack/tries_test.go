package attack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// try is one thing that an attacker does.
type try struct {
	subject, reply, payload string
	header                  nats.Header
	// subscribe has it listen on subject instead, in a queue group where one is named.
	subscribe bool
	queue     string
	// right: the role may publish on subject, and that this arrives is no effect.
	right bool
}

func (t try) String() string {
	if t.subscribe {
		return fmt.Sprintf("SUB %s %s", t.subject, t.queue)
	}
	return fmt.Sprintf("PUB %s reply=%q header=%v %.60s", t.subject, t.reply, t.header, t.payload)
}

// targets are where an attacker wants something to arrive.
var targets = []string{
	"mail.v1.q.laptop.claude.sess.bob.forged",
	"mail.v1.c.laptop.bob.forged",
	"mail.v1.log.laptop.bob.forged",
	"ingest.mail.v1.log.laptop.bob.forged",
	"ingest.peers.v1.laptop.claude.sess.7-7.gone",
	"peers.v1.laptop.claude.sess.7-7.gone",
	"peers.v1.laptop.=.=.=.watch",
	"note.mail.v1.q.laptop.claude.sess.bob.forged",
	"note.mail.v1.c.laptop.bob.forged",
	"$JS.API.STREAM.PURGE.PEERS",
	"$JS.API.STREAM.DELETE.MAIL",
	"$JS.API.STREAM.MSG.DELETE.MAIL",
	"$JS.API.STREAM.CREATE.EVIL",
	"_INBOX.s-bob.forged",
	"_INBOX.mailer.forged",
	"_INBOX.observer.forged",
	"_INBOX.watcher.forged",
	"watcher.v1.laptop.mail.bob",
	"plain.forged",
}

// rights are what a role may publish: local subjects, with a payload that gets an answer. What is sent on a subject
// that ends with "#" has a number of its own there.
func rights(role, api string) map[string]string {
	r := map[string]string{
		api + "DIRECT.GET.PEERS":     `{"last_by_subj":"` + firstEvent + `"}`,
		"watcher.v1.laptop.occupied": "?",
		"watcher.v1.laptop.snapshot": "?",
		"watcher.v1.laptop.why":      "?",
		"watcher.v1.laptop.status":   "?",
	}
	switch role {
	case "s-alice":
		r["watcher.v1.laptop.mail.alice"] = "?"
		r["mail.v1.q.laptop.claude.sess.alice.#"] = "hello"
		r["mail.v1.c.laptop.alice.#"] = ""
		r[api+"DIRECT.GET.MAILLOG."+alicesLog] = ""
	case "mailer":
		r[api+"DIRECT.GET.MAIL"] = `{"seq":1}`
		r[api+"DIRECT.GET.MAILCTL"] = `{"seq":1}`
		r[api+"DIRECT.GET.MAILLOG"] = `{"last_by_subj":"` + bobsLog + `"}`
		r[api+"STREAM.MSG.DELETE.MAIL"] = `{"seq":4711,"no_erase":true}`
		r["ingest.mail.v1.log.laptop.bob.#"] = "{}"
	}
	return r
}

// everyRight is a try on each right for each target, changed by with.
func everyRight(role, api string, with func(t *try, target string)) []try {
	var tries []try
	for subject, payload := range rights(role, api) {
		for _, target := range targets {
			t := try{subject: strings.ReplaceAll(subject, "#", strconv.Itoa(len(tries))+"t"), payload: payload, right: true}
			with(&t, target)
			tries = append(tries, t)
		}
	}
	return tries
}

func foreignReplies(role, api string) []try {
	return everyRight(role, api, func(t *try, target string) { t.reply = target })
}

// traces names targets to which the server shall send how a message went its way.
func traces(role, api string) []try {
	tries := everyRight(role, api, func(t *try, target string) { t.header = nats.Header{"Nats-Trace-Dest": {target}} })
	return slices.DeleteFunc(tries, func(t try) bool { return mayPublish(role, t.header.Get("Nats-Trace-Dest")) })
}

// mayPublish tells of a target whether the role may publish there anyway.
func mayPublish(role, target string) bool {
	return role == "mailer" && strings.HasPrefix(target, "ingest.mail.v1.log.laptop.")
}

func plainPublishes(role, _ string) []try {
	subjects := append([]string{
		"peers.v1.laptop.claude.sess.7-7.appeared", "peers.v1.other.claude.sess.7-7.gone", "ingest.peers.v1.laptop.=.=.=.watch",
		"mail.v1.q.laptop.claude.sess.*.1", "mail.v1.q.laptop.claude.sess.>", "mail.v1.q.laptop.claude.sess.>.1",
		"mail.v1.q.laptop.claude.sess.bob", "mail.v1.q.laptop.claude.sess.bob.alice.1", "mail.v1.q.laptop.claude.bob.1",
		"mail.v1.q.laptop.*.*.bob.*", "mail.v1.q.>", "mail.v1.c.laptop.*.1", "mail.v1.c.laptop.>", "mail.v1.c.laptop.bob.1",
		"mail.v1.log.laptop.bob.1", "mail.v1.log.laptop.alice.1", "note.mail.v1.q.laptop.claude.sess.alice.1",
		"ingest.mail.v1.log.other.bob.1", "ingest.mail.v1.log.laptop.alice.forged", "_R_.forged", "_R_.a.b",
		"_INBOX.operator.forged", "_INBOX.forged", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.CORE.INFO", "$SYS.REQ.SERVER.reload",
		"$SYS.REQ.USER.INFO", "$SRV.PING", "$SRV.STATS.watcher", "watcher.v1.laptop.anything", "watcher.v1.laptop.mail.*",
		"watcher.v1.laptop.mail.>", "watcher.v1.*.mail.bob", "$JS.ACK.MAIL.x.1.1.1.1.0", "forged", ">", "*",
	}, targets...)
	var tries []try
	for _, subject := range subjects {
		if !mayPublish(role, subject) {
			tries = append(tries, try{subject: subject, reply: answersOf(role), payload: "forged"})
		}
	}
	return tries
}

// answersOf is where an attacker has answers sent that it should not get.
func answersOf(role string) string { return "_INBOX." + role + ".forbidden" }

func apiCalls(role, api string) []try {
	calls := map[string]string{
		"INFO": "", "STREAM.NAMES": "", "STREAM.LIST": "", "STREAM.INFO.PEERS": "", "STREAM.INFO.MAIL": "",
		"STREAM.CREATE.EVIL":  `{"name":"EVIL","subjects":["evil.>"],"retention":"limits","storage":"memory","num_replicas":1}`,
		"STREAM.UPDATE.PEERS": `{"name":"PEERS","subjects":["evil.>"],"retention":"limits","storage":"file","num_replicas":1}`,
		"STREAM.DELETE.PEERS": "", "STREAM.DELETE.MAILLOG": "", "STREAM.PURGE.MAIL": "", "STREAM.PURGE.MAILCTL": "",
		"STREAM.MSG.GET.MAIL": `{"seq":1}`, "STREAM.MSG.GET.MAILLOG": `{"seq":1}`,
		"STREAM.MSG.DELETE.PEERS": `{"seq":1}`, "STREAM.MSG.DELETE.MAILLOG": `{"seq":1}`, "STREAM.MSG.DELETE.MAIL": `{"seq":1}`,
		"STREAM.SNAPSHOT.PEERS":    `{"deliver_subject":"_INBOX.` + role + `.snapshot"}`,
		"STREAM.PEER.REMOVE.PEERS": `{"peer":"x"}`, "STREAM.LEADER.STEPDOWN.PEERS": "", "META.LEADER.STEPDOWN": "",
		"CONSUMER.NAMES.MAIL": "", "CONSUMER.LIST.MAIL": "",
		"CONSUMER.CREATE.MAIL.evil":   `{"stream_name":"MAIL","config":{"name":"evil","ack_policy":"none"}}`,
		"CONSUMER.MSG.NEXT.MAIL.evil": "", "ACCOUNT.PURGE.CORE": "",
	}
	var tries []try
	for _, prefix := range []string{"$JS.API.", "core."} {
		for call, payload := range calls {
			tries = append(tries, try{subject: prefix + call, reply: answersOf(role), payload: payload})
		}
	}
	if role == "mailer" {
		return slices.DeleteFunc(tries, func(t try) bool { return t.subject == api+"STREAM.MSG.DELETE.MAIL" }) // its right
	}
	return tries
}

func pushConsumers(role, _ string) []try {
	var tries []try
	for _, stream := range []string{"PEERS", "MAIL", "MAILCTL", "MAILLOG"} {
		for i, target := range targets {
			for _, prefix := range []string{"$JS.API.", "core."} {
				name := fmt.Sprintf("evil%d", i)
				tries = append(tries, try{
					subject: prefix + "CONSUMER.CREATE." + stream + "." + name, reply: answersOf(role),
					payload: fmt.Sprintf(`{"stream_name":%q,"config":{"name":%q,"deliver_subject":%q,"deliver_policy":"all","ack_policy":"none"}}`, stream, name, target),
				})
			}
		}
	}
	return tries
}

// reads listens and asks for what is another's. The mailer may read all mail.
func reads(role, _ string) []try {
	var tries []try
	for _, subject := range []string{
		">", "*", "*.>", "_INBOX.>", "_INBOX.*.>", "_INBOX.s-bob.>", "_INBOX.mailer.>", "_INBOX.observer.>", "_INBOX.watcher.>", "_INBOX.operator.>",
		"_R_.>", "mail.v1.>", "mail.v1.q.>", bobsMail, "mail.v1.c.>", "mail.v1.log.>", "mail.v1.log.*.*.*", "mail.v1.log.laptop.bob.*",
		"mail.v1.log.*.bob.*", "note.>", "note.mail.v1.q.>", "ingest.>", "ingest.peers.v1.>", "ingest.mail.v1.log.>", "watcher.v1.>", "watcher.v1.laptop.*",
		"watcher.v1.laptop.mail.*", "watcher.v1.laptop.mail.bob", "$SRV.>", "$JS.>", "$JS.API.>", "$JS.EVENT.>", "$SYS.>", "core.>", "plain.>",
	} {
		if strings.HasPrefix(subject, "_INBOX."+role+".") || role == "mailer" && strings.HasPrefix(subject, "note.") {
			continue // its own
		}
		for _, queue := range []string{"", "q", "watcher"} {
			tries = append(tries, try{subject: subject, subscribe: true, queue: queue})
		}
	}
	if role == "mailer" {
		return tries
	}
	inbox := "_INBOX." + role + ".read" // the words of bob are looked for in what comes here
	own := "MAILLOG.mail.v1.log.laptop." + strings.TrimPrefix(role, "s-") + ".1"
	for call, payload := range map[string]string{
		"DIRECT.GET.MAIL." + bobsMail: "", "DIRECT.GET.MAILLOG." + bobsLog: "", "DIRECT.GET.MAILLOG.mail.v1.log.laptop.*.1": "",
		"DIRECT.GET.MAILLOG.mail.v1.log.laptop.>": "", "DIRECT.GET.MAILLOG.mail.v1.log.>": "", "DIRECT.GET.MAILLOG.mail.v1.log.*.*.1": "",
		"DIRECT.GET.MAIL": `{"seq":1}`, "DIRECT.GET.MAILCTL": `{"seq":1}`, "DIRECT.GET.MAILLOG": `{"last_by_subj":"` + bobsLog + `"}`,
		"DIRECT.GET.PEERS":  `{"multi_last":["` + bobsLog + `"],"stream":"MAILLOG"}`,
		"DIRECT.GET." + own: `{"last_by_subj":"` + bobsLog + `"}`, "DIRECT.GET.*": `{"seq":1}`, "DIRECT.GET.>": "",
		"STREAM.MSG.GET.MAIL": `{"seq":1}`, "STREAM.MSG.GET.MAILLOG": `{"seq":1}`,
	} {
		for _, prefix := range []string{"$JS.API.", "core."} {
			tries = append(tries, try{subject: prefix + call, reply: inbox, payload: payload})
		}
	}
	for _, subject := range []string{"watcher.v1.laptop.mail.bob", "watcher.v1.*.mail.bob", "watcher.v1.laptop.mail.*", "watcher.v1.laptop.mail.>", "watcher.v1.laptop.mail"} {
		tries = append(tries, try{subject: subject, reply: inbox, payload: "?"})
	}
	return tries
}
