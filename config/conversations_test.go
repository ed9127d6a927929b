package config

import (
	"testing"
)

func TestPresetIsSetBeforeTheNumbersBesideIt(t *testing.T) {
	f := func(text string, protect, offload int, rent float64) {
		t.Helper()
		l := load(t, text).Rewrite
		if l.Protect != protect || l.Offload != offload || l.Rent != rent {
			t.Errorf("%q gives protect_tokens %d, offload_tokens %d, rent %v", text, l.Protect, l.Offload, l.Rent)
		}
	}
	f("", 5_000, 4_000, 5)
	f("rewrite.preset = \"faithful\"", 10_000, 8_000, 6)
	f("[rewrite]\npreset = \"economy\"\nrent = 4.0", 5_000, 4_000, 4)
	f("[rewrite]\nrent = 4.0\npreset = \"economy\"", 5_000, 4_000, 4)
	f("[rewrite]\nrent = 4.0", 5_000, 4_000, 4)
	f("[rewrite]\nrent = 0", 5_000, 4_000, 0)
}

// Models are named besides those of the defaults, or in their place.
func TestBoundThinkingOfAFileIsAddedToTheDefaults(t *testing.T) {
	c := load(t, "[rewrite.bound_thinking]\n\"my-*\" = true\n\"claude-opus-5-5\" = false")
	f := func(model string, want bool) {
		t.Helper()
		if c.Rewrite.BindsThinking(model) != want {
			t.Errorf("%s binds its thinking: %v", model, !want)
		}
	}
	f("my-model", true)
	f("claude-opus-5-5", false)
	f("claude-opus-5-5-20260901", true)
	f("us.anthropic.Claude-Sonnet-5-5-v1:0", true)
	f("anthropic/claude-haiku-5.5", true)
	f("claude-fable-5-1", true)
	f("claude-fable-5-2@20260901", true)
	f("claude-mythos-5-2", true)
	f("claude-mythos-5-1", false)
	f("claude-opus-5", false)
	f("claude-opus-4-5-20251101", false)
	f("claude-3-5-sonnet-20241022", false)
	f("gpt-5.5", false)
}

func TestWindowsAreReadAsPeopleWriteThem(t *testing.T) {
	f := func(text string, want int) {
		t.Helper()
		if got, err := ParseWindow(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	f("32k", 32_000)
	f("200000", 200_000)
	f("64_000", 64_000)
	f("1M", 1_000_000)
	f("128K", 128_000)
	for _, bad := range []string{
		"", "k", "0", "-32k", "1023", "32kk", "32 k", "1.5M", "1e6", "101M", "99999999999999999999", "many",
	} {
		if got, err := ParseWindow(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

// The price of a cached token is the model's own, unless the file gives one, be it the same.
func TestAPriceInTheFileHoldsForEveryModel(t *testing.T) {
	f := func(text string, want float64) {
		t.Helper()
		c := load(t, text)
		if got := c.Rewrite.AtPrice(0.05).CachedPrice; got != want {
			t.Errorf("%q: a cached token of Opus 5.5 costs %v, want %v", text, got, want)
		}
	}
	f("", 0.05)
	f("[rewrite]\nrent = 2\n", 0.05)
	f("[rewrite]\ncached_price = 0.1\n", 0.1)
	f("rewrite.Cached_Price = 0.3", 0.3)
}
