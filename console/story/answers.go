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

// liveFor is how long a conversation is called live after its last exchange.
const liveFor = 10 * time.Minute

// What the rows of a Summary may be told apart by.
const (
	ByDay          = "day"
	ByHour         = "hour"
	ByModel        = "model"
	ByUpstream     = "upstream"
	ByClient       = "client"
	ByConversation = "conversation"
)

// errBy says what rows may be told apart by.
var errBy = errors.New("cannot tell rows apart so: by is one of day, hour, model, upstream, client and conversation")

// Summary returns what became of all exchanges of a time, which is widened to whole hours, or to whole days where it is
// long ago or the rows are clients or conversations. An error says what to ask for.
func (b *Book) Summary(asked Span) (Summary, error) {
	from, to, by := asked.From, asked.To, cmp.Or(asked.By, ByDay)
	if !slices.Contains([]string{ByDay, ByHour, ByModel, ByUpstream, ByClient, ByConversation}, by) {
		return Summary{}, errBy
	}
	b.Settle()
	now := b.plugs.Now()
	s := Summary{
		Version: b.conf.Version, Mode: b.plugs.Mode(), Now: now, By: by, Rows: []Row{}, Prices: b.plugs.Prices(),
	}
	b.past.RLock()
	defer b.past.RUnlock()
	p := b.past
	s.Since = p.since
	if s.Notes = b.notes(); s.Since.IsZero() {
		s.Since = now
	}
	if to.IsZero() {
		to = endOf(p.hours, now).Add(1) // what happens now is in it
	}
	if from.IsZero() {
		from = s.Since
	}
	span := p.spanOf(from, to, by)
	if asked.From.IsZero() {
		span.from = firstOf(p, by, span.from)
	}
	s.From, s.To = span.from.In(p.zone), span.to.In(p.zone)
	total, rows := p.collect(span, by)
	s.Total = total.sums()
	for key, a := range rows {
		s.Rows = append(s.Rows, Row{key, a.sums()})
	}
	slices.SortFunc(s.Rows, func(x, y Row) int { return cmp.Compare(x.Key, y.Key) })
	s.Live = p.countLive(now)
	return s, nil
}

// firstOf is from, or when the first figures begin if that is before: hours and days of another zone, in which the
// machine was then, begin elsewhere.
func firstOf(p *past, by string, from time.Time) time.Time {
	first := from.Unix()
	if by == ByClient || by == ByConversation {
		for at := range p.shares { // of all figures
			first = min(first, at.Day)
		}
		return time.Unix(first, 0)
	}
	for _, slots := range [...]map[slot]*account{p.hours, p.days} {
		for at := range slots {
			first = min(first, at.Start)
		}
	}
	return time.Unix(first, 0)
}

// endOf is now, or when the newest hour of figures begins if that is later: a clock may have been set back.
func endOf(hours map[slot]*account, now time.Time) time.Time {
	for at := range hours {
		if start := time.Unix(at.Start, 0); start.After(now) {
			now = start
		}
	}
	return now
}

// CountLive is how many conversations had an exchange in the last ten minutes.
func (b *Book) CountLive() int {
	b.past.RLock()
	defer b.past.RUnlock()
	return b.past.countLive(b.plugs.Now())
}

func (p *past) countLive(now time.Time) (n int) {
	for _, t := range p.talks {
		if isLive(t, now) {
			n++
		}
	}
	return n
}

func isLive(t *talk, now time.Time) bool { return t.line.Turns > 0 && now.Sub(t.line.Last) < liveFor }

// span is a time from the beginning of an hour or a day up to another one, which is not in it.
type span struct{ from, to time.Time }

func (s span) holds(start int64) bool { return start >= s.from.Unix() && start < s.to.Unix() }

// spanOf widens a time to what figures are kept by.
func (p *past) spanOf(from, to time.Time, by string) span {
	daily := by == ByConversation || by == ByClient
	for at := range p.days {
		daily = daily || at.Start >= p.day(from) && at.Start <= p.day(to)
	}
	if !daily {
		s := span{time.Unix(p.hour(from), 0), time.Unix(p.hour(to), 0)}
		if s.to.Before(to) {
			s.to = s.to.Add(time.Hour)
		}
		return s
	}
	s := span{time.Unix(p.day(from), 0), time.Unix(p.day(to), 0)}
	if s.to.Before(to) {
		s.to = time.Unix(p.day(s.to.Add(36*time.Hour)), 0) // a day may have 25 hours
	}
	return s
}

// collect adds up what is in the span, all of it and by rows.
func (p *past) collect(within span, by string) (total *account, rows map[string]*account) {
	total, rows = &account{}, map[string]*account{}
	add := func(key string, a *account) {
		total.add(a)
		accountAt(rows, key).add(a)
	}
	switch by {
	case ByClient:
		for at, a := range p.shares {
			if within.holds(at.Day) {
				add(at.Client, a)
			}
		}
		return total, rows
	case ByConversation:
		addDays(within, p.rest, func(a *account) { add("", a) })
		for id, t := range p.talks {
			addDays(within, t.days, func(a *account) { add(id, a) })
		}
		return total, rows
	}
	for _, slots := range [...]map[slot]*account{p.hours, p.days} {
		for at, a := range slots {
			if within.holds(at.Start) {
				add(p.keyOf(at, by), a)
			}
		}
	}
	return total, rows
}

func addDays(within span, days map[int64]*account, add func(*account)) {
	for day, a := range days {
		if within.holds(day) {
			add(a)
		}
	}
}

