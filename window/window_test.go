package window

import (
	"strings"
	"testing"
	"time"

	"epitome/internal/unit"

	"pgregory.net/rapid"
)

// want holds what a model at the upstream "up" is believed to hold.
func (w *Windows) want(t *testing.T, model string, tokens int, source Source) {
	t.Helper()
	if got := w.Of("up", model); got.Tokens != tokens || got.Source != source {
		t.Errorf("at %v, %.200q: got %v, want %d from %s", w.now(), model, got, tokens, source)
	}
}

func TestWindowsAreFound(t *testing.T) {
	w := New(Config{Default: 128_000}, nil, time.Now)
	// As requests spell them.
	w.want(t, "gpt-4o", 128_000, Table)
	w.want(t, "openai/gpt-4.1", 1_047_576, Table)
	w.want(t, "gpt-4.1-2025-04-14", 1_047_576, Table)
	w.want(t, "ft:gpt-4.1-2025-04-14:acme:name:abc", 1_047_576, Table)
	w.want(t, "models/gemini-2.5-pro", 1_048_576, Table)
	w.want(t, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, Table)
	w.want(t, "arn:aws:bedrock:us-east-1:123:inference-profile/us-gov.anthropic.claude-sonnet-4-20250514-v1:0",
		200_000, Table)
	w.want(t, "claude-sonnet-4-5", 200_000, Table)
	w.want(t, "claude-sonnet-4@20250514", 200_000, Table)
	w.want(t, "claude-sonnet-4-5-20250929"+Million, 1_000_000, Table)
	w.want(t, "claude-haiku-4-5"+Million, 200_000, Table)
	w.want(t, "accounts/fireworks/models/llama-v3p1-405b-instruct", 128_000, Table)

	// What a provider takes less than the window holds.
	w.want(t, "gpt-5", 272_000, Table)
	w.want(t, "moonshotai/kimi-k2", 131_072, Table)

	// Nothing is known.
	w.want(t, "", 128_000, Default)
	w.want(t, "my-own-model", 128_000, Default)
	w.want(t, strings.Repeat("gpt-4", 100), 128_000, Default)
}

func TestConfiguredPatternsGoFirst(t *testing.T) {
	w := New(Config{Default: 9_999, Models: map[string]unit.Tokens{
		"gpt-4o*":         100_000,
		"openai/*":        70_000,
		"gpt-5?":          2_000,
		"gpt-?1":          1_000,
		"claude-*":        1_000_000,
		"*-of-a-long-one": 3_000,
	}}, nil, time.Now)
	w.want(t, "gpt-4o", 100_000, Configured)
	w.want(t, "openai/gpt-4o", 70_000, Configured)
	w.want(t, "gpt-51", 1_000, Configured) // of two as long, the smaller
	w.want(t, "claude-sonnet-4-5", 1_000_000, Configured)
	w.want(t, "models/gemini-2.5-pro", 1_048_576, Table)
	w.want(t, "nobody", 9_999, Default)
	w.want(t, strings.Repeat("x", 10_000)+"-of-a-long-one", 3_000, Configured)
}

func TestUsableLeavesRoomForTheAnswer(t *testing.T) {
	f := func(window, maxOutput, want int) {
		t.Helper()
		if got := Usable(window, maxOutput); got != want {
			t.Errorf("Usable(%d, %d) is %d, want %d", window, maxOutput, got, want)
		}
	}
	f(200_000, 0, 191_808)
	f(200_000, 32_000, 168_000)
	f(200_000, 64_000, 136_000)
	f(24_000, 20_000, 12_000)
	f(8_192, 4_096, 4_096)
	rapid.Check(t, func(t *rapid.T) {
		window, maxOutput := rapid.IntRange(0, 10_000_000).Draw(t, "window"),
			rapid.IntRange(0, 1<<40).Draw(t, "maxOutput")
		usable := Usable(window, maxOutput)
		if usable > window || window-usable > window/2 || window-usable < min(maxOutput, window/2) ||
			window-usable < min(8192, window/8) {
			t.Fatalf("Usable(%d, %d) is %d", window, maxOutput, usable)
		}
	})
}
