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
	ID       string       `json:"id"`
	Title    string       `json:"title,omitempty"`  // words of the user: whoever shows it asks for the owner first
	Folder   string       `json:"folder,omitempty"` // in which the agent works, or its project; likewise
	Kept     []string     `json:"kept,omitempty"`   // lines of the user that begin with "keep:", likewise
	Agent    string       `json:"agent,omitempty"`
	Parent   string       `json:"parent,omitempty"`
	Client   string       `json:"client,omitempty"`  // whose key its newest request came with; empty without keys
	Session  string       `json:"session,omitempty"` // of the client, as events name it
	Model    string       `json:"model"`
	Upstream string       `json:"upstream"`
	Dialect  string       `json:"dialect"`
	First    time.Time    `json:"first"`
	Last     time.Time    `json:"last"`
	Live     bool         `json:"live"`
	Turns    int          `json:"turns"`  // exchanges, with those that are not kept any more
	Tokens   int          `json:"tokens"` // of the newest request, as it was sent
	Raw      int          `json:"raw"`    // and as it came
	Window   int          `json:"window"`
	Share    float64      `json:"share"`              // Tokens of Window
	Near     bool         `json:"near,omitempty"`     // the newest request is near the end of the window
	Cached   float64      `json:"cached"`             // part of the input that the provider's cache had; -1: unknown
	Latest   string       `json:"latest,omitempty"`   // the newest decision, such as "turn 7: clear 2 results, −9.1k tokens"
	Notice   string       `json:"notice,omitempty"`   // why the newest request cannot be shortened or kept, as it should be
	Miss     event.Miss   `json:"miss,omitempty"`     // of the newest request with an answer
	Rebilled int          `json:"rebilled,omitempty"` // likewise
	Clock    *event.Clock `json:"clock,omitempty"`    // of the provider's cache; nil: not known
	Sums     Sums         `json:"sums"`
	Decision string       `json:"-"` // key of the newest one
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
	ID        string       `json:"conversation"`
	Model     string       `json:"model"`
	Tokens    int          `json:"tokens"`
	Window    int          `json:"window"`
	Share     float64      `json:"share"`
	Near      bool         `json:"near,omitempty"`
	Cached    float64      `json:"cached"`
	Saved     *float64     `json:"saved_usd"` // null if no price is known
	Oversized int64        `json:"beyond"`    // requests that would have failed without epitome
	Last      string       `json:"last,omitempty"`
	Notice    string       `json:"notice,omitempty"`
	AsOf      time.Time    `json:"as_of"`
	Miss      event.Miss   `json:"miss,omitempty"`     // of the newest request with an answer
	Rebilled  int          `json:"rebilled,omitempty"` // tokens that the provider's cache lost with it
	Clock     *event.Clock `json:"clock,omitempty"`    // of that cache; nil: not known
	// Of the newest request by category, as in Shaping.
	TokensBefore event.Tokens `json:"tokens_before,omitzero"`
	TokensAfter  event.Tokens `json:"tokens_after,omitzero"`
}

// talk is a conversation as it is kept.
type talk struct {
	Conversation // without what view works out

	before, after event.Tokens // of the newest request

	// answered is the last exchange with an answer, with which the next one is compared. Its field Broke is of the
	// requests since then: one, not answered, was sent in another form.
	answered *event.Exchange
}

// talkOf returns what is kept of the conversation of an event; something that is not kept if the id is empty.
func (b *Book) talkOf(id string, at time.Time) *talk {
	if t := b.talks[id]; t != nil {
		return t
	}
	t := &talk{Conversation: Conversation{ID: id, Last: at}}
	if id == "" {
		return t
	}
	b.talks[id] = t
	if len(b.talks) > mostTalks*11/10 { // forget those that were used longest ago; the sums keep their figures
		all := slices.SortedFunc(maps.Values(b.talks), func(x, y *talk) int { return x.Last.Compare(y.Last) })
		for _, old := range all[:len(all)-mostTalks] {
			delete(b.talks, old.ID)
		}
	}
	return t
}

