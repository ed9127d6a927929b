package proxy

import (
	"slices"

	"epitome/proxy/wire"
)

// carriedHeaders are those of the headers that say for whom a request is, besides those that
// saysWhose knows by their ends: who
// pays, who asks with what, which version of the API they speak, and, as a provider's cache may hang on it, in which
// session.
var carriedHeaders = [...]string{
	"ocp-apim-subscription-key", "helicone-auth", "openai-organization", "openai-project", "openai-beta", "chatgpt-account-id",
	"anthropic-version", "anthropic-beta", "x-goog-user-project", "http-referer", "x-title", "x-openrouter-title", "user-agent",
	"copilot-integration-id", "editor-version", "x-portkey-config", "x-portkey-provider", "x-portkey-virtual-key",
	"thread-id", "originator", "x-session-affinity",
}

// sessionHeaders are the headers by which clients name their session: Claude Code, Codex and pi, OpenCode, Grok.
var sessionHeaders = [...]string{"x-claude-code-session-id", "session_id", "session-id", "x-session-id", "x-grok-conv-id"}

// saysWhose reports whether a header says for whom a request is. Any other one speaks of that request alone.
func saysWhose(name []byte) bool {
	for _, end := range [...]string{"authorization", "api-key"} { // with gateways' names in front of them, too
		if wire.EqualFold(name[max(0, len(name)-len(end)):], end) {
			return true
		}
	}
	is := func(s string) bool { return wire.EqualFold(name, s) }
	return slices.ContainsFunc(carriedHeaders[:], is) || slices.ContainsFunc(sessionHeaders[:], is)
}

// sessionOf returns what the client calls its session, a part of the block; nil if no header says it. Of two headers the
// first one counts. A subagent has a session of its own.
func sessionOf(block []byte) (id []byte) {
	for l := wire.LinesOf(block); l.Next(); {
		is := func(s string) bool { return wire.EqualFold(l.Name, s) }
		switch {
		case len(l.Value) == 0:
		case is("x-claude-code-agent-id"):
			return l.Value
		case id == nil && slices.ContainsFunc(sessionHeaders[:], is):
			id = l.Value
		}
	}
	return id
}

// carriedLines are the lines of a block of headers that say for whom its request is, copied. Those that speak of its
// connection alone are none.
func carriedLines(block []byte) (lines []byte) {
	hop := wire.HopsOf(block)
	for l := wire.LinesOf(block); l.Next(); {
		if saysWhose(l.Name) && !hop.Has(l.Name) {
			lines = l.AppendTo(lines)
		}
	}
	return lines
}
