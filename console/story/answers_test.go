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
	r.RecordCompaction(event.Compaction{Kind: event.CompactionStarted, Conversation: "c1"})
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

func TestStatusIsOfTheConversationUsedLast(t *testing.T) {
	r := begin(t, func(_ *Config, p *Plugs) { p.Bill = billed })
	if _, err := r.Status(Which{}); err != ErrUnknown {
		t.Error("found one before there is any")
	}
	r.RecordExchange(talking("c1", 0))
	unknown := talking("c2", 1)
	unknown.Model = "unknown"
	r.RecordExchange(unknown)
	f := func(id, want string) {
		t.Helper()
		s, err := r.Status(Which{ID: id})
		saved := "unknown"
		if s.Saved != nil {
			saved = fmt.Sprintf("%.7f", *s.Saved)
		}
		if got := fmt.Sprintf("%v %s %d %d %s", err == nil, s.ID, s.Tokens, s.Window, saved); got != want {
			t.Errorf("status of %q is %s, want %s", id, got, want)
		}
	}
	f("", "true c2 3000 10000 unknown")
	f("c1", "true c1 3000 10000 0.0000030")
	f("c3", "false  0 0 unknown")
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

func TestTimesAreWidened(t *testing.T) {
	r := begin(t, nil)
	for _, minutes := range []int{0, 50, 70, 24 * 60} {
		r.RecordExchange(talking("c1", minutes))
	}
	r.now.Store(noon.Add(25 * time.Hour))
	f := func(from, to time.Duration, by string, want int64, wantFrom, wantTo string) {
		t.Helper()
		s, err := r.Summary(Span{noon.Add(from), noon.Add(to), by})
		if err != nil {
			t.Fatal(err)
		}
		if s.Total.Exchanges != want || s.From.Format("02T15") != wantFrom || s.To.Format("02T15") != wantTo {
			t.Errorf("%v to %v by %s: %d from %v to %v", from, to, by, s.Total.Exchanges, s.From, s.To)
		}
	}
	f(10*time.Minute, 20*time.Minute, ByDay, 2, "20T12", "20T13")
	f(10*time.Minute, time.Hour, ByDay, 2, "20T12", "20T13")
	f(10*time.Minute, 61*time.Minute, ByDay, 3, "20T12", "20T14")
	f(10*time.Minute, 20*time.Minute, ByConversation, 3, "20T00", "21T00")
	f(0, 25*time.Hour, ByModel, 4, "20T12", "21T13")
	if _, err := r.Summary(Span{By: "moon"}); err == nil {
		t.Error("by moon is no error")
	}
}

// What a summary cost that has no price is unknown, not nothing.
func TestSummariesWithoutAnAmountAreCounted(t *testing.T) {
	r := begin(t, nil) // without prices
	e := talking("c1", 0)
	e.Client = "alice"
	r.RecordExchange(e)
	cost := event.Cost{Requests: 1, InputTokens: 5000, OutputTokens: 100}
	for _, kind := range []string{event.SummaryStarted, event.SummaryCompleted, event.SummaryFailed} {
		s := event.Summary{Kind: kind, Time: noon, Conversation: "c1", Upstream: "openai", Model: "new"}
		if kind != event.SummaryStarted {
			s.Cost = cost
		}
		r.RecordSummary(s)
	}
	r.RecordSummary(event.Summary{Kind: event.SummaryFailed, Time: noon, Model: "new", Cost: event.Cost{Requests: 3}})
	for by, key := range map[string]string{
		ByDay: "2026-11-20", ByHour: "2026-11-20T12:00:00Z", ByModel: "new", ByUpstream: "openai", ByClient: "alice", ByConversation: "c1",
	} {
		s := summed(t, r, by)
		for _, row := range s.Rows {
			if n := row.Sums.Money.Uncharged; s.Total.Money.Uncharged != 2 || row.Key == key && n != 2 {
				t.Errorf("by %s %s has %d of %d", by, row.Key, n, s.Total.Money.Uncharged)
			}
		}
	}
}

// However sums are told apart, they are of the same.
func TestFiguresOfAClockThatWasAheadAreCounted(t *testing.T) {
	r := begin(t, nil)
	r.RecordExchange(talking("c1", 0))
	r.RecordExchange(talking("c1", 26*60))
	for _, by := range []string{ByDay, ByHour, ByModel, ByUpstream, ByClient, ByConversation} {
		if s := summed(t, r, by); s.Total.Exchanges != 2 {
			t.Errorf("by %s: %d from %v to %v", by, s.Total.Exchanges, s.From, s.To)
		}
	}
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

func TestNothingYetIsNoMistake(t *testing.T) {
	r := begin(t, nil)
	s := summed(t, r, "")
	if s.Total.Exchanges != 0 || len(s.Rows) != 0 || !s.Since.Equal(noon) || s.By != ByDay || s.Mode != "on" {
		t.Errorf("got %+v", s)
	}
	if page, err := r.Conversations(Listing{}); err != nil || page.Items == nil || len(page.Items) != 0 {
		t.Errorf("got %+v, %v", page, err)
	}
	if _, err := r.Exchange(0); err != ErrUnknown {
		t.Error("found an exchange")
	}
}

// A conversation that was compacted long ago goes on to carry that; the latest decision is another.
func TestLatestDecisionIsWhatIsNew(t *testing.T) {
	f := func(want string, s event.Shaping) {
		t.Helper()
		e := event.Exchange{Action: "compact", Shaping: s}
		if got := acted(&e); got != want {
			t.Errorf("%+v has done %q, want %q", s, got, want)
		}
	}
	f("offload", event.Shaping{Offloaded: 1})
	f("clear", event.Shaping{Offloaded: 1, Cleared: 3})
	f("compact", event.Shaping{Offloaded: 1, Cleared: 3, Compacted: 9})
	f("compact", event.Shaping{})
	if got := acted(&event.Exchange{Action: "compact", Rescue: event.Rescue{Rescued: true}}); got != "rescue" {
		t.Errorf("a rescue is called %q", got)
	}
}
