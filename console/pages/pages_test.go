package pages

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/console/story"
	"epitome/event"
	"epitome/inject"
)

// source is a made-up source of events, and of all else that pages show.
type source struct {
	summary  story.Summary
	stories  []story.Story
	edits    map[string]story.Edits
	contents map[string]string
	settings []config.Value
	notes    []inject.Notes
	off      bool // the memory is off
	mode     string
	handler  http.Handler // made with the first request
}

func (s *source) Summary(story.Span) (story.Summary, error) { return s.summary, nil }
func (s *source) List() ([]inject.Notes, error)             { return s.notes, nil }
func (s *source) On() bool                                  { return !s.off }

func (s *source) Conversations(match string, _, _ int) (page story.Page[story.Conversation]) {
	for _, c := range s.stories {
		if strings.Contains(c.ID+c.Model, match) {
			page.Items = append(page.Items, c.Conversation)
		}
	}
	page.Total, page.Next = len(page.Items), 1
	return page
}

func (s *source) Conversation(id string) (story.Story, error) {
	for _, c := range s.stories {
		if c.ID == id {
			return c, nil
		}
	}
	return story.Story{}, story.ErrUnknown
}

func (s *source) Troubles() (all []event.Exchange) {
	for _, c := range s.stories {
		for _, e := range c.Exchanges {
			if e.Fault != event.None {
				all = append(all, e)
			}
		}
	}
	return all
}

// serve returns the handler of all pages that show s.
func (s *source) serve() http.Handler {
	p := New(Config{
		Source: s, Memory: s, Version: "1.2.3", Mode: func() string { return s.mode }, Address: "127.0.0.1:7070",
		Edits: func(decision string) (story.Edits, error) { return s.edits[decision], nil },
		Artifacts: func(name string) ([]byte, error) {
			content, ok := s.contents[name]
			if !ok {
				return nil, errors.New("it has expired")
			}
			return []byte(content), nil
		},
		Settings: func() []config.Value { return s.settings },
	})
	mux := http.NewServeMux()
	for pattern, handler := range p.Documents() {
		mux.Handle("GET "+cmp.Or(pattern, "/-/nowhere"), handler)
	}
	return mux
}

