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
	"session_id", "session-id", "thread-id", "originator", "x-session-id", "x-session-affinity", "x-grok-conv-id",
}

// says reports whether a header says for whom a request is. Any other one speaks of that request alone.
func says(name []byte) bool {
	for _, end := range [...]string{"authorization", "api-key"} { // with gateways' names in front of them, too
		if wire.EqualFold(name[max(0, len(name)-len(end)):], end) {
			return true
		}
	}
	return slices.ContainsFunc(names[:], func(s string) bool { return wire.EqualFold(name, s) })
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
