package pages

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/console/access"
	"epitome/console/story"
	"epitome/event"
	"epitome/inject"
)

// begun is when the made-up session begins.
var begun = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// madeUp is a made-up source: one long conversation with all that can happen, and others as a test adds them.
type madeUp struct {
	summary  story.Summary
	stories  []story.Story
	edits    map[string]story.Edits
	contents map[string]string
	mode     string
	settings []Setting
	memories known
	fails    error
	groups   []story.Row // by whatever is asked for; nil: one model
	wrong    []event.Exchange
}

// known is what sessions have learned.
type known struct {
	All []inject.Notes
	Off bool
}

func (k *known) List() ([]inject.Notes, error) { return k.All, nil }
func (k *known) On() bool                      { return !k.Off }

func (m *madeUp) Summary(s story.Span) (story.Summary, error) {
	out := m.summary
	out.By = s.By
	if s.By != "day" {
		if out.Rows = m.groups; m.groups == nil {
			out.Rows = []story.Row{{Key: "gpt-5.2", Sums: out.Total}}
		}
	}
	return out, m.fails
}

func (m *madeUp) Conversations(l story.Listing) (page story.Page[story.Conversation], err error) {
	for _, s := range m.stories {
		if strings.Contains(s.ID+s.Model, l.Match) {
			page.Items = append(page.Items, s.Conversation)
		}
	}
	page.Total = len(page.Items)
	if len(page.Items) > 100 {
		page.Items, page.Next = page.Items[:100], "behind-100"
	}
	return page, m.fails
}

func (m *madeUp) Conversation(id string) (story.Story, error) {
	for _, s := range m.stories {
		if s.ID == id {
			return s, nil
		}
	}
	return story.Story{}, story.ErrUnknown
}

func (m *madeUp) Exchange(seq uint64) (event.Exchange, error) {
	for _, s := range m.stories {
		for _, e := range s.Exchanges {
			if e.Seq == seq {
				return e, nil
			}
		}
	}
	return event.Exchange{}, story.ErrUnknown
}

func (m *madeUp) Troubles() []event.Exchange { return m.wrong }

func (m *madeUp) plugs() Plugs {
	return Plugs{
		Source: m, Version: "1.2.3", Mode: func() string { return m.mode }, Address: "127.0.0.1:7070", Zone: time.UTC,
		Edits: func(decision string) (story.Edits, error) {
			edits, ok := m.edits[decision]
			if !ok {
				return story.Edits{Missing: "the decision has expired"}, nil
			}
			edits.List = slices.Clone(edits.List)
			return edits, nil
		},
		Open: func(name string) (io.ReadCloser, int64, error) {
			content, ok := m.contents[name]
			if !ok {
				return nil, 0, errors.New("there is no such artifact, or it has expired")
			}
			return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
		},
		Configuration: func() []Setting { return m.settings }, Memories: &m.memories,
	}
}

