package daemon

import (
	"fmt"
	"strings"

	"epitome/proxy"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// Dialect is one that conversations are shaped in, with its names.
type Dialect struct {
	conversation.Dialect
	Name  string // as flags have it
	Title string // of the API
	wire  proxy.Dialect
	// claims reports whether a body has what only its requests have.
	claims func(body []byte) bool
}

// dialects are all that there are; the first one is that of a body which no other claims.
func dialects() []Dialect {
	return []Dialect{
		{chat.Dialect{}, "chat", "Chat Completions", chat.Wire{}, chat.Claims},
		{messages.Dialect{}, "messages", "Anthropic Messages", messages.Wire{}, messages.Claims},
		{responses.Dialect{}, "responses", "OpenAI Responses", responses.Wire{}, responses.Claims},
	}
}

// wires are the dialects as the proxy knows them.
func wires() (all []proxy.Dialect) {
	for _, d := range dialects() {
		all = append(all, d.wire)
	}
	return all
}

// DialectOf returns the dialect of a request whose path nobody knows: the one of that name, or without a name the only
// one that claims the body. sure is false if none does, or several do; then it is the first.
func DialectOf(name string, body []byte) (d Dialect, sure bool, err error) {
	all, claimed := dialects(), 0
	d = all[0]
	for _, x := range all {
		switch {
		case name == x.Name:
			return x, true, nil
		case name == "" && x.claims(body):
			if claimed++; claimed == 1 {
				d = x
			}
		}
	}
	if name != "" {
		return d, false, fmt.Errorf("cannot read dialect %.40q: write %s, %s or %s", name, all[0].Name, all[1].Name, all[2].Name)
	}
	if claimed > 1 {
		d = all[0]
	}
	return d, claimed == 1, nil
}

// titles are the names of all APIs, in a sentence.
func titles() string {
	var all []string
	for _, d := range dialects() {
		all = append(all, d.Title)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}