// get asks for a page, as the owner or as a visitor.
func (s *source) get(path string, owner bool) (status int, page string) {
	if s.handler == nil {
		s.handler = s.serve()
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if owner {
		r = story.AsOwner(r)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const (
	id     = "c7f3a1b2c3d4e5f60718"
	title  = "Fix the ledger test"
	secret = "the ledger output"
)

// session returns a conversation of ten turns with every kind of event.
func session() *source {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	c := story.Story{Conversation: story.Conversation{ID: id, Title: title, Model: "gpt-5.2", Upstream: "openai",
		Client: "alice", Dialect: "chat", First: at, Last: at.Add(time.Hour), Turns: 10, Tokens: 40_000, Raw: 410_000,
		Window: 64_000, Share: .625}}
	for turn := 1; turn <= 10; turn++ {
		e := event.Exchange{Seq: uint64(100 + turn), Turn: turn, Start: at, Method: "POST", Path: "/v1/chat/completions",
			Mode: event.ModeOn, Status: 200, Duration: time.Second}
		e.Shaping = event.Shaping{Model: "gpt-5.2", Conversation: id, Window: 64_000, Items: int32(2 * turn),
			TokensBefore: event.Tokens{User: 41_000 * turn}, TokensAfter: event.Tokens{User: 4_000 * turn},
			Decision: "decision"}
		e.Usage = event.Usage{Source: event.UsageProvider, Input: 40_000, Read: 30_000, Output: 10}
		e.Bill = event.Bill{Measured: true, Billed: 20_000_000, Ruled: true, Raw: 50_000_000, Sent: 30_000_000}
		c.Exchanges = append(c.Exchanges, e)
	}
	all := c.Exchanges
	all[2].Offloaded, all[2].Causes = 1, event.Codes{event.CodeOverLimit}
	all[4].Cleared, all[4].Miss = 7, event.MissOurs
	all[6].Compacted, all[6].Causes = 60, event.Codes{event.CodeCompactAt}
	all[7].Rescue = event.Rescue{Kind: "input", Stages: "clear, compact", Tries: 2, Rescued: true, TokensBefore: 70_000,
		TokensAfter: 40_000, WindowBefore: 128_000, WindowAfter: 64_000}
	all[8].Fault, all[8].Status, all[8].Err = event.Unreachable, 502, "no route to host"
	c.Compactions = []event.Compaction{{Kind: event.CompactionCompleted, Time: at, Why: "no model answered"}}
	total := story.Sums{Exchanges: 10, Shaped: 10, Failed: 1, TokensBefore: 2_255_000, TokensAfter: 220_000, Hits: 9,
		Misses: map[event.Miss]int64{event.MissOurs: 1}, Codes: map[event.Code]int64{event.CodeNotDue: 6},
		Money: story.Money{Ruled: 10, Raw: 500_000_000, Sent: 300_000_000, Saved: 200_000_000, Died: 1, Beyond: 8}}
	return &source{
		mode: event.ModeOn, stories: []story.Story{c},
		summary: story.Summary{Mode: "on", By: "day", Total: total, Rows: []story.Row{{Key: "2026-11-20", Sums: total}},
			Notes: []string{"some events were dropped"}},
		edits: map[string]story.Edits{"decision": {List: []story.Edit{
			{Item: 2, Last: 5, Rung: "compact", Reason: "the window was full", Before: 42_000, After: 900, New: true,
				Text: "summary of " + secret, Artifact: "transcript1"},
			{Item: 6, Last: 6, Rung: "clear", Before: 3_000, After: 90, Text: "stub of the result", Artifact: "gone1"},
			{Item: 7, Last: 7, Rung: "offload", Text: "a note behind the message"},
		}}},
		contents: map[string]string{"transcript1": "user: fix it\n" + secret + "\n" + strings.Repeat("more\n", 900)},
		settings: []config.Value{{Key: "listen", Text: `"127.0.0.1:7070"`}, {Key: "mode", Text: `"observe"`, Changed: true},
			{Key: "console.token", Secret: true, Changed: true}},
		notes: []inject.Notes{{Owner: inject.Owner{Project: "/home/me/shop"}, Entries: []inject.Entry{
			{ID: "0123abcd", Kind: "fact", Text: "The port is 8080.", At: at}}}},
	}
}

// all are the paths of all pages.
var all = []string{"/-/", "/-/conversations", "/-/conversations?match=gpt&cursor=1", "/-/conversations/" + id,
	"/-/conversations/" + id + "?turn=5", "/-/conversations/" + id + "?turn=8", "/-/conversations/" + id + "/edits/2?turn=7",
	"/-/conversations/" + id + "/edits/6", "/-/causes", "/-/troubles", "/-/memory", "/-/config"}

func TestPagesSay(t *testing.T) {
	s := session()
	for path, wants := range map[string][]string{
		"/-/":                                        {title, "410k → 40k", "2.25M → 220k", "1 conversation", "$0.200", "some events were dropped"},
		"/-/conversations":                           {title, "alice", "10 turns"},
		"/-/conversations?match=nothing":             {"No conversation matches"},
		"/-/conversations/" + id:                     {title, "6.4 times", "window 64k", "Turn 10", "messages 2–5", "answered 502"},
		"/-/conversations/" + id + "?turn=7":         {"Turn 7", "60 old messages", "over the line", "no model answered"},
		"/-/conversations/" + id + "?turn=8":         {"clear, compact", "64k, not 128k"},
		"/-/conversations/" + id + "/edits/2?turn=7": {"42k → 900", secret, "summary of", "more"},
		"/-/conversations/" + id + "/edits/6":        {"it has expired"},
		"/-/conversations/" + id + "/edits/7":        {"nothing was taken out"},
		"/-/causes":                                  {"Cache hits: 9 of 10 requests", "epitome changed earlier messages"},
		"/-/troubles":                                {"turn 9", "unreachable", "no route to host"},
		"/-/memory":                                  {"The port is 8080."},
		"/-/config":                                  {"listen", "observe", "secret"},
	} {
		status, page := s.get(path, true)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s (%d) does not say %q in %s", path, status, want, page)
			}
		}
	}
}

func TestPagesThatAreNotThere(t *testing.T) {
	for _, path := range []string{"/-/conversations/none", "/-/conversations/" + id + "/edits/99", "/-/nowhere"} {
		if status, page := session().get(path, true); status != http.StatusNotFound || !strings.Contains(page, "Not found") {
			t.Errorf("%s: %d %s", path, status, page)
		}
	}
}

func TestEmptyProgramSaysHowToStart(t *testing.T) {
	s := &source{mode: event.ModeOn, off: true}
	if _, page := s.get("/-/", true); !strings.Contains(page, "http://127.0.0.1:7070") || strings.Contains(page, "/-/memory") {
		t.Error(page)
	}
	for _, path := range []string{"/-/conversations", "/-/causes", "/-/troubles", "/-/memory", "/-/config"} {
		if status, page := s.get(path, true); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, page)
		}
	}
}

// Titles, texts and names of artifacts are the owner's.
func TestVisitorsSeeNoText(t *testing.T) {
	s := session()
	for _, path := range all {
		status, page := s.get(path, false)
		for _, text := range []string{title, secret, "summary of", "stub of", "/artifacts/transcript1", "gone1", "8080", "shop"} {
			if strings.Contains(page, text) {
				t.Errorf("%s tells a visitor %q", path, text)
			}
		}
		for _, part := range []string{"/edits/", "/memory"} {
			if strings.Contains(path, part) && status != http.StatusForbidden {
				t.Errorf("%s: %d", path, status)
			}
		}
	}
	if _, page := s.get("/-/conversations/"+id, false); !strings.Contains(page, "epitome open") || !strings.Contains(page, "410k") {
		t.Error("a visitor is not told how to log in, or sees no figures")
	}
}

func TestObservedConversationSaysWhatWouldBeDone(t *testing.T) {
	s := session()
	for i := range s.stories[0].Exchanges {
		s.stories[0].Exchanges[i].Mode = event.ModeObserve
	}
	_, page := s.get("/-/conversations/"+id+"?turn=7", true)
	if !strings.Contains(page, "sent unchanged") || !strings.Contains(page, "would be done") {
		t.Error(page)
	}
}

func TestChartOfManyTurnsIsBounded(t *testing.T) {
	s := session().stories[0]
	for turn := 11; turn <= 5000; turn++ {
		e := s.Exchanges[0]
		e.Turn = turn
		s.Exchanges = append(s.Exchanges, e)
	}
	for _, current := range []int{1, 2500, 5000} {
		c := newConversation(s, current).Chart
		if len(c.Bars) != turnsDrawn || !slices.ContainsFunc(c.Bars, func(b bar) bool { return b.Current }) {
			t.Errorf("at turn %d the chart has %d bars, or not that turn's", current, len(c.Bars))
		}
	}
}
