package unit

import (
	"strings"
	"testing"
)

func TestPatternsMatch(t *testing.T) {
	f := func(pattern, s string, want bool) {
		t.Helper()
		if got := Match(pattern, s); got != want {
			t.Errorf("Match(%q, %q) is %v", pattern, s, got)
		}
	}
	f("claude-*", "claude-opus", true)
	f("claude-*", "claude-", true)
	f("claude-*", "gpt", false)
	f("*", "", true)
	f("", "", true)
	f("", "a", false)
	f("gpt-?", "gpt-5", true)
	f("gpt-?", "gpt-", false)
	f("*-mini*", "gpt-5-mini-2026", true)
	f("a*b*c", "aXbYbZc", true)
	f("a*b*c", "aXbYbZ", false)
	f("*a", strings.Repeat("a", 10000)+"b", false)
}
