package pages

import (
	"strings"
	"testing"

	"epitome/event"
)

// told is what the page of an exchange says of why something was done.
func told(t *testing.T, change func(e *event.Exchange)) string {
	t.Helper()
	m := session()
	change(&m.stories[0].Exchanges[6])
	_, page := get(t, m, "/-/exchanges/7", false)
	_, after, found := strings.Cut(page, "<b>Why:</b> <bdi>")
	if !found {
		t.Fatalf("the page does not say why: %s", page)
	}
	why, _, _ := strings.Cut(after, "</bdi>")
	return why
}

// The page of an exchange tells one sentence for each cause, and none that it is not for.
func TestPagesTellOneSentenceForEachCause(t *testing.T) {
	said := map[string]event.Cause{}
	for c := range event.EveryCause().All() {
		got := told(t, func(e *event.Exchange) {
			e.Reason, e.Compacted, e.Decided, e.Causes = "", 3, true, event.CausesOf(c)
		})
		if got+"." != c.Sentence() || strings.Contains(got, ". ") || said[got] != event.NoCause {
			t.Errorf("%s is told as %q", c, got)
		}
		said[got] = c
	}
}

func TestPagesTellAllCausesWithTheirNumbers(t *testing.T) {
	f := func(want string, change func(e *event.Exchange)) {
		t.Helper()
		if got := told(t, change); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f("With 109k tokens it was over the line of 108k at which old turns become a summary", func(e *event.Exchange) {
		e.TokensAfter, e.TakenOut, e.Reason, e.Causes = spread(60_000), 49_000, "", event.CausesOf(event.CauseLine)
	})
	f("With 99k tokens it was over the line of 96k at which old results are cleared", func(e *event.Exchange) {
		e.TokensAfter, e.TakenOut, e.Reason, e.Causes = spread(60_000), 39_000, "", event.CausesOf(event.CauseClearAt)
	})
	// A new result counts as it was shortened.
	f("With 97k tokens it was over the line of 96k at which old results are cleared", func(e *event.Exchange) {
		e.TokensAfter, e.TakenOut, e.Compared, e.Reason = spread(60_000), 60_000, 97_000, ""
		e.Causes = event.CausesOf(event.CauseClearAt)
	})
	line := strings.TrimSuffix(event.CauseLine.Sentence(), ".")
	f("With 97k tokens it was over the line of 96k at which old results are cleared. "+line, func(e *event.Exchange) {
		e.Compared, e.Cleared, e.Reason = 97_000, 3, ""
		e.Causes = event.CausesOf(event.CauseClearAt, event.CauseLine)
	})
	f(event.CauseLarge.Sentence()+" "+event.CauseRules.Sentence()+" Not all was done: too little is left",
		func(e *event.Exchange) {
			e.Reason, e.Causes = "too little is left.", event.CausesOf(event.CauseRules, event.CauseLarge)
		})
	f("An earlier version of epitome decided this and did not note why", func(e *event.Exchange) { e.Reason, e.Compacted = "", 3 })
}
