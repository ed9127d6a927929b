package story

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"epitome/event"
)

func TestConversationIsToldWithItsTurns(t *testing.T) {
	r := begin(t, func(_ *Config, p *Plugs) { p.Bill, p.Charge = billed, charged })
	one := talking("c1", 0)
	r.RecordExchange(one)
	two := talking("c1", 1)
	two.Decided, two.Action, two.Cleared, two.TakenOut = true, "clear", 11, 25_900
	r.RecordExchange(two)
	r.RecordExchange(talking("c2", 2))
	r.RecordCompaction(event.Compaction{Kind: event.CompactionCompleted, Conversation: "c1"})
	r.RecordWarning(event.Warning{Reason: event.ReasonBudget, Conversation: "c1"})
	r.RecordSummary(event.Summary{Kind: event.SummaryStarted, Conversation: "c1"})
	r.RecordSummary(event.Summary{
		Kind: event.SummaryCompleted, Conversation: "c1", Cost: event.Cost{Requests: 1, InputTokens: 100}, Time: noon,
	})
	r.now.Store(noon.Add(5 * time.Minute))
	s, err := r.Conversation("c1")
	if err != nil || len(s.Exchanges) != 2 || len(s.Compactions) != 1 || len(s.Warnings) != 1 || len(s.Summaries) != 2 {
		t.Fatalf("%v: %+v", err, s)
	}
	if e := s.Exchanges[1]; e.Turn != 2 || e.Seq != 2 || s.Exchanges[0].Turn != 1 || s.Summaries[1].Seq != 7 {
		t.Errorf("the second turn is %d, number %d; the last event is %d", e.Turn, e.Seq, s.Summaries[1].Seq)
	}
	c := s.Conversation
	if c.Turns != 2 || c.Tokens != 3000 || c.Raw != 4000 || c.Window != 10_000 || c.Share != .3 || !c.Live ||
		s.Forgotten != 0 {
		t.Errorf("got %+v", c)
	}
	if got := fmt.Sprintf("%.3f", c.Cached); got != "0.933" {
		t.Errorf("the cache had %s", got)
	}
	if m := c.Sums.Money; m.Saved != 2*3000-300 || m.Own != 300 {
		t.Errorf("saved %d, own %d", m.Saved, m.Own)
	}
	if c.Latest == nil || c.Latest.Turn != 2 || c.Latest.String() != "clear 11 items, 25.9k tokens" {
		t.Errorf("the latest decision is %+v", c.Latest)
	}
	if _, err := r.Conversation("c9"); err != ErrUnknown {
		t.Error("found what is not there")
	}
}

func TestStatusIsOfTheSessionThatAsks(t *testing.T) {
	r := begin(t, nil)
	tell := func(id, session string, minutes int) {
		e := talking(id, minutes)
		e.Session = event.SessionOf(session)
		r.RecordExchange(e)
	}
	f := func(session, want string) {
		t.Helper()
		if s, err := r.Status(Which{Session: session}); s.ID != want || (err == nil) == (want == "") {
			t.Errorf("of session %q it is %q, want %q", session, s.ID, want)
		}
	}
	tell("a", "one", 0)
	f("two", "") // that of another one would mislead
	tell("b", "", 1)
	tell("c", "two", 2)
	f("one", "a")
	f("two", "c")
	f("three", "b") // its requests may not say it
	f("", "c")
	tell("a", "", 3) // a request of it that does not say it changes nothing
	f("one", "a")
	tell("title", "one", 4)
	f("one", "a") // a longer one is live
	f("", "a")
	r.now.Store(noon.Add(4*time.Minute + liveFor))
	f("one", "title")
	f("", "title")
	tell("a", "five", 20) // it goes on elsewhere
	f("one", "title")
	f("five", "a")
}

func TestConversationsComePageByPage(t *testing.T) {
	r := begin(t, nil)
	for i := range 250 {
		e := talking(fmt.Sprintf("c%03d", i), i/3) // some are equal
		e.Model = []string{"GPT-x", "claude"}[i%2]
		e.TokensAfter.Results += i % 7
		r.RecordExchange(e)
	}
	f := func(sort, filter string, want int) {
		t.Helper()
		q, all := Listing{Sort: sort, Match: filter}, []string(nil)
		for pages := 1; ; pages++ {
			page, err := r.Conversations(q)
			if err != nil || page.Total != want || pages > 3 {
				t.Fatalf("sorted by %q: %v, %d in all, page %d", sort, err, page.Total, pages)
			}
			for _, c := range page.Items {
				all = append(all, c.ID)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		if len(all) != want {
			t.Errorf("sorted by %q: got %d, want %d", sort, len(all), want)
		}
		if slices.Sort(all); len(slices.Compact(all)) != want {
			t.Errorf("sorted by %q: some come twice", sort)
		}
	}
	for _, sort := range []string{
		"", SortLast, SortTurns, SortTokens, SortShare, SortBilled, SortSaved, SortCached,
	} {
		f(sort, "", 250)
	}
	f(SortTokens, "gpt", 125)
	f(SortLast, "c24", 10)
	page, _ := r.Conversations(Listing{Sort: SortTokens})
	if page.Items[0].Tokens != 3006 {
		t.Errorf("the largest has %d tokens", page.Items[0].Tokens)
	}
	for _, q := range []Listing{{Sort: "moon"}, {Cursor: "moon"}, {Cursor: "1"}} {
		if _, err := r.Conversations(q); err == nil {
			t.Errorf("%+v is no error", q)
		}
	}
}
