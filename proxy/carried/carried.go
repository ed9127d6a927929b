// Package carried is which header lines of a request say for whom it is. A question of epitome's own takes those along.
//
// It promises that nothing else of a request is carried, and that what it returns is a copy.
package carried

import (
	"slices"

	"epitome/proxy/wire"
)

// names are those of the headers that say for whom a request is, besides those that says knows by their ends: who
// pays, who asks with what, which version of the API they speak, and, as a provider's cache may hang on it, in which
// session.
var names = [...]string{
	"ocp-apim-subscription-key", "helicone-auth", "openai-organization", "openai-project", "openai-beta", "chatgpt-account-id",
	"anthropic-version", "anthropic-beta", "x-goog-user-project", "http-referer", "x-title", "x-openrouter-title", "user-agent",
	"copilot-integration-id", "editor-version", "x-portkey-config", "x-portkey-provider", "x-portkey-virtual-key",
	"thread-id", "originator", "x-session-affinity",
}

// sessions are the names of the headers by which clients name their session: Claude Code, Codex and pi, OpenCode, Grok.
var sessions = [...]string{"x-claude-code-session-id", "session_id", "session-id", "x-session-id", "x-grok-conv-id"}

// says reports whether a header says for whom a request is. Any other one speaks of that request alone.
func says(name []byte) bool {
	for _, end := range [...]string{"authorization", "api-key"} { // with gateways' names in front of them, too
		if wire.EqualFold(name[max(0, len(name)-len(end)):], end) {
			return true
		}
	}
	is := func(s string) bool { return wire.EqualFold(name, s) }
	return slices.ContainsFunc(names[:], is) || slices.ContainsFunc(sessions[:], is)
}

// Session returns what the client calls its session, a part of the block; nil if no header says it. Of two headers the
// first one counts. A subagent has a session of its own.
func Session(block []byte) (id []byte) {
	for l := wire.LinesOf(block); l.Next(); {
		is := func(s string) bool { return wire.EqualFold(l.Name, s) }
		switch {
		case len(l.Value) == 0:
		case is("x-claude-code-agent-id"):
			return l.Value
		case id == nil && slices.ContainsFunc(sessions[:], is):
			id = l.Value
		}
	}
	return id
}

// Lines are the lines of a block of headers that say for whom its request is, copied. Those that speak of its
// connection alone are none.
func Lines(block []byte) (lines []byte) {
	hop := wire.HopsOf(block)
	for l := wire.LinesOf(block); l.Next(); {
		if says(l.Name) && !hop.Has(l.Name) {
			lines = l.AppendTo(lines)
		}
	}
	return lines
}
