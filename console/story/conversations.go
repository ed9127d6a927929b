package story

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"epitome/event"
)

// talk is a conversation as it is kept.
type talk struct {
	Conversation // without what view works out
	prior        *prior
	died         bool // one of its requests was larger than its window
}

// add takes over what an exchange tells of its conversation. died reports that it is the first one that was larger
// than its window.
func (t *talk) add(e *event.Exchange, at time.Time) (died bool) {
	if t.Turns == 0 {
		t.First = e.Start
	}
	t.Turns = max(t.Turns+1, e.Turn)
	t.Last = at
	t.Model, t.Upstream = e.Model, e.Upstream
	t.Dialect = cmp.Or(e.Dialect, t.Dialect)
	t.Title, e.Title = cmp.Or(e.Title, t.Title), "" // exchanges are shown to others than the owner, too
	t.Parent = cmp.Or(e.Parent, t.Parent)
	t.Session = cmp.Or(e.Session, t.Session)
	t.Client = cmp.Or(e.Client, t.Client)
	if e.TokensBefore.Total() > 0 {
		t.Tokens, t.Raw, t.Window, t.Usable = sent(e), e.TokensBefore.Total(), e.Window, int(e.Usable)
	}
	if e.Decided && e.Mode == event.ModeOn {
		t.Latest = &Decided{
			Turn: e.Turn, Seq: e.Seq, Time: at, Action: newAction(e),
			Items: e.Offloaded + e.Cleared + e.Compacted, TakenOut: e.TakenOut,
		}
	}
	switch {
	case isAnswered(e):
		t.prior = priorOf(e)
	case t.prior != nil && e.Broke && e.Mode == event.ModeOn:
		t.prior.broke = true
	}
	died = !t.died && e.Bill.Beyond && e.Mode == event.ModeOn && e.ShapeTime > 0
	t.died = t.died || died
	return died
}

// newAction returns the highest step that an exchange newly took; its own Action is what its conversation carries.
func newAction(e *event.Exchange) string {
	switch {
	case e.Rescue.Rescued:
		return "rescue"
	case e.Compacted > 0:
		return "compact"
	case e.Cleared > 0:
		return "clear"
	case e.Offloaded > 0:
		return "offload"
	}
	return e.Action
}

// isLive reports whether a conversation had an exchange in the last ten minutes.
func (t *talk) isLive(now time.Time) bool { return t.Turns > 0 && now.Sub(t.Last) < 10*time.Minute }

// view returns a copy of the conversation with everything worked out.
func (t *talk) view(now time.Time) Conversation {
	c := t.Conversation
	c.Sums = Sums{}
	c.Sums.add(&t.Sums)
	c.Live, c.Cached = t.isLive(now), -1
	if c.Window > 0 {
		c.Share = float64(c.Tokens) / float64(c.Window)
	}
	if input := c.Sums.Usage.CacheInput; input > 0 {
		c.Cached = float64(c.Sums.Usage.Read) / float64(input)
	}
	return c
}

// Listing selects conversations, and their order.
type Listing struct {
	Cursor string // Next of the page before; empty: the beginning
	Limit  int    // at most; 0: 100
	Sort   string // last, turns, tokens, share, cached, billed or saved, the largest first; empty: last
	Rising bool   // the smallest first
	Match  string // a part of the id, the model or the upstream, in any case
	Live   bool   // only those with an exchange in the last ten minutes
}

// orders are the values by which conversations are sorted.
var orders = map[string]func(c *Conversation) float64{
	"last":   func(c *Conversation) float64 { return float64(c.Last.UnixMicro()) },
	"turns":  func(c *Conversation) float64 { return float64(c.Turns) },
	"tokens": func(c *Conversation) float64 { return float64(c.Tokens) },
	"share":  func(c *Conversation) float64 { return c.Share },
	"cached": func(c *Conversation) float64 { return c.Cached },
	"billed": func(c *Conversation) float64 { return float64(c.Sums.Money.Billed) },
	"saved":  func(c *Conversation) float64 { return float64(c.Sums.Money.Saved) },
}

