package story

import (
	"cmp"
	"container/list"
	"sync"
	"time"

	"epitome/event"
)

// What is kept in memory at most.
const (
	mostEntries = 5_000 // events
	mostTalks   = 2_000 // conversations
	mostModels  = 50    // that are told apart; clients choose their names
)

// finely is how long figures are kept by the hour; behind that, by the day.
const finely = 8 * 24 * time.Hour

// OtherModels is the model of figures once more models were named than are told apart.
const OtherModels = "other"

// slot is what figures are told apart by. Start is when its hour or day begins, in seconds since 1970.
type slot struct {
	Start    int64  `json:"start"`
	Upstream string `json:"upstream"`
	Model    string `json:"model"`
}

// share is what figures of clients are told apart by.
type share struct {
	Day    int64  `json:"day"`    // when it begins, in seconds since 1970
	Client string `json:"client"` // empty: of none
}

// past is what has happened, folded. Only the writer changes it, under the lock; who reads it elsewhere holds that too.
type past struct {
	sync.RWMutex

	zone   *time.Location // of its hours and days
	seq    uint64         // of the newest event
	since  time.Time      // of the oldest one
	hours  map[slot]*account
	days   map[slot]*account  // of the time before finely
	shares map[share]*account // all of it once more, by client
	rest   map[int64]*account // by day: what is of no conversation, or of one that is not kept any more
	talks  map[string]*talk
	order  *list.List // of *talk, the one used last in front
	models map[string]bool
	recent recent
}

// talk is a conversation in the making.
type talk struct {
	line   Conversation // without what is worked out when one asks
	prior  *prior
	died   bool               // it had a request beyond its window
	days   map[int64]*account // by the beginning of the day
	events []uint64           // numbers of those that are kept of it, the oldest first
	place  *list.Element      // in the order
}

func newPast(zone *time.Location) *past {
	return &past{
		zone: zone, hours: map[slot]*account{}, days: map[slot]*account{}, rest: map[int64]*account{},
		shares: map[share]*account{},
		talks:  map[string]*talk{}, order: list.New(), models: map[string]bool{},
	}
}

// add folds an event that is complete.
func (p *past) add(n Entry) {
	p.seq = max(p.seq, n.Seq())
	at := n.Time()
	if p.since.IsZero() || at.Before(p.since) {
		p.since = at
	}
	t := p.talkOf(n)
	if t != nil {
		t.events = append(t.events, n.Seq())
	}
	switch {
	case n.Exchange != nil:
		p.addExchange(n.Exchange, t)
	case n.Summary != nil && (n.Summary.Own.Nano != 0 || n.Summary.IsUncharged()):
		s, whose := n.Summary, share{Day: p.day(at)}
		if t != nil {
			whose.Client = t.line.Client
		}
		p.account(at, s.Upstream, s.Model).addOwn(s)
		accountAt(p.shares, whose).addOwn(s)
		p.daily(at, t).addOwn(s)
	}
	p.push(n)
}

func (p *past) addExchange(e *event.Exchange, t *talk) {
	at, died := Entry{Exchange: e}.Time(), false
	if t != nil {
		died = e.Bill.Beyond && e.Mode == event.ModeOn && e.ShapeTime > 0 && !t.died
		t.died = t.died || died
		t.note(e, at)
	}
	p.account(at, e.Upstream, e.Model).addExchange(e, died)
	accountAt(p.shares, share{p.day(at), e.Client}).addExchange(e, died)
	p.daily(at, t).addExchange(e, died)
}

// account is where figures of a time, upstream and model are counted.
func (p *past) account(at time.Time, upstream, model string) *account {
	if !p.models[model] && len(p.models) >= mostModels {
		model = OtherModels
	}
	p.models[model] = true
	return accountAt(p.hours, slot{p.hour(at), upstream, model})
}

// daily is where figures of a day and a conversation are counted; t is nil if they are of none.
func (p *past) daily(at time.Time, t *talk) *account {
	if t == nil {
		return accountAt(p.rest, p.day(at))
	}
	return accountAt(t.days, p.day(at))
}

func accountAt[K comparable](accounts map[K]*account, at K) *account {
	a := accounts[at]
	if a == nil {
		a = &account{}
		accounts[at] = a
	}
	return a
}

// hour is when the hour of a time begins, in seconds since 1970.
func (p *past) hour(at time.Time) int64 {
	at = at.In(p.zone)
	return at.Add(-time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second).Unix()
}

