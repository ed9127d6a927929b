package proxy

import (
	"bytes"
	"slices"
	"strings"

	"epitome/event"
	"epitome/proxy/wire"
)

// credential authorizes requests of epitome's own on behalf of a client: copies of the header lines that say who the
// client is, and the target of the client's request. It is sent to the upstream of that request and to no other one.
type credential struct {
	url    string // of the upstream as it was configured: the name may come to stand for another provider
	target string // as the upstream got it; its query may hold a key
	lines  []byte
}

// String keeps the header lines out of logs.
func (c *credential) String() string { return "credential" }

// credentialOf makes a credential of a request's header lines. All of it is copied.
func credentialOf(up *upstream, target, head []byte) *credential {
	c := &credential{url: up.config.URL, target: string(target)}
	connection := wire.Values(head, "connection")
	for l := wire.LinesOf(head); l.Next(); {
		if (tellsWho(l.Name) || namesSession(&l)) && !wire.IsHop(l.Name, connection) {
			c.lines = l.AppendTo(c.lines)
		}
	}
	return c
}

// tellsWho reports whether a header says for whom a request is: who pays, and which version of the API the client
// speaks. Any other header is about that request alone.
func tellsWho(name []byte) bool {
	is := func(text string) bool { return wire.EqualFold(name, text) }
	endsWith := func(text string) bool { return wire.EqualFold(name[max(0, len(name)-len(text)):], text) }
	return endsWith("authorization") || endsWith("api-key") || slices.ContainsFunc(whoHeaders, is)
}

var whoHeaders = strings.Fields(`ocp-apim-subscription-key helicone-auth openai-organization openai-project openai-beta
	chatgpt-account-id anthropic-version anthropic-beta x-goog-user-project http-referer x-title x-openrouter-title
	user-agent copilot-integration-id editor-version x-portkey-config x-portkey-provider x-portkey-virtual-key
	thread-id originator x-session-affinity`)

// namesSession reports whether a header names the client's session, on which a provider's cache may depend: those of
// Claude Code, Codex and pi, OpenCode, Grok.
func namesSession(l *wire.Lines) bool {
	return l.Is("x-claude-code-session-id") || l.Is("session_id") || l.Is("session-id") || l.Is("x-session-id") ||
		l.Is("x-grok-conv-id")
}

// sessionID returns the client's name for its session; empty if it has none. A subagent has a session of its own.
func sessionID(head []byte) (id []byte) {
	for l := wire.LinesOf(head); l.Next(); {
		if l.Is("x-claude-code-agent-id") && len(l.Value) > 0 {
			return l.Value
		}
		if len(id) == 0 && namesSession(&l) {
			id = l.Value
		}
	}
	return id
}

// agentName returns the name of the client in its User-Agent, without version and remarks; empty if it has none.
func agentName(head []byte) string {
	name, _, _ := bytes.Cut(wire.Values(head, "user-agent"), []byte("/"))
	name, _, _ = bytes.Cut(name, []byte(" "))
	return event.Clip(string(name))
}
