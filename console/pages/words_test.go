package pages

import (
	"strings"
	"testing"

	"epitome/console/story"
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

// One edit may be about many messages, and a message may have two edits.
func TestMessagesAreCountedAndNotEdits(t *testing.T) {
	f := func(want int, all ...story.Edit) {
		t.Helper()
		if got := countMessages(all); got != want {
			t.Errorf("%+v are %d messages, want %d", all, got, want)
		}
	}
	f(0)
	f(1, story.Edit{Item: 1, Last: 1})
	f(1, story.Edit{Item: 1, Last: 1}, story.Edit{Item: 1, Last: 1})
	f(37, story.Edit{Item: 1, Last: 1}, story.Edit{Item: 2, Last: 37})
	f(4, story.Edit{Item: 2, Last: 4}, story.Edit{Item: 3, Last: 3}, story.Edit{Item: 4, Last: 5})
	m := session()
	says(t, m, "/-/exchanges/60", true, "62 messages were sent in another form than they came; 60 of them were decided in this exchange")
	says(t, m, addresses["conversation"], true, "62 messages of the newest request are not sent as they came; the largest first.")
}

// What stands in an event as a code stands on a page in words.
func TestAnExchangeTellsItsFateInWords(t *testing.T) {
	m := session()
	says(t, m, "/-/exchanges/66", true, "The provider refused the request: it was longer than the model's window. epitome sent it"+
		" again 1 time, with 52k tokens in place of 61k: old results were cleared. It was answered", "!(input)", "!(clear)")
	s := &m.stories[0]
	s.Exchanges[65].Rescue.Kind, s.Exchanges[65].Rescue.Stages = "output", "output, clear, compact, short, shorter, bare, users"
	says(t, m, "/-/exchanges/66", true, "there was no room for the output that it asked for", "in place of 61k: it asked for less"+
		" output, old results were cleared, old turns became a summary, results were cut to some 4,000 characters, results were"+
		" cut to some 500 characters, calls and results were left out, messages of the user were left to the transcript.")
	s.Exchanges[65].Fault, s.Exchanges[65].Err = event.Truncated, "the upstream broke off within its answer"
	says(t, m, "/-/exchanges/66", true, "200: the upstream broke off within its answer", "!(the upstream broke off")
	s.Exchanges[65].Mode, s.Exchanges[65].Conversation = event.ModeOff, ""
	says(t, m, "/-/exchanges/66", true, "Mode was off: epitome did not look for a conversation in it.", "!It is no conversation")
}
