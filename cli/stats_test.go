package cli

import (
	"strings"
	"testing"

	"epitome/console"
	"epitome/event/journal"
)

func TestHostileTextsDoNotReachTheTerminal(t *testing.T) {
	hostile := "\x1b]0;t\x07\u202e\x00\u009b31m\n" + strings.Repeat("m", 1<<20)
	s := journal.Report{Version: hostile, Mode: hostile, By: "model", Notes: []string{hostile}}
	s.Rows = []journal.Row{{Key: hostile}}
	st := journal.Status{ID: hostile, Model: hostile, Last: hostile}
	var table strings.Builder
	_ = writeStats(&table, s) // a builder takes everything
	for _, text := range []string{table.String(), statusText(st)} {
		text = strings.ReplaceAll(text, "\n", "")
		if strings.ContainsAny(text, "\x1b\x07\u202e\x00\u009b") || len(text) > 20_000 {
			t.Errorf("%d bytes: %.300q", len(text), text)
		}
	}
	if strings.Contains(statusText(st), "\n") {
		t.Error("the line has more than one")
	}
}

// A share has the colour of the number that is shown.
func TestColoursOfShares(t *testing.T) {
	const yellow, red = "\x1b[33m", "\x1b[31m"
	for share, want := range map[float64]string{.694: "", .6951: yellow, .6994: yellow, .894: yellow, .8996: red, 1.2: red} {
		if got := colourOf(share); got != want {
			t.Errorf("%s has %q, not %q", console.Percent(share), got, want)
		}
	}
}