// add takes over what an exchange says of its conversation.
func (t *talk) add(e *event.Exchange, end time.Time) {
	if t.Turns == 0 {
		t.First = e.Start
	}
	t.Turns = max(t.Turns+1, e.Turn)
	t.Last = end
	t.Model, t.Upstream = e.Model, e.Upstream
	t.Dialect = cmp.Or(e.Dialect, t.Dialect)
	t.Title, e.Title = cmp.Or(e.Title, t.Title), "" // exchanges are shown to others than the owner, too
	t.Folder, e.Folder = cmp.Or(e.Folder, t.Folder), ""
	t.Agent = cmp.Or(e.Agent, t.Agent)
	for _, line := range e.Kept {
		line = strings.Clone(event.Clip(line))
		if !slices.Contains(t.Kept, line) {
			t.Kept = append(t.Kept, line)
		}
	}
	t.Kept = t.Kept[max(0, len(t.Kept)-50):] // the newest
	e.Kept = nil
	t.Parent = cmp.Or(e.Parent, t.Parent)
	t.Decision = cmp.Or(e.Decision, t.Decision)
	t.Session = cmp.Or(e.Session, t.Session)
	t.Client = cmp.Or(e.Client, t.Client)
	if e.TokensBefore.Total() > 0 {
		t.Tokens = e.Sent()
		t.Raw = e.TokensBefore.Total()
		t.Window = e.Window
		t.Near = event.IsNear(t.Tokens, e.Usable)
		t.before, t.after = e.TokensBefore, e.TokensAfter
		t.Notice = ""
		if e.Code == event.CodeOverhead || e.Code == event.CodeUnkept {
			t.Notice = e.Reason
		}
	}
	if e.Decided && e.Mode == event.ModeOn {
		t.Latest = fmt.Sprintf("turn %d: %s", t.Turns, decided(e))
	}
	switch {
	case e.IsAnswered():
		answered := *e
		answered.Broke = false
		t.answered = &answered
		t.Miss, t.Rebilled = e.Miss, e.Rebilled
	case t.answered != nil && e.Broke && e.Mode == event.ModeOn:
		t.answered.Broke = true
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
func (b *Book) view(t *talk) Conversation {
	now := b.Now()
	c := t.Conversation
	c.Sums = Sums{} // its maps go on changing
	c.Sums.add(&t.Sums)
	c.Live = t.isLive(now)
	c.Clock = b.Biller.Clock(t.answered, now)
	if c.Window > 0 {
		c.Share = float64(c.Tokens) / float64(c.Window)
	}
	cached, known := c.Sums.Usage.Cached()
	if !known {
		cached = -1
	}
	c.Cached = cached
	return c
}

// isLive reports whether the last exchange was in the last two minutes.
func (t *talk) isLive(now time.Time) bool { return t.Turns > 0 && now.Sub(t.Last) < 2*time.Minute }

// CountLive returns the number of conversations with an exchange in the last two minutes.
func (b *Book) CountLive() (n int) {
	b.lock()
	defer b.mu.Unlock()
	for _, t := range b.talks {
		if t.isLive(b.Now()) {
			n++
		}
	}
	return n
}

// matching returns the conversations that fit and had an exchange; the newest come first.
func (b *Book) matching(fits func(*talk) bool) (all []*talk) {
	for _, t := range b.talks {
		if t.Turns > 0 && fits(t) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(x, y *talk) int { return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.ID, y.ID)) })
	return all
}

// Conversations returns up to limit conversations whose id, model or upstream contains match, in either case, behind
// the first ones; the newest come first.
func (b *Book) Conversations(match string, first, limit int) Page[Conversation] {
	b.lock()
	defer b.mu.Unlock()
	match = strings.ToLower(match)
	all := b.matching(func(t *talk) bool {
		return strings.Contains(strings.ToLower(t.ID+"\n"+t.Model+"\n"+t.Upstream), match)
	})
	first = min(max(first, 0), len(all))
	end := min(first+limit, len(all))
	page := Page[Conversation]{Items: []Conversation{}, Total: len(all)}
	for _, t := range all[first:end] {
		page.Items = append(page.Items, b.view(t))
	}
	if end < len(all) {
		page.Next = end
	}
	return page
}

// Conversation returns a conversation with its recent turns, or ErrUnknown.
func (b *Book) Conversation(id string) (Story, error) {
	b.lock()
	defer b.mu.Unlock()
	t := b.talks[id]
	if t == nil || t.Turns == 0 {
		return Story{}, ErrUnknown
	}
	s := Story{Conversation: b.view(t), Exchanges: []event.Exchange{}}
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
	for _, t := range b.matching(func(t *talk) bool { return strings.HasPrefix(t.ID, beginning) }) {
		ids = append(ids, t.ID)
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
	all := b.matching(func(t *talk) bool {
		return t.ID == id || id == "" && (session == "" || t.Session == session || t.Session == "")
	})
	if len(all) == 0 {
		return Status{}, ErrUnknown
	}
	rank := func(t *talk) (rank int) {
		if session != "" && t.Session == session {
			rank = 2
		}
		if t.Turns > 1 && b.Now().Sub(t.Last) < 10*time.Minute {
			rank++
		}
		return rank
	}
	best := slices.MaxFunc(all, func(x, y *talk) int { return rank(x) - rank(y) }) // of equals the newest
	c := b.view(best)
	s := Status{
		ID: c.ID, Model: c.Model, Tokens: c.Tokens, Window: c.Window, Share: c.Share, Near: c.Near, Cached: c.Cached,
		Oversized: c.Sums.Money.Oversized, Last: c.Latest, Notice: c.Notice, AsOf: c.Last,
		Miss: c.Miss, Rebilled: c.Rebilled, Clock: c.Clock, TokensBefore: best.before, TokensAfter: best.after,
	}
	if money := c.Sums.Money; money.Compared > 0 || money.Own > 0 {
		saved := float64(money.Saved) / 1e9
		s.Saved = &saved
	}
	return s, nil
}

// Expiring returns the clocks that have not ended, and end after from and not after to.
func (b *Book) Expiring(from, to time.Time) (all []*event.Clock) {
	b.lock()
	defer b.mu.Unlock()
	for _, t := range b.talks {
		c := b.Biller.Clock(t.answered, b.Now())
		if c != nil && c.Left > 0 && c.Until.After(from) && !c.Until.After(to) {
			all = append(all, c)
		}
	}
	return all
}
