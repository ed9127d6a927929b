package journal

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"epitome/event"
)

// ErrUnknown says that nothing is kept under an id.
var ErrUnknown = errors.New("there is no such conversation, or it is no longer kept")

// Conversation is a line of requests that extend one another.
type Conversation struct {
	ID         string    `json:"id"`
	Title      string    `json:"title,omitempty"`  // words of the user: whoever shows it asks for the owner first
	Folder     string    `json:"folder,omitempty"` // in which the agent works, or its project; likewise
	Kept       []string  `json:"kept,omitempty"`   // lines of the user that begin with "keep:", likewise
	Agent      string    `json:"agent,omitempty"`
	Parent     string    `json:"parent,omitempty"`
	Client     string    `json:"client,omitempty"`  // whose key its newest request came with; empty without keys
	Session    string    `json:"session,omitempty"` // of the client, as events name it
	Model      string    `json:"model"`
	Upstream   string    `json:"upstream"`
	Dialect    string    `json:"dialect"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	Live       bool      `json:"live"`
	Turns      int       `json:"turns"`                 // exchanges, with those that are not kept any more
	BeyondFrom int       `json:"beyond_from,omitempty"` // first turn that was larger than the window
	Raw        int       `json:"raw"`                   // tokens of the newest request, as it came
	Tools      bool      `json:"tools,omitempty"`       // its requests offer tools
	Level
	Latest   string `json:"latest,omitempty"` // the newest decision, such as "turn 7: clear 2 results, −9.1k tokens"
	Sums     Sums   `json:"sums"`
	Decision string `json:"-"` // key of the newest one

	Sides []Conversation `json:"-"` // side requests that belong to it; set by the console
}

// Level is how full the window of a conversation is, and what the provider's cache has of it.
type Level struct {
	Tokens   int          `json:"tokens"` // of the newest request, as it was sent
	Window   int          `json:"window"`
	Share    float64      `json:"share"`              // Tokens of Window
	Near     bool         `json:"near,omitempty"`     // the newest request is near the end of the window
	Cached   float64      `json:"cached"`             // part of all input that the provider's cache had; -1: unknown
	Notice   string       `json:"notice,omitempty"`   // why the newest request cannot be shortened or kept as it should
	Miss     event.Miss   `json:"miss,omitempty"`     // of the newest request with an answer
	Rebilled int          `json:"rebilled,omitempty"` // tokens that the provider's cache lost with it
	Clock    *event.Clock `json:"clock,omitempty"`    // of that cache; nil: not known

	// Of the newest request by category, and its lines, as in Shaping.
	TokensBefore event.Tokens `json:"tokens_before,omitzero"`
	TokensAfter  event.Tokens `json:"tokens_after,omitzero"`
	ClearLine    int          `json:"clear_line,omitempty"`
	CompactLine  int          `json:"compact_line,omitempty"`
}

// Observed reports whether all requests of the conversation were sent as they came, as mode observe has it.
func (c Conversation) Observed() bool {
	return c.Sums.Observed.Exchanges > 0 && c.Sums.Observed.Exchanges == c.Sums.Exchanges
}

// Story is a conversation with those of its turns that are kept, the oldest first.
type Story struct {
	Conversation
	Exchanges []event.Exchange `json:"exchanges"`
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	Next  int `json:"next,omitempty"` // the number of items before the next page; 0: there is none
	Total int `json:"total"`          // of all pages
}

// Status is what a status line shows of a conversation.
type Status struct {
	ID    string `json:"conversation"`
	Model string `json:"model"`
	Level
	Saved      *float64  `json:"saved_usd"` // null if no price is known
	Oversized  int64     `json:"beyond"`    // requests larger than the window
	BeyondFrom int       `json:"beyond_from,omitempty"`
	Money      Money     `json:"money"`
	Last       string    `json:"last,omitempty"`
	AsOf       time.Time `json:"as_of"`
}

// conversation is a Conversation as it is kept.
type conversation struct {
	Conversation // without what view works out

	// answered is the last exchange with an answer, with which the next one is compared. Its field Broke is of the
	// requests since then: one, not answered, was sent in another form.
	answered *event.Exchange
}

// conversationOf returns the conversation of an event; one that is not kept if the id is empty.
func (b *Book) conversationOf(id string, at time.Time) *conversation {
	if c := b.conversations[id]; c != nil {
		return c
	}
	c := &conversation{Conversation: Conversation{ID: id, Last: at}}
	if id == "" {
		return c
	}
	b.conversations[id] = c
	if len(b.conversations) > mostConversations*11/10 { // forget the oldest; the sums keep their figures
		byAge := func(x, y *conversation) int { return x.Last.Compare(y.Last) }
		all := slices.SortedFunc(maps.Values(b.conversations), byAge)
		for _, old := range all[:len(all)-mostConversations] {
			delete(b.conversations, old.ID)
		}
	}
	return c
}

// add takes over what an exchange says of its conversation.
func (c *conversation) add(e *event.Exchange, end time.Time) {
	if c.Turns == 0 {
		c.First = e.Start
	}
	c.Turns = max(c.Turns+1, e.Turn)
	if e.Bill.Outgrew {
		c.BeyondFrom = c.Turns
	}
	c.Last = end
	c.Model, c.Upstream = e.Model, e.Upstream
	c.Dialect = cmp.Or(e.Dialect, c.Dialect)
	c.Title, e.Title = cmp.Or(e.Title, c.Title), "" // exchanges are shown to others than the owner, too
	c.Folder, e.Folder = cmp.Or(e.Folder, c.Folder), ""
	c.Agent = cmp.Or(e.Agent, c.Agent)
	for _, line := range clipped(e.Kept) { // an older file may have more of them
		if !slices.Contains(c.Kept, line) {
			c.Kept = append(c.Kept, line)
		}
	}
	c.Kept = c.Kept[max(0, len(c.Kept)-mostKept):]
	e.Kept = nil
	c.Parent = cmp.Or(e.Parent, c.Parent)
	c.Decision = cmp.Or(e.Decision, c.Decision)
	c.Session = cmp.Or(e.Session, c.Session)
	c.Client = cmp.Or(e.Client, c.Client)
	if e.TokensBefore.Total() > 0 {
		c.Tokens = e.Sent()
		c.Raw = e.TokensBefore.Total()
		c.Tools = c.Tools || e.TokensBefore.Tools > 0
		c.Window = e.Window
		c.Near = event.IsNear(c.Tokens, e.Usable)
		c.TokensBefore, c.TokensAfter = e.TokensBefore, e.TokensAfter
		c.ClearLine, c.CompactLine = e.ClearLine, e.CompactLine
		c.Notice = ""
		if e.Code == event.CodeOverhead || e.Code == event.CodeUnkept {
			c.Notice = e.Reason
		}
	}
	if e.Decided && e.Mode == event.ModeOn {
		c.Latest = fmt.Sprintf("turn %d: %s", c.Turns, decided(e))
	}
	switch {
	case e.IsAnswered():
		answered := *e
		answered.Broke = false
		c.answered = &answered
		c.Miss, c.Rebilled = e.Miss, e.Rebilled
	case c.answered != nil && e.Broke && e.Mode == event.ModeOn:
		c.answered.Broke = true
	}
}

// decided says what an exchange has newly decided.
func decided(e *event.Exchange) string {
	step := event.Step(e)
	if step == "restore" {
		return "restored"
	}
	noun := "result"
	if e.Compacted > 0 {
		noun = "message"
	}
	items := english.Plural(e.Offloaded+e.Cleared+e.Compacted, noun, "")
	return fmt.Sprintf("%s %s, −%.1fk tokens", cmp.Or(step, e.Action), items, float64(e.TakenOut)/1000)
}

// view returns a copy of a conversation with everything worked out.
func (b *Book) view(c *conversation) Conversation {
	now := b.Now()
	shown := c.Conversation
	shown.Live = c.isLive(now)
	shown.Clock = b.Biller.Clock(c.answered)
	if shown.Window > 0 {
		shown.Share = float64(shown.Tokens) / float64(shown.Window)
	}
	shown.Cached = -1
	usage := &shown.Sums.Usage
	if usage.CacheInput > 0 {
		shown.Cached = float64(usage.Read) / float64(usage.CacheInput)
	}
	return shown
}

// isLive reports whether the last exchange was in the last two minutes.
func (c *conversation) isLive(now time.Time) bool { return now.Sub(c.Last) < 2*time.Minute }

// CountLive returns the number of conversations with an exchange in the last two minutes.
func (b *Book) CountLive() int {
	b.lock()
	defer b.mu.Unlock()
	return len(b.matching(func(c *conversation) bool { return c.isLive(b.Now()) }))
}

// matching returns the conversations that fit and had an exchange; the newest come first.
func (b *Book) matching(fits func(*conversation) bool) (all []*conversation) {
	for _, c := range b.conversations {
		if c.Turns > 0 && fits(c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y *conversation) int {
		return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// Conversations returns all conversations, the newest first.
func (b *Book) Conversations() []Conversation {
	b.lock()
	defer b.mu.Unlock()
	list := []Conversation{}
	for _, c := range b.matching(func(*conversation) bool { return true }) {
		list = append(list, b.view(c))
	}
	return list
}

// Conversation returns a conversation with its recent turns, or ErrUnknown.
func (b *Book) Conversation(id string) (Story, error) {
	b.lock()
	defer b.mu.Unlock()
	c := b.conversations[id]
	if c == nil || c.Turns == 0 {
		return Story{}, ErrUnknown
	}
	s := Story{Conversation: b.view(c), Exchanges: []event.Exchange{}}
	for _, n := range b.recent {
		if n.Exchange != nil && n.Exchange.Conversation == id {
			s.Exchanges = append(s.Exchanges, *n.Exchange)
		}
	}
	return s, nil
}

// IDs returns the IDs of the conversations whose IDs begin so.
func (b *Book) IDs(beginning string) (ids []string) {
	b.lock()
	defer b.mu.Unlock()
	for _, c := range b.matching(func(c *conversation) bool { return strings.HasPrefix(c.ID, beginning) }) {
		ids = append(ids, c.ID)
	}
	return ids
}

// Status returns the state of a conversation, or ErrUnknown: of the one with the id, else of the newest one of the
// client's session, else of the newest one. A client may not name its session in requests: if no conversation has the
// session, the newest one without any is meant. Agents have conversations of one exchange, for a title: those give way
// to longer ones of the last ten minutes.
func (b *Book) Status(id, session string) (Status, error) {
	b.lock()
	defer b.mu.Unlock()
	session = event.SessionOf(session)
	all := b.matching(func(c *conversation) bool {
		return id != "" && strings.HasPrefix(c.ID, id) || id == "" && (session == "" || c.Session == session || c.Session == "")
	})
	if len(all) == 0 {
		return Status{}, ErrUnknown
	}
	rank := func(c *conversation) (rank int) {
		if session != "" && c.Session == session {
			rank = 2
		}
		if c.Turns > 1 && b.Now().Sub(c.Last) < 10*time.Minute {
			rank++
		}
		return rank
	}
	c := b.view(slices.MaxFunc(all, func(x, y *conversation) int { return rank(x) - rank(y) })) // of equals the newest
	s := Status{
		ID: c.ID, Model: c.Model, Level: c.Level, Oversized: c.Sums.Money.Oversized, BeyondFrom: c.BeyondFrom,
		Money: c.Sums.Money, Last: c.Latest, AsOf: c.Last,
	}
	if gain, ok := s.Money.Gain(); ok {
		saved := float64(gain) / 1e9
		s.Saved = &saved
	}
	return s, nil
}