// keyOf is the key of the row that a slot belongs to.
func (p *past) keyOf(at slot, by string) string {
	switch start := time.Unix(at.Start, 0).In(p.zone); by {
	case ByHour:
		return start.Format(time.RFC3339)
	case ByModel:
		return at.Model
	case ByUpstream:
		return at.Upstream
	default:
		return start.Format(time.DateOnly)
	}
}

// Conversation returns a conversation with its turns, or ErrUnknown.
func (b *Book) Conversation(id string) (Story, error) {
	b.Settle()
	b.past.RLock()
	defer b.past.RUnlock()
	t := b.past.talks[id]
	if t == nil || t.line.Turns == 0 {
		return Story{}, ErrUnknown
	}
	s := Story{Conversation: t.view(b.plugs.Now()), Exchanges: []event.Exchange{}}
	for _, seq := range t.events {
		switch n, _ := b.past.recent.find(seq); {
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
	for i := range s.Exchanges {
		s.CouldHave = append(s.CouldHave, s.CountHeld(i))
	}
	s.Forgotten = s.Turns - len(s.Exchanges)
	return s, nil
}

// view is the conversation as others see it.
func (t *talk) view(now time.Time) Conversation {
	c, all := t.line, account{}
	for _, a := range t.days {
		all.add(a)
	}
	c.Sums, c.Live, c.Cached = all.sums(), isLive(t, now), -1
	if c.Window > 0 {
		c.Share = float64(c.Tokens) / float64(c.Window)
	}
	if all.Cache.Input > 0 {
		c.Cached = float64(all.Cache.Read) / float64(all.Cache.Input)
	}
	if c.Latest != nil {
		latest := *c.Latest
		c.Latest = &latest
	}
	return c
}

// Exchange returns the exchange of that number, or ErrUnknown, which it is as well if the event of that number is none.
func (b *Book) Exchange(seq uint64) (event.Exchange, error) {
	b.Settle()
	b.past.RLock()
	defer b.past.RUnlock()
	n, ok := b.past.recent.find(seq)
	if !ok || n.Exchange == nil {
		return event.Exchange{}, ErrUnknown
	}
	return *n.Exchange, nil
}

// Since returns the events behind that number, and the number of the newest one. whole is false if some of them are not
// kept any more, or there never was an event of that number. Nobody may change what it returns.
func (b *Book) Since(seq uint64) (behind []Entry, newest uint64, whole bool) {
	b.Settle()
	b.past.RLock()
	defer b.past.RUnlock()
	if newest = b.past.seq; seq > newest {
		return nil, newest, false
	}
	r := &b.past.recent
	for i := r.from(seq + 1); i < r.count(); i++ {
		behind = append(behind, r.at(i))
	}
	return behind, newest, uint64(len(behind)) == newest-seq
}

// Status returns what a status line shows of a conversation; or ErrUnknown.
func (b *Book) Status(of Which) (Status, error) {
	b.Settle()
	b.past.RLock()
	defer b.past.RUnlock()
	now := b.plugs.Now()
	t := find(b.past, of, now)
	if t == nil || t.line.Turns == 0 {
		return Status{}, ErrUnknown
	}
	c := t.view(now)
	s := Status{
		ID: c.ID, Model: c.Model, Tokens: c.Tokens, Window: c.Window, Share: c.Share, Cached: c.Cached,
		Last: c.Latest.String(), AsOf: c.Last,
	}
	if money := c.Sums.Money; money.Ruled > 0 || money.Own > 0 {
		saved := float64(money.Saved) / nano
		s.Saved = &saved
	}
	return s, nil
}

// find is the conversation that is asked for; nil if there is none. Of a session that no conversation names, it is the
// one used last that names none: its client may not say what its session is called.
func find(p *past, of Which, now time.Time) *talk {
	if of.ID != "" {
		return p.talks[of.ID]
	}
	if of.Session == "" {
		return latest(p, now, func(*talk) bool { return true })
	}
	session := event.SessionOf(of.Session)
	if t := latest(p, now, func(t *talk) bool { return t.line.Session == session }); t != nil {
		return t
	}
	return latest(p, now, func(t *talk) bool { return t.line.Session == "" })
}

// latest is that of the conversations that fit with the exchange that ended last; nil if none fits. One of a single
// exchange, as agents have them for a title, only counts where no longer one is live.
func latest(p *past, now time.Time, fits func(*talk) bool) (best *talk) {
	for place := p.order.Front(); place != nil; place = place.Next() {
		t := place.Value.(*talk) //nolint:forcetypeassert // nothing else is in it
		switch {
		case t.line.Turns == 0 || !fits(t):
		case t.line.Turns > 1 && (best == nil || isLive(t, now)):
			return t
		case best == nil:
			best = t
		}
	}
	return best
}

// nano is how many nano-dollars a dollar has.
const nano = 1e9

// String is the decision in a few words; nil is none.
func (d *Decided) String() string {
	if d == nil {
		return ""
	}
	text := d.Action
	if d.Items > 0 {
		text += " " + strconv.Itoa(d.Items)
		if d.Items == 1 {
			text += " item"
		} else {
			text += " items"
		}
	}
	switch {
	case d.TakenOut >= 1000:
		text += fmt.Sprintf(", %.1fk tokens", float64(d.TakenOut)/1000)
	case d.TakenOut > 0:
		text += fmt.Sprintf(", %d tokens", d.TakenOut)
	}
	return strings.TrimSpace(text)
}
