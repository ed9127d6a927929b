package terminal

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"epitome/console/story"
	"epitome/event"
	"epitome/event/eventtest"
)

// now is when everything is looked at.
func now() time.Time { return time.Unix(1_800_000_100, 0) }

// made is a source of conversations that a test has made.
type made struct {
	page  story.Page[story.Conversation]
	asked []story.Listing
	err   error
}

func (m *made) Conversations(l story.Listing) (story.Page[story.Conversation], error) {
	m.asked = append(m.asked, l)
	return m.page, m.err
}

func (m *made) Conversation(id string) (story.Story, error) {
	for _, c := range m.page.Items {
		if c.ID == id {
			first, second := eventtest.Conversation(), eventtest.Conversation()
			first.Turn, second.Turn, first.Inner, second.Inner = 1, 2, "", ""
			first.Reason, second.Reason = "why the first", "why the second"
			return story.Story{Conversation: c, Exchanges: []event.Exchange{first, second}}, nil
		}
	}
	return story.Story{}, story.ErrUnknown
}

// source has conversations of these ids, the one used last first.
func source(ids ...string) *made {
	m := &made{page: story.Page[story.Conversation]{Total: len(ids)}}
	for i, id := range ids {
		m.page.Items = append(m.page.Items, story.Conversation{
			ID: id, Model: "gpt-5.2", Upstream: "openai", Last: now().Add(-time.Duration(i+1) * time.Minute), Turns: 12,
			Tokens: 41_234, Window: 128_000, Share: .32, Cached: .97, Live: i == 0,
			Latest: &story.Decided{Action: "clear", Items: 11, TakenOut: 25_900},
			Sums: story.Sums{Money: story.Money{Billed: 1_240_000_000, Measured: 12, Ruled: 12, Saved: -4_200_000,
				Own: 31_000_000}},
		})
	}
	return m
}

func shown(t *testing.T, m Source) *Top {
	t.Helper()
	top := NewTop("127.0.0.1:7070", m, now)
	if err := top.Refresh(); err != nil {
		t.Fatal(err)
	}
	return top
}

// frameOf is the screen as one text.
func frameOf(top *Top, width, height int) string { return strings.Join(top.frame(width, height), "\n") }

