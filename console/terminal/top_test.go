package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"epitome/console/story"
	"epitome/event"
)

// press has a screen of some width take keys.
func pressAt(t *testing.T, top *Top, width int, keys string) string {
	t.Helper()
	for _, k := range keysIn([]byte(keys)) {
		if _, asks := top.press(k); asks {
			if err := top.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return frameOf(top, width, 20)
}

// Nothing that fits a filter is not nothing at all.
func TestAnEmptyListSaysWhyItIsEmpty(t *testing.T) {
	top := shown(t, source())
	const none = "no conversation yet: requests through epitome make one"
	wantParts(t, frameOf(top, 160, 20), none)
	wantParts(t, top.Print(), none)
	got := pressAt(t, top, 160, "/gpx\r")
	wantParts(t, got, "no conversation has gpx in its id, model or upstream: esc takes the filter away")
	if strings.Contains(got, none) {
		t.Errorf("it says that there is none:\n%s", got)
	}
	if got := shown(t, source("c1")).Print(); strings.Contains(got, "no conversation") {
		t.Errorf("a list says that it is empty:\n%s", got)
	}
}

// What a list is sorted by can be seen.
func TestTheListIsSortedByWhatIsInSight(t *testing.T) {
	m := source("c1", "c2")
	top := shown(t, m)
	wantParts(t, frameOf(top, 60, 20), "USED▼")
	for _, title := range []string{"NOW▼", "FULL▼", "CACHED▼", "SAVED▼", "USED▼"} {
		wantParts(t, pressAt(t, top, 60, "s"), title)
	}
	wantParts(t, pressAt(t, top, 160, ""), "USED▼")
	wantParts(t, pressAt(t, top, 160, "s"), "TURNS▼")
	if top.listing.Sort != story.SortTurns {
		t.Errorf("sorted by %s", top.listing.Sort)
	}
}

func TestHelpFitsANarrowTerminal(t *testing.T) {
	top := shown(t, source("c1"))
	for _, width := range []int{160, 60, 40} {
		top.helping = true
		lines := top.frame(width, 60)
		all := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
		wantParts(t, all, "show only those whose id, model or upstream has what you type",
			"SAVED is estimated, and negative where epitome cost more than it saved;", "Any key goes back.")
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("at %d a line has %d characters: %q", width, n, line)
			}
		}
	}
}

// Why something was done is told in the words that the pages have for it, and not as a code.
func TestATurnSaysWhyInWords(t *testing.T) {
	e := event.Exchange{}
	e.Causes = event.CausesOf(event.CauseLarge, event.CauseClearAt)
	if got, want := whyOf(e), event.CauseLarge.Sentence()+" "+event.CauseClearAt.Sentence(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.Reason = "clearing would free at most 16 tokens"
	if got := whyOf(e); got != e.Reason {
		t.Errorf("%q", got)
	}
}