// Conversations returns a page of the selected conversations. The error is ErrUnknown if the cursor is not one, and
// else says what to ask for.
func (b *Book) Conversations(l Listing) (Page[Conversation], error) {
	order := orders[cmp.Or(l.Sort, "last")]
	if order == nil {
		return Page[Conversation]{}, errors.New("sort must be last, turns, tokens, share, cached, billed or saved")
	}
	first, err := strconv.ParseUint(cmp.Or(l.Cursor, "0"), 10, 32)
	if err != nil {
		return Page[Conversation]{}, ErrUnknown
	}
	b.lock()
	defer b.mu.Unlock()
	now, match := b.plugs.Now(), strings.ToLower(l.Match)
	all := []Conversation{}
	for _, t := range b.talks {
		text := strings.ToLower(t.ID + "\n" + t.Model + "\n" + t.Upstream)
		if t.Turns > 0 && strings.Contains(text, match) && (!l.Live || t.isLive(now)) {
			all = append(all, t.view(now))
		}
	}
	slices.SortFunc(all, func(x, y Conversation) int {
		by := cmp.Compare(order(&y), order(&x))
		if l.Rising {
			by = -by
		}
		return cmp.Or(by, cmp.Compare(x.ID, y.ID))
	})
	begin := min(int(first), len(all))
	end := min(begin+cmp.Or(l.Limit, 100), len(all))
	page := Page[Conversation]{Items: all[begin:end], Total: len(all)}
	if end < len(all) {
		page.Next = strconv.Itoa(end)
	}
	return page, nil
}

// Conversation returns a conversation with its recent turns, or ErrUnknown.
func (b *Book) Conversation(id string) (Story, error) {
	b.lock()
	defer b.mu.Unlock()
	t := b.talks[id]
	if t == nil || t.Turns == 0 {
		return Story{}, ErrUnknown
	}
	s := Story{Conversation: t.view(b.plugs.Now()), Exchanges: []event.Exchange{}}
	for _, n := range b.recent {
		switch {
		case n.common().conversation != id:
		case n.Exchange != nil:
			s.Exchanges = append(s.Exchanges, *n.Exchange)
		case n.Compaction != nil:
			s.Compactions = append(s.Compactions, *n.Compaction)
		case n.Warning != nil:
			s.Warnings = append(s.Warnings, *n.Warning)
		case n.Summary != nil:
			s.Summaries = append(s.Summaries, *n.Summary)
		}
	}
	s.Forgotten = s.Turns - len(s.Exchanges)
	return s, nil
}

// CountLive returns the number of conversations with an exchange in the last ten minutes.
func (b *Book) CountLive() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.countLive()
}

func (b *Book) countLive() (n int) {
	for _, t := range b.talks {
		if t.isLive(b.plugs.Now()) {
			n++
		}
	}
	return n
}

// Which selects the conversation of a status line: by id, else the newest one of the client's session, else the newest
// one.
type Which struct{ ID, Session string }

// Status returns the state of a conversation, or ErrUnknown.
func (b *Book) Status(of Which) (Status, error) {
	b.lock()
	defer b.mu.Unlock()
	now := b.plugs.Now()
	t := b.find(of, now)
	if t == nil || t.Turns == 0 {
		return Status{}, ErrUnknown
	}
	c := t.view(now)
	s := Status{
		ID: c.ID, Model: c.Model, Tokens: c.Tokens, Window: c.Window, Share: c.Share, Cached: c.Cached,
		Last: c.Latest.String(), AsOf: c.Last,
	}
	if money := c.Sums.Money; money.Ruled > 0 || money.Own > 0 {
		saved := float64(money.Saved) / 1e9
		s.Saved = &saved
	}
	return s, nil
}

// find returns the selected conversation, or nil. A client may not name its session in requests: if no conversation
// has the session, those without one are searched.
func (b *Book) find(of Which, now time.Time) *talk {
	if of.ID != "" {
		return b.talks[of.ID]
	}
	if of.Session == "" {
		return b.newest(now, func(*talk) bool { return true })
	}
	session := event.SessionOf(of.Session)
	if t := b.newest(now, func(t *talk) bool { return t.Session == session }); t != nil {
		return t
	}
	return b.newest(now, func(t *talk) bool { return t.Session == "" })
}

// newest returns the conversation that was used last. Agents have conversations of one exchange, for a title: those
// count only if no longer one is live.
func (b *Book) newest(now time.Time, fits func(*talk) bool) (best *talk) {
	isLong := func(t *talk) bool { return t.Turns > 1 && t.isLive(now) }
	for _, t := range b.talks {
		if t.Turns == 0 || !fits(t) {
			continue
		}
		if best == nil || isLong(t) && !isLong(best) || isLong(t) == isLong(best) && t.Last.After(best.Last) {
			best = t
		}
	}
	return best
}

// String returns the decision in a few words, such as "clear 11 items, 25.9k tokens"; nil is none.
func (d *Decided) String() string {
	if d == nil {
		return ""
	}
	text := d.Action
	switch {
	case d.Items == 1:
		text += " 1 item"
	case d.Items > 1:
		text += fmt.Sprintf(" %d items", d.Items)
	}
	switch {
	case d.TakenOut >= 1000:
		text += fmt.Sprintf(", %.1fk tokens", float64(d.TakenOut)/1000)
	case d.TakenOut > 0:
		text += fmt.Sprintf(", %d tokens", d.TakenOut)
	}
	return text
}