func wantParts(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func TestListSaysAllOfAConversation(t *testing.T) {
	got := shown(t, source("c7f3a1", "d00000")).Print()
	wantParts(t, got, "epitome on 127.0.0.1:7070 · 2 conversations, 1 live · ", "USED▼", "c7f3a1", "1 min", "2 min",
		"41k/128k", "32 %", "97 %", "$1.24", "−$0.0042", "███·····", "gpt-5.2", "clear 11 items, 25.9k tokens")
	if strings.Contains(got, "\x1b") {
		t.Errorf("what is printed once has codes for a terminal: %q", got)
	}
}

func TestColumnsFallAwayWhereTheTerminalIsNarrow(t *testing.T) {
	top := shown(t, source("c7f3a1", "d00000"))
	f := func(width int, there string, gone ...string) {
		t.Helper()
		lines := top.frame(width, 20)
		for _, line := range lines {
			plainLine := strings.NewReplacer("\x1b[7m", "", "\x1b[0m", "").Replace(line)
			if n := utf8.RuneCountInString(plainLine); n > width {
				t.Errorf("at %d a line has %d characters: %q", width, n, line)
			}
		}
		all := strings.Join(lines, "\n")
		wantParts(t, all, there, "c7f3a1")
		for _, title := range gone {
			if strings.Contains(all, title) {
				t.Errorf("at %d there is still %s:\n%s", width, title, all)
			}
		}
	}
	f(160, "LAST DECISION")
	f(110, "LAST DECISION", "WINDOW")
	f(90, "MODEL", "WINDOW", "LAST DECISION")
	f(60, "SAVED", "MODEL", "TURNS", "BILLED")
	f(30, "NOW", "SAVED", "FULL")
	f(8, "c7f3a1")
}

func TestKeysChooseOpenAndGoBack(t *testing.T) {
	m := source("c1", "c2", "c3")
	top := shown(t, m)
	f := func(keys string, parts ...string) {
		t.Helper()
		for _, k := range keysIn([]byte(keys)) {
			if quits, asks := top.press(k); quits {
				t.Fatalf("%q quits", keys)
			} else if asks {
				_ = top.Refresh()
			}
		}
		wantParts(t, frameOf(top, 160, 20), parts...)
	}
	f("", "\x1b[7mc1 ", "\x1b[7mUSED▼\x1b[0m")
	f("\x1b[B", "\x1b[7mc2 ")
	f("\x1b[B\x1b[B\x1b[B", "\x1b[7mc3 ")
	f("k", "\x1b[7mc2 ")
	f("s", "\x1b[7mTURNS▼\x1b[0m")
	f("r", "\x1b[7mTURNS▲\x1b[0m")
	if got := m.asked[len(m.asked)-1]; got.Sort != story.SortTurns || !got.Rising {
		t.Errorf("asked was %+v", got)
	}
	f("\r", "conversation c2 · gpt-5.2 at openai · 12 turns", "billed $1.24 and $0.031 for summaries · saved",
		"why the second\n", "why the first\n", "offload 1, clear 2")
	f("\x1b[B", "why the first")
	if strings.Contains(frameOf(top, 160, 20), "why the second") {
		t.Error("one line down, the newest turn is shown still")
	}
	f("\x1b", "\x1b[7mc2 ")
	f("?", "Any key goes back")
	f("x", "\x1b[7mc2 ")
	f("/gpx\x7f", "filter by id, model or upstream: gp_")
	f("\r", "only those with gp")
	if got := m.asked[len(m.asked)-1]; got.Match != "gp" {
		t.Errorf("asked was %+v", got)
	}
	f("\x1b", "choose")
	if got := m.asked[len(m.asked)-1]; got.Match != "" {
		t.Errorf("asked was %+v", got)
	}
	for _, end := range []string{"q", "\x03"} {
		if quits, _ := top.press(keysIn([]byte(end))[0]); !quits {
			t.Errorf("%q does not quit", end)
		}
	}
}

func TestTheChosenConversationStaysInSight(t *testing.T) {
	var ids []string
	for i := range 50 {
		ids = append(ids, "c"+string(rune('A'+i)))
	}
	top := shown(t, source(ids...))
	for range 49 {
		top.press(keyDown)
	}
	lines := top.frame(100, 12)
	if len(lines) != 12 || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "\x1b[7m"+ids[49]) }) {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

func TestWhatIsGoneIsSaid(t *testing.T) {
	m := source("c1")
	top := shown(t, m)
	top.press(keyEnter)
	m.page, m.err = story.Page[story.Conversation]{}, nil
	if err := top.Refresh(); err != nil {
		t.Fatal(err)
	}
	wantParts(t, frameOf(top, 100, 20), "no conversation yet")
	m.err = errors.New("it is gone")
	_ = top.Refresh()
	wantParts(t, frameOf(top, 100, 20), "not of now: it is gone")
}

func TestHostileTextsDoNotReachTheTerminal(t *testing.T) {
	hostile := "\x1b]0;t\x07\u202e\x00\u009b31m\n" + strings.Repeat("m", 1<<20)
	m := source(hostile)
	m.page.Items[0].Model, m.page.Items[0].Upstream, m.page.Items[0].Latest.Action = hostile, hostile, hostile
	top := shown(t, m)
	texts := []string{top.Print(), frameOf(top, 200, 10)}
	top.press(keyEnter)
	texts = append(texts, frameOf(top, 200, 10))
	s := story.Summary{Version: hostile, Mode: hostile, By: "model", Notes: []string{hostile}}
	s.Rows = []story.Row{{Key: hostile}}
	texts = append(texts, Stats(s, 0), Stats(s, 80))
	st := story.Status{ID: hostile, Model: hostile, Last: hostile}
	texts = append(texts, Line(st), Status(st))
	for _, text := range texts {
		text = strings.NewReplacer("\x1b[7m", "", "\x1b[0m", "", "\n", "").Replace(text)
		if strings.ContainsAny(text, "\x1b\x07\u202e\x00\u009b") || len(text) > 20_000 {
			t.Errorf("%d bytes: %.300q", len(text), text)
		}
	}
	if strings.Contains(Line(st), "\n") {
		t.Error("the line has more than one")
	}
}

func TestStatsSayWhatIsUnknown(t *testing.T) {
	sums := story.Sums{
		Exchanges: 1200, TokensBefore: 100_000, TokensAfter: 25_000,
		Usage: story.UsageSums{Told: 1, Input: 1000, Read: 970, Output: 50, CacheInput: 1000},
		Money: story.Money{Measured: 1, Billed: 12_400_000_000, Ruled: 1, Raw: 20_000_000_000, Saved: 5_100_000_000,
			Own: 310_000_000, Uncharged: 1, Unpriced: 2, Beyond: 61, Died: 4},
		Observed: story.Seen{Exchanges: 1, TokensBefore: 5000, TokensAfter: 4000},
	}
	s := story.Summary{Version: "1.2", Mode: "on", By: "model", Total: sums,
		Rows: []story.Row{{Key: "gpt-5.2", Sums: sums}, {Key: ""}}}
	s.Prices.Old, s.Since = true, s.From.Add(48*time.Hour)
	wantParts(t, Stats(s, 0), "MODEL ", "gpt-5.2     1,200       0        0  100k   25k  75 %    97 %      50  $12.40  $5.10",
		"(none) ", " –       –      –\n", "BILLED leaves out the $0.310 that summaries cost, and SAVED is less that.",
		"SAVED has nothing of what 1 of the summaries cost: their price or usage is unknown.",
		"SAVED is by one estimate, of 1 request with a price that would have fitted: $20.00 without epitome.",
		"61 requests of 4 conversations would have been refused as they came", "Of 2 requests an amount is missing: a price or the usage is unknown.",
		"In mode observe, 1 request of 5k tokens would have become 4k. CAME, SENT, LESS and SAVED leave such requests out;", "Nothing is known from before", "The prices are of")
	u := &s.Total.Usage
	u.Counted, u.CacheInput = 1, 900
	wantParts(t, Stats(s, 0), "≥ 97 %    ≥ 50  $12.40", "OUTPUT is at least what stands there: 1 answer says nothing of its tokens.",
		"CACHED is at least what stands there: the answers to 100 of 1k tokens do not tell what the cache had.")
	u.Counted, u.Cut, s.Total.Money.AtLeast = 0, 2, 1
	wantParts(t, Stats(s, 0), "≥ 50  ≥ $12.40", "OUTPUT is at least what stands there: 2 answers did not come whole.",
		"BILLED is at least what stands there: 1 answer did not come whole, and what the model wrote last is not told.")
	u.Counted, u.Cut, s.Total.Money.AtLeast = 1, 0, 0
	u.Read, u.CacheInput = 0, 0
	wantParts(t, Stats(s, 0), "–    ≥ 50  $12.40", "CACHED is unknown: no answer tells what the provider's cache had.")
}

func TestStatusLineIsOneLine(t *testing.T) {
	f := func(s story.Status, want string) {
		t.Helper()
		if got := Line(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	saved, lost := 1.84, -0.0042
	f(story.Status{Tokens: 41_200, Window: 128_000, Share: .32, Cached: .97, Saved: &saved, Last: "clear 11 items"},
		"epitome 41k/128k 32 % · cache 97 % · saved $1.84 · clear 11 items")
	f(story.Status{Tokens: 900, Cached: -1}, "epitome 900 tokens")
	f(story.Status{Tokens: 900, Window: 1000, Share: .9, Cached: 0, Saved: &lost},
		"epitome 900/1k 90 % · cache 0 % · extra cost $0.0042")
}

func TestKeysAreReadAsTerminalsSendThem(t *testing.T) {
	f := func(sent string, want ...key) {
		t.Helper()
		if got := keysIn([]byte(sent)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", sent, got, want)
		}
	}
	f("")
	f("a", 'a')
	f("\x1b", keyEscape)
	f("\x1b[A\x1bOB\r", keyUp, keyDown, keyEnter)
	f("\x1b[5~\x1b[6~", keyPageUp, keyPageDown)
	f("\x1b[1;5Hq", 'q')
	f("\x1b[")
	f("é\x7f\x03", 'é', keyBack, keyQuit)
	f("\t\x01")
}

// A day that has not ended is told up to now.
func TestStatsEndNow(t *testing.T) {
	from := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	s := story.Summary{From: from, To: from.AddDate(0, 0, 2), Now: from.Add(36 * time.Hour)}
	wantParts(t, Stats(s, 0), "Nov 20 00:00 to Nov 21 12:00")
	s.Now = from.AddDate(0, 0, 9)
	wantParts(t, Stats(s, 0), "Nov 20 00:00 to Nov 22 00:00")
}
