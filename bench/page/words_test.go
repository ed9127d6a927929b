package page

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"epitome/bench/replay/figures"
)

func TestPageSaysWhatItComesToAndHowItWasMade(t *testing.T) {
	r := fullReport()
	r.Rows[0].Died = 2
	r.Conversations = 3
	said := elements(t, pageOf(t, r), func(html.Token) {})
	for _, want := range []string{
		"In a window of 1k tokens, it cost 50\u00a0% of sending everything, and 90\u00a0% of what answers needed from full requests was " +
			"still there. No conversation died. 2 of 3 conversations would have died if everything had been sent.",
		"In a window of 64k tokens, it cost 50\u00a0%",
		"1 of 2 goals were missed",
		"Made on 2026-11-21 09:05 by epitome 1.2.3",
		"epitome bench </script><img",
		"conversations that cost over 2 % more than sending everything",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	dear := 1.25
	r.Rows[1].Cost = &dear
	if said = elements(t, pageOf(t, r), func(html.Token) {}); !strings.Contains(said, "which is an extra cost") {
		t.Error("what costs more is not called so")
	}
	for _, line := range headline(&figures.Report{}) {
		t.Errorf("an empty report comes to %q", line)
	}
}

// A table that is wider than a screen of 1280 points is two.
func TestTablesFitAScreen(t *testing.T) {
	const most = 17
	page := pageOf(t, fullReport())
	for _, head := range regexp.MustCompile(`(?s)<thead>.*?</thead>`).FindAllString(page, -1) {
		if n := strings.Count(head, "<th "); n > most {
			t.Errorf("a table has %d columns, at most %d: %s", n, most, head)
		}
	}
	both := sheet{Title: "t", Columns: []string{"policy", "died", "in context all %", "hot", "retrievable", "invalid"},
		Rows: [][]string{{"it", "0", "90", "80", "100", "1"}}, Lines: []string{"said"}}
	parts := both.parts()
	joined := func(cells []string) string { return strings.Join(cells, " ") }
	if len(parts) != 2 || joined(parts[0].Rows[0]) != "it 0 100 1" || joined(parts[1].Rows[0]) != "it 90 80" ||
		joined(parts[0].Columns) != "policy died retrievable invalid" || len(parts[0].Lines)+len(parts[1].Lines) != 1 {
		t.Errorf("%+v", parts)
	}
}

func TestAboutLeavesOutWhatIsNotKnown(t *testing.T) {
	if got := (About{Version: "1"}).text(); got != "Made by epitome 1" {
		t.Error(got)
	}
	if got := (About{Version: "1", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}).text(); got !=
		"Made on 2026-01-02 03:04 by epitome 1" {
		t.Error(got)
	}
}