// get asks for a page, as the owner or not.
func get(t *testing.T, m *madeUp, path string, owner bool) (status int, text string) {
	t.Helper()
	mux := http.NewServeMux()
	p := New(m.plugs())
	for pattern, handler := range p.Documents() {
		mux.Handle("GET "+cmp.Or(pattern, "/-/nowhere"), handler)
	}
	for pattern, handler := range p.Files() {
		mux.Handle("GET "+pattern, handler)
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if owner {
		r = access.AsOwner(r)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// session is a source with one conversation of a hundred turns: offloads, clears, a compaction, a rescue, misses of all
// causes, a turn that cost more, turns without a price, one that failed and one that was only watched.
func session() *madeUp {
	m := &madeUp{mode: event.ModeOn, edits: map[string]story.Edits{}, contents: map[string]string{}}
	c := story.Story{Conversation: story.Conversation{
		ID: "c7f3a1b2c3d4e5f60718", Model: "gpt-5.2", Upstream: "openai", Dialect: "chat", First: begun,
		Last: begun.Add(99 * time.Minute), Live: true, Turns: 100, Window: 128_000, Usable: 119_808, Cached: .874,
		Latest: &story.Decided{Turn: 88, Seq: 88, Time: begun.Add(87 * time.Minute), Action: "clear", Items: 11,
			TakenOut: 25_900},
	}}
	raw, sent := 9_000, 9_000
	for turn := 1; turn <= 100; turn++ {
		before := sent
		raw, sent = raw+2_100, sent+2_100
		e := exchange(turn)
		act(&e, &sent)
		e.TokensBefore, e.TokensAfter = spread(raw), spread(sent)
		e.HeldBefore, e.HeldAfter = int32(raw-2_100), int32(before)
		price(&e, before)
		c.Exchanges = append(c.Exchanges, e)
	}
	c.Tokens, c.Raw, c.Share = sent, raw, float64(sent)/128_000
	c.Compactions = []event.Compaction{{Kind: event.CompactionCompleted, Time: begun.Add(59*time.Minute + time.Second),
		Conversation: c.ID, Reason: event.ReasonThreshold, TokensBefore: 108_200,
		MessagesBefore: 130, MessagesAfter: 21}}
	c.Sums = sums(c.Exchanges)
	m.stories = []story.Story{c}
	m.summary = story.Summary{Version: "1.2.3", Mode: "on", Now: c.Last, From: begun, To: c.Last, Since: begun, Live: 1,
		Total: c.Sums, Rows: []story.Row{{Key: "2026-11-19"}, {Key: "2026-11-20", Sums: c.Sums}},
		Prices: story.Prices{Source: "genai-prices", Date: begun, Models: 372}}
	m.record()
	m.memories.All = []inject.Notes{{Owner: inject.Owner{Project: "/home/me/shop"}, Entries: []inject.Entry{
		{ID: "0123abcd", Kind: "fact", Text: "The port is 8080.", At: begun}}},
		{Owner: inject.Owner{Scope: "abcdefghijkl", Project: "other"}, Entries: []inject.Entry{
			{ID: "1123abcd", Kind: "pitfall", Text: "The tests need Redis.", At: begun}}}}
	m.settings = []Setting{{Key: "listen", Value: `"127.0.0.1:7070"`}, {Key: "mode", Value: `"on"`, From: "--mode"},
		{Key: "rewrite.preset", Value: `"balanced"`, From: "config.toml:3"},
		{Key: "console.token", Secret: true, From: "config.toml:9"}}
	return m
}

// exchange is a turn in which nothing is done.
func exchange(turn int) event.Exchange {
	e := event.Exchange{ID: fmt.Sprint("x", turn), Seq: uint64(turn), Turn: turn,
		Start: begun.Add(time.Duration(turn-1) * time.Minute), Method: "POST", Path: "/v1/chat/completions",
		Upstream: "openai", Dialect: "chat", Mode: event.ModeOn,
		Action: event.ActionNone, Status: 200, RequestBytes: 120_000, ResponseBytes: 9_000, Sent: 3 * time.Millisecond,
		FirstByte: 900 * time.Millisecond, Duration: 12 * time.Second, Streams: true}
	e.Shaping = event.Shaping{Model: "gpt-5.2", Conversation: "c7f3a1b2c3d4e5f60718", Window: 128_000, Usable: 119_808,
		ClearLine: 95_846, CompactLine: 107_827, Items: int32(3 + 2*turn), ShapeTime: 2 * time.Millisecond,
		Reason: "the largest result has 6.1k tokens, below 8k; clearing frees 3.2k and pays from 5.8k"}
	return e
}

// act does to a turn what happens in it.
func act(e *event.Exchange, sent *int) {
	take := func(action string, tokens int) {
		e.Action, e.Decided, e.TakenOut, e.Reason = action, true, tokens, ""
		e.Decision = fmt.Sprint("decision-", e.Turn)
		*sent -= tokens
	}
	switch e.Turn {
	case 8, 20, 71:
		take("offload", 1_900)
		e.Offloaded, e.Causes = 1, event.CausesOf(event.CauseLarge)
	case 29, 88:
		take("clear", 25_900)
		e.Cleared, e.Broke, e.Miss, e.Causes = 11, true, event.MissOurs, event.CausesOf(event.CauseRent)
	case 60:
		take("compact", 42_000)
		e.Compacted, e.Broke, e.Miss, e.Causes = 60, true, event.MissOurs, event.CausesOf(event.CauseLine)
	case 66:
		take("rescue", 9_000)
		e.Cleared, e.Causes = 4, event.CausesOf(event.CauseRefused)
		e.Rescue = event.Rescue{Kind: "input", Tries: 1, Stages: "clear", Rescued: true, TokensBefore: 61_000,
			TokensAfter: 52_000, WindowBefore: 128_000, WindowAfter: 60_000}
	case 90:
		e.Mode, e.Action, e.Offloaded = event.ModeObserve, "offload", 1
	case 45:
		e.Fault, e.Err = event.ClientGone, "the client is gone"
	case 95:
		e.Status, e.Fault, e.Err = 502, event.Broken, "the upstream closed the connection"
	}
	if e.Turn > 8 && e.Decision == "" {
		e.Decision, e.Action = fmt.Sprint("decision-", e.Turn), "offload"
	}
	for turn, miss := range map[int]event.Miss{1: event.MissFirst, 51: event.MissPause, 55: event.MissClient,
		56: event.MissLeading, 70: event.MissModel, 89: event.MissProvider, 91: event.MissUnknown} {
		if e.Turn == turn {
			e.Miss = miss
		}
	}
	if e.Turn == 55 {
		e.Diverged = 12
	}
}

func spread(n int) event.Tokens {
	return event.Tokens{System: 2_000, Tools: 3_000, User: n / 20, Assistant: n / 5, Results: n - 5_000 - n/20 - n/5}
}

// price gives a turn its usage and its bill.
func price(e *event.Exchange, held int) {
	raw, sent := e.TokensBefore.Total(), e.TokensAfter.Total()
	e.Usage = event.Usage{Source: event.UsageProvider, Input: sent, Read: min(held, sent), Output: 400}
	if e.Miss != event.NoMiss {
		e.Usage.Read = 4_000
	}
	e.Bill = event.Bill{Price: "openai gpt-5.2", Raw: int64(raw) * 500, Sent: int64(sent) * 500, Ruled: true, Measured: true,
		Billed: int64(sent-e.Usage.Read)*1_250 + int64(e.Usage.Read)*125}
	switch {
	case e.Turn == 95:
		e.Usage, e.Bill = event.Usage{}, event.Bill{Unpriced: event.UnpricedFailed}
	case e.Turn == 91:
		e.Usage = event.Usage{Source: event.UsageCounted, Input: sent, CacheUnknown: true}
		e.Bill.Most = e.Bill.Billed * 4
	case e.Turn == 45:
		e.Usage.Output, e.Usage.Cut, e.Bill.AtLeast = 1, true, true
	case e.Turn == 29:
		e.Bill.Sent = e.Bill.Raw + 31_000_000 // it breaks the cache and costs more
	case e.Turn == 20:
		e.Bill = event.Bill{Unpriced: event.UnpricedModel}
	case raw > 128_000:
		e.Bill.Ruled, e.Bill.Raw, e.Bill.Beyond = false, 0, true
	}
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func sums(all []event.Exchange) (s story.Sums) {
	s.Misses, s.Codes = map[event.Miss]int64{}, map[event.Code]int64{event.CodeNotDue: 80, "a_new_one": 1}
	for _, e := range all {
		s.Exchanges++
		s.Shaped++
		s.TokensBefore += int64(e.TokensBefore.Total())
		s.TokensAfter += int64(e.TokensAfter.Total())
		s.TakenOut += int64(e.TakenOut)
		s.Usage.Input += int64(e.Usage.Input)
		s.Usage.Read += int64(e.Usage.Read)
		if e.Usage.Source == event.UsageProvider {
			s.Usage.Told++
			s.Usage.Cut += one(e.Usage.Cut)
			s.Usage.CacheInput += int64(e.Usage.Input)
		} else if e.Usage.Source != "" {
			s.Usage.Counted++
		}
		if e.Miss == event.NoMiss {
			s.Hits++
		} else {
			s.Misses[e.Miss]++
		}
		if e.Bill.Measured {
			s.Money.Measured++
			s.Money.AtLeast += one(e.Bill.AtLeast)
			s.Money.Billed += e.Bill.Billed
		}
		if e.Bill.Ruled {
			s.Money.Ruled++
			s.Money.Raw += e.Bill.Raw
			s.Money.Sent += e.Bill.Sent
		}
		if e.Bill.Beyond {
			s.Money.Beyond++
			s.Money.Died = 1
		}
	}
	s.Money.Listed = 3
	s.Failed, s.Rescued, s.Money.Own, s.Money.Drift = 1, 1, 31_000_000, -24_000
	s.Money.Unpriced, s.Money.Saved = 2, s.Money.Raw-s.Money.Sent-s.Money.Own
	s.Money.Uncharged = 2
	s.Observed = story.Seen{Exchanges: 1, TokensBefore: 90_000, TokensAfter: 80_000}
	return s
}

// record makes what decisions stand for, and what was taken out.
func (m *madeUp) record() {
	var output strings.Builder
	for i := 1; i <= 3000; i++ {
		fmt.Fprintf(&output, "ok  \tepitome/pkg%d\t0.%03ds\n", i, i%1000)
		if i == 1203 {
			output.WriteString("--- FAIL: TestLedger (0.00s)\n    ledger_test.go:41: \x1b[31mgot 3, want 4\x1b[0m\n")
		}
	}
	m.contents["aaaa1111"] = output.String()
	m.contents["bbbb2222"] = "# What was said\n\nuser: fix the ledger\n"
	stub := "[epitome: output of `make test`, 3002 lines, exit 1; the whole lies in aaaa1111]\nok  \tepitome/pkg1\t0.001s\n" +
		"--- FAIL: TestLedger (0.00s)\n    ledger_test.go:41: \x1b[31mgot 3, want 4\x1b[0m\nok  \tepitome/pkg3000\t0.000s\n"
	list := []story.Edit{
		{Item: 2, Last: 61, Rung: "compact", Reason: "107.9k tokens were over the line of 107.8k", New: true, Before: 42_000,
			Text: "", Artifact: "bbbb2222"},
		{Item: 70, Last: 70, Rung: "offload", Reason: "the result has 13.4k tokens, over the limit of 8k", Before: 13_400,
			After: 2_200, Text: stub, Artifact: "aaaa1111"},
		{Item: 72, Last: 72, Rung: "clear", Reason: "it was repeated later", Before: 3_000, After: 90,
			Text: "[epitome: cleared]", Artifact: "gone"},
	}
	for turn := 8; turn <= 100; turn++ {
		m.edits[fmt.Sprint("decision-", turn)] = story.Edits{Seq: uint64(turn), List: list}
	}
}
