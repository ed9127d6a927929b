package cli

import (
	"strings"
	"testing"

	"epitome/event"
)

func TestHostileTextsDoNotReachTheTerminal(t *testing.T) {
	hostile := "\x1b]0;t\x07\u202e\x00\u009b31m\n" + strings.Repeat("m", 1<<20)
	s := event.Report{Version: hostile, Mode: hostile, By: "model", Notes: []string{hostile}}
	s.Rows = []event.Row{{Key: hostile}}
	st := event.Status{ID: hostile, Model: hostile, Last: hostile}
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
