package proxy

import (
	"fmt"
	"io"
	"log/slog"
	"slices"

	"epitome/proxy/wire"
)

// Credential speaks for a client to the upstream of a request that it made: copies of the header lines that say who it
// is, and the target. It goes to the upstream that it was made for and to no other one. Nothing prints it. The zero
// value is none.
type Credential struct {
	open func() credential // a function, because printing field by field looks behind pointers
}

type credential struct {
	url    string // of the upstream as it was configured: the name may come to stand for another provider
	target string // as the upstream got it; its query may hold a key
	lines  []byte
}

// Format keeps a credential out of everything that prints, whatever the verb.
func (Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a client's credential") }

// LogValue does the same for logs.
func (Credential) LogValue() slog.Value { return slog.StringValue("a client's credential") }

// credentialOf makes a credential of a request's header lines. All of it is copied.
func credentialOf(up *upstream, target, head []byte) Credential {
	c := credential{url: up.config.URL, target: string(target)}
	hops := wire.HopsOf(head)
	for l := wire.LinesOf(head); l.Next(); {
		if saysWhose(l.Name) && !hops.Has(l.Name) {
			c.lines = l.AppendTo(c.lines)
		}
	}
	return Credential{func() credential { return c }}
}

// whoseHeaders say for whom a request is, beside those that end in authorization or api-key: who pays, which version of
// the API it speaks and, as a provider's cache may hang on it, in which session.
var whoseHeaders = []string{
	"ocp-apim-subscription-key", "helicone-auth", "openai-organization", "openai-project", "openai-beta", "chatgpt-account-id",
	"anthropic-version", "anthropic-beta", "x-goog-user-project", "http-referer", "x-title", "x-openrouter-title", "user-agent",
	"copilot-integration-id", "editor-version", "x-portkey-config", "x-portkey-provider", "x-portkey-virtual-key",
	"thread-id", "originator", "x-session-affinity",
}

// sessionHeaders are the headers by which clients name their session: Claude Code, Codex and pi, OpenCode, Grok.
var sessionHeaders = []string{"x-claude-code-session-id", "session_id", "session-id", "x-session-id", "x-grok-conv-id"}

// saysWhose reports whether a header says for whom a request is. Any other one speaks of that request alone.
func saysWhose(name []byte) bool {
	for _, end := range [...]string{"authorization", "api-key"} { // with gateways' names in front of them, too
		if wire.EqualFold(name[max(0, len(name)-len(end)):], end) {
			return true
		}
	}
	is := func(s string) bool { return wire.EqualFold(name, s) }
	return slices.ContainsFunc(whoseHeaders, is) || slices.ContainsFunc(sessionHeaders, is)
}

// sessionOf returns the client's name for its session, a part of head; nil if no header says it. Of two headers the
// first one counts. A subagent has a session of its own.
func sessionOf(head []byte) (id []byte) {
	for l := wire.LinesOf(head); l.Next(); {
		is := func(s string) bool { return wire.EqualFold(l.Name, s) }
		switch {
		case len(l.Value) == 0:
		case is("x-claude-code-agent-id"):
			return l.Value
		case id == nil && slices.ContainsFunc(sessionHeaders, is):
			id = l.Value
		}
	}
	return id
}
