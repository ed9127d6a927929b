package cli

import (
	"strings"
	"testing"

	"epitome/console/story"
)

func TestHostileTextsDoNotReachTheTerminal(t *testing.T) {
	hostile := "\x1b]0;t\x07\u202e\x00\u009b31m\n" + strings.Repeat("m", 1<<20)
	s := story.Summary{Version: hostile, Mode: hostile, By: "model", Notes: []string{hostile}}
	s.Rows = []story.Row{{Key: hostile}}
	st := story.Status{ID: hostile, Model: hostile, Last: hostile}
	for _, text := range []string{statsText(s), statusText(st)} {
		text = strings.ReplaceAll(text, "\n", "")
		if strings.ContainsAny(text, "\x1b\x07\u202e\x00\u009b") || len(text) > 20_000 {
			t.Errorf("%d bytes: %.300q", len(text), text)
		}
	}
	if strings.Contains(statusText(st), "\n") {
		t.Error("the line has more than one")
	}
}

func TestStatusLineIsOneLine(t *testing.T) {
	f := func(s story.Status, want string) {
		t.Helper()
		if got := statusText(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	saved, lost := 1.84, -0.0042
	f(story.Status{Tokens: 41_200, Window: 128_000, Share: .32, Cached: .97, Saved: &saved, Last: "clear 11 items"},
		"epitome 41.2k/128k 32 % · cache 97 % · saved $1.84 · clear 11 items")
	f(story.Status{Tokens: 900, Cached: -1}, "epitome 900 tokens")
	f(story.Status{Tokens: 900, Window: 1000, Share: .9, Cached: 0, Saved: &lost},
		"epitome 900/1k 90 % · cache 0 % · saved −$0.0042")
}
