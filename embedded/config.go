package embedded

import (
	"fmt"
	"strings"
	"text/template"
)

// config is what the server's configuration text is made of. All of it is made of characters that need no quoting:
// a token, public keys, and checked names.
type config struct {
	Host    string            // the host's token
	Users   map[string]string // role to public key
	Senders []sender
}

type sender struct {
	Name, User string
}

// text is the configuration. Where the streams are stored, what is listened on and TLS are set in Go.
//
// Replies are not subject to permissions, so two roles that must not reach each other have an account each: the reply
// subject of a request that crosses accounts is rewritten and lands with the asker. No role but the watcher and the
// operator has the consumer API, for the server sends to a push consumer's deliver subject with rights of its own.
// The JetStream API is imported under the prefix "core", since an account without JetStream answers $JS.API itself.
// Exports must not overlap: an import is checked against any one export that matches.
var text = template.Must(template.New("config").Parse(`
{{- define "ask"}}"watcher.v1.*.occupied", "watcher.v1.*.snapshot", "watcher.v1.*.why", "watcher.v1.*.status"{{end}}
{{- define "peers"}}
      { stream:  { account: CORE, subject: "peers.v1.>" } }
      { service: { account: CORE, subject: "$JS.API.DIRECT.GET.PEERS" }, to: "core.DIRECT.GET.PEERS" }
      { service: { account: CORE, subject: "watcher.v1.*.occupied" } }
      { service: { account: CORE, subject: "watcher.v1.*.snapshot" } }
      { service: { account: CORE, subject: "watcher.v1.*.why" } }
      { service: { account: CORE, subject: "watcher.v1.*.status" } }
{{- end -}}
server_name: "{{.Host}}"
system_account: SYS
jetstream { max_mem: 64M, max_file: 2G, sync_interval: always }
accounts {
  SYS: { users: [ { nkey: {{.Users.sys}} } ] }
  CORE: {
    jetstream: { max_mem: 32M, max_file: 1G, max_streams: 8, max_consumers: 64 }
    users: [
      { nkey: {{.Users.watcher}}, allowed_connection_types: [IN_PROCESS] }
      { nkey: {{.Users.responder}}, allowed_connection_types: [IN_PROCESS], permissions: {
          publish:   { allow: ["_INBOX.>", "_R_.>"] }
          subscribe: { allow: ["watcher.v1.{{.Host}}.*", "watcher.v1.{{.Host}}.mail.*", "$SRV.>"] } } }
      { nkey: {{.Users.operator}} }
    ]
    exports: [
      { stream:  "peers.v1.>" }
      { stream:  "mail.v1.log.*.*.*" }
      { stream:  "note.mail.v1.>", accounts: [MAILER] }
      { service: "$JS.API.DIRECT.GET.PEERS", response: stream }
      { service: "watcher.v1.*.occupied" }
      { service: "watcher.v1.*.snapshot" }
      { service: "watcher.v1.*.why" }
      { service: "watcher.v1.*.status" }
      { service: "watcher.v1.*.mail.*" }
      { service: "mail.v1.q.*.*.*.*.*" }
      { service: "mail.v1.c.*.*.*" }
      { service: "$JS.API.DIRECT.GET.MAILLOG.mail.v1.log.*.*.*" }
      { service: "$JS.API.DIRECT.GET.MAIL", response: stream, accounts: [MAILER] }
      { service: "$JS.API.DIRECT.GET.MAILCTL", response: stream, accounts: [MAILER] }
      { service: "$JS.API.DIRECT.GET.MAILLOG", response: stream, accounts: [MAILER] }
      { service: "$JS.API.STREAM.MSG.DELETE.MAIL", accounts: [MAILER] }
      { service: "ingest.mail.v1.log.{{.Host}}.*.*", accounts: [MAILER] }
    ]
  }
  OBSERVER: {
    users: [ { nkey: {{.Users.observer}}, permissions: {
        publish:   { allow: ["core.DIRECT.GET.PEERS", {{template "ask"}}] }
        subscribe: { allow: ["_INBOX.observer.>", "peers.v1.>"] } } } ]
    imports: [ {{- template "peers"}}
    ]
  }
  MAILER: {
    users: [ { nkey: {{.Users.mailer}}, permissions: {
        publish:   { allow: ["core.DIRECT.GET.PEERS", "core.DIRECT.GET.MAIL", "core.DIRECT.GET.MAILCTL", "core.DIRECT.GET.MAILLOG", "core.STREAM.MSG.DELETE.MAIL", "ingest.mail.v1.log.{{.Host}}.*.*", {{template "ask"}}] }
        subscribe: { allow: ["_INBOX.mailer.>", "peers.v1.>", "note.mail.v1.>"] } } } ]
    imports: [ {{- template "peers"}}
      { stream:  { account: CORE, subject: "note.mail.v1.>" } }
      { service: { account: CORE, subject: "$JS.API.DIRECT.GET.MAIL" }, to: "core.DIRECT.GET.MAIL" }
      { service: { account: CORE, subject: "$JS.API.DIRECT.GET.MAILCTL" }, to: "core.DIRECT.GET.MAILCTL" }
      { service: { account: CORE, subject: "$JS.API.DIRECT.GET.MAILLOG" }, to: "core.DIRECT.GET.MAILLOG" }
      { service: { account: CORE, subject: "$JS.API.STREAM.MSG.DELETE.MAIL" }, to: "core.STREAM.MSG.DELETE.MAIL" }
      { service: { account: CORE, subject: "ingest.mail.v1.log.{{.Host}}.*.*" } }
    ]
  }
{{- range .Senders}}
  S_{{.Name}}: {
    users: [ { nkey: {{.User}}, permissions: {
        publish:   { allow: ["core.DIRECT.GET.PEERS", {{template "ask"}}, "watcher.v1.*.mail.{{.Name}}", "mail.v1.q.*.*.*.{{.Name}}.*", "mail.v1.c.*.{{.Name}}.*", "core.DIRECT.GET.MAILLOG.mail.v1.log.*.{{.Name}}.*"] }
        subscribe: { allow: ["_INBOX.s-{{.Name}}.>", "peers.v1.>", "mail.v1.log.*.{{.Name}}.*"] } } } ]
    imports: [ {{- template "peers"}}
      { stream:  { account: CORE, subject: "mail.v1.log.*.{{.Name}}.*" } }
      { service: { account: CORE, subject: "watcher.v1.*.mail.{{.Name}}" } }
      { service: { account: CORE, subject: "mail.v1.q.*.*.*.{{.Name}}.*" } }
      { service: { account: CORE, subject: "mail.v1.c.*.{{.Name}}.*" } }
      { service: { account: CORE, subject: "$JS.API.DIRECT.GET.MAILLOG.mail.v1.log.*.{{.Name}}.*" }, to: "core.DIRECT.GET.MAILLOG.mail.v1.log.*.{{.Name}}.*" }
    ]
  }
{{- end}}
}
`))

// render is the text that the server is configured by.
func (c config) render() (string, error) {
	var b strings.Builder
	if err := text.Execute(&b, c); err != nil {
		return "", fmt.Errorf("write the server's configuration: %w", err)
	}
	return b.String(), nil
}