// day is when the day of a time begins, in seconds since 1970.
func (p *past) day(at time.Time) int64 {
	year, month, day := at.In(p.zone).Date()
	start := time.Date(year, month, day, 0, 0, 0, 0, p.zone)
	if start.Day() != day { // clocks are put forward at midnight: the day begins at one
		start = start.Add(time.Hour)
	}
	return start.Unix()
}

// talkOf is the conversation of an event, which is the one used last from now on; nil if it is of none. One that has no
// exchange yet is told to nobody.
func (p *past) talkOf(n Entry) *talk {
	id := n.talk()
	t := p.talks[id]
	switch {
	case id == "":
		return nil
	case t == nil:
		t = &talk{line: Conversation{ID: id}, days: map[int64]*account{}}
		t.place = p.order.PushFront(t)
		p.talks[id] = t
		p.forgetTalks()
	default:
		p.order.MoveToFront(t.place)
	}
	if t.line.Turns == 0 {
		t.line.Last = n.Time() // until it has an exchange, when it was last told of
	}
	return t
}

// forgetTalks lets go of the conversations that were used longest ago. Their figures stay, under no name.
func (p *past) forgetTalks() {
	for len(p.talks) > mostTalks {
		p.drop(p.order.Back().Value.(*talk)) //nolint:forcetypeassert // nothing else is in it
	}
}

// drop lets go of a conversation, but for its figures.
func (p *past) drop(t *talk) {
	p.order.Remove(t.place)
	delete(p.talks, t.line.ID)
	for day, a := range t.days {
		accountAt(p.rest, day).add(a)
	}
}

// push keeps an event among the newest ones, and lets go of the oldest one for it.
func (p *past) push(n Entry) {
	gone := p.recent.push(n)
	if t := p.talks[gone.talk()]; t != nil && len(t.events) > 0 && t.events[0] == gone.Seq() {
		t.events = t.events[1:]
	}
}

// note takes over what an exchange tells of its conversation.
func (t *talk) note(e *event.Exchange, at time.Time) {
	c := &t.line
	if c.Turns == 0 {
		c.First = e.Start
	}
	c.Turns = max(c.Turns+1, e.Turn)
	c.Last = at
	c.Model, c.Upstream = e.Model, e.Upstream
	c.Dialect = cmp.Or(e.Dialect, c.Dialect)
	c.Title, e.Title = cmp.Or(e.Title, c.Title), "" // exchanges are shown to others than the owner, too
	c.Parent = cmp.Or(e.Parent, c.Parent)
	c.Session = cmp.Or(e.Session, c.Session)
	c.Client = cmp.Or(e.Client, c.Client)
	if e.TokensBefore.Total() > 0 {
		c.Tokens, c.Raw, c.Window, c.Usable = sent(e), e.TokensBefore.Total(), e.Window, int(e.Usable)
	}
	if e.Decided && e.Mode == event.ModeOn {
		c.Latest = &Decided{
			Turn: e.Turn, Seq: e.Seq, Time: at, Action: acted(e),
			Items: e.Offloaded + e.Cleared + e.Compacted, TakenOut: e.TakenOut,
		}
	}
	switch {
	case isConversation(e):
		t.prior = priorOf(e)
	case t.prior != nil && e.Broke && e.Mode == event.ModeOn:
		t.prior.Broke = true
	}
}

// acted is the highest rung that has newly acted: an exchange's own action says what its conversation carries.
func acted(e *event.Exchange) string {
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

// expire puts what is older than finely together by the day, and lets go of what is older than keep.
func (p *past) expire(now time.Time, keep time.Duration) {
	gone := now.Add(-keep)
	last := p.day(gone)
	for at, a := range p.hours {
		start := time.Unix(at.Start, 0)
		if now.Sub(start) <= finely && at.Start >= last {
			continue
		}
		accountAt(p.days, slot{p.day(start), at.Upstream, at.Model}).add(a)
		delete(p.hours, at)
	}
	if !p.since.IsZero() && p.since.Before(gone) {
		p.since = gone
	}
	for at := range p.days {
		if at.Start < last {
			delete(p.days, at)
		}
	}
	for at := range p.shares {
		if at.Day < last {
			delete(p.shares, at)
		}
	}
	dropBefore(p.rest, last)
	for _, t := range p.talks {
		dropBefore(t.days, last)
		if t.line.Last.Before(gone) {
			p.drop(t)
		}
	}
}

func dropBefore(days map[int64]*account, first int64) {
	for day := range days {
		if day < first {
			delete(days, day)
		}
	}
}
