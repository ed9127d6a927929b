package unit

import (
	"strings"
	"testing"
	"time"
)

func TestQuantitiesAreReadWithTheirUnits(t *testing.T) {
	var d Duration
	var b Bytes
	var n Tokens
	for text, want := range map[string]time.Duration{"500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute,
		"720h": 720 * time.Hour} {
		if err := d.UnmarshalText([]byte(text)); err != nil || d.D() != want {
			t.Errorf("%q is read as %s, %v; want %s", text, d, err, want)
		}
	}
	for text, want := range map[string]Bytes{"0B": 0, "32KB": 32 << 10, "64 MB": 64 << 20, "1GiB": 1 << 30,
		"4611686018427387904B": 1 << 62} {
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q is read as %s, %v; want %s", text, b, err, want)
		}
	}
	for text, want := range map[string]Tokens{"0": 0, "32_000": 32_000, "32k": 32_000, "128K": 128_000,
		"1M": 1_000_000} {
		if err := n.UnmarshalText([]byte(text)); err != nil || n != want {
			t.Errorf("%q is read as %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "5", "-5s", ".5s", "5 s", "30d", "9999999999h"} {
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %s", text, d)
		}
	}
	for _, text := range []string{"", "64", "1.5MB", "-1B", "64kb", "64K", "0x10B", "9223372036854775808B",
		"8589934592GB"} {
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %s", text, b)
		}
	}
	for _, text := range []string{"", "k", "-1", "1.5k", "32 k", "3000M", "99999999999999999999"} {
		if err := n.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %d", text, n)
		}
	}
}

func TestPatternsMatch(t *testing.T) {
	f := func(want bool, pattern string, names ...string) {
		t.Helper()
		for _, name := range names {
			if got := Match(pattern, name); got != want {
				t.Errorf("Match(%q, %q) is %v", pattern, name, got)
			}
		}
	}
	f(true, "claude-*", "claude-opus", "claude-")
	f(false, "claude-*", "gpt", "my-claude-opus")
	f(true, "gpt-?", "gpt-5")
	f(false, "gpt-?", "gpt-", "gpt-55")
	f(true, "*-mini*", "gpt-5-mini-2026")
	f(false, "a*b*c", "aXbYbZ")
	f(false, "*a", strings.Repeat("a", 10000)+"b")
}
