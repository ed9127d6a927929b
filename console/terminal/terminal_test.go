package terminal

import (
	"strings"
	"testing"

	"epitome/console/story"
)

func wantParts(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func TestHostileTextsDoNotReachTheTerminal(t *testing.T) {
	hostile := "\x1b]0;t\x07\u202e\x00\u009b31m\n" + strings.Repeat("m", 1<<20)
	s := story.Summary{Version: hostile, Mode: hostile, By: "model", Notes: []string{hostile}}
	s.Rows = []story.Row{{Key: hostile}}
	st := story.Status{ID: hostile, Model: hostile, Last: hostile}
	for _, text := range []string{Stats(s, 0), Stats(s, 80), Line(st), Status(st)} {
		text = strings.ReplaceAll(text, "\n", "")
		if strings.ContainsAny(text, "\x1b\x07\u202e\x00\u009b") || len(text) > 20_000 {
			t.Errorf("%d bytes: %.300q", len(text), text)
		}
	}
	if strings.Contains(Line(st), "\n") {
		t.Error("the line has more than one")
	}
}

func TestStatsSayWhatIsUnknown(t *testing.T) {
	sums := story.Sums{
		Exchanges: 1200, TokensBefore: 100_000, TokensAfter: 25_000,
		Usage: story.UsageSums{Told: 1, Input: 1000, Read: 970, Output: 50, CacheInput: 1000},
		Money: story.Money{Measured: 1, Billed: 12_400_000_000, Ruled: 1, Raw: 20_000_000_000, Saved: 5_100_000_000,
			Own: 310_000_000},
	}
	s := story.Summary{Version: "1.2", Mode: "on", By: "model", Total: sums,
		Rows: []story.Row{{Key: "gpt-5.2", Sums: sums}, {Key: ""}}}
	wantParts(t, Stats(s, 0), "MODEL ", "gpt-5.2     1,200       0        0  100k   25k  75 %    97 %      50  $12.40  $5.10",
		"(none) ", " –       –      –\n", "BILLED leaves out the $0.310 that summaries cost, and SAVED is less that.")
}

func TestStatusLineIsOneLine(t *testing.T) {
	f := func(s story.Status, want string) {
		t.Helper()
		if got := Line(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	saved, lost := 1.84, -0.0042
	f(story.Status{Tokens: 41_200, Window: 128_000, Share: .32, Cached: .97, Saved: &saved, Last: "clear 11 items"},
		"epitome 41k/128k 32 % · cache 97 % · saved $1.84 · clear 11 items")
	f(story.Status{Tokens: 900, Cached: -1}, "epitome 900 tokens")
	f(story.Status{Tokens: 900, Window: 1000, Share: .9, Cached: 0, Saved: &lost},
		"epitome 900/1k 90 % · cache 0 % · extra cost $0.0042")
}
