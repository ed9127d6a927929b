package money

import (
	"strings"
	"sync"
	"time"

	"epitome/event"
)

// How an upstream is paid. A Subscription's amounts are what list prices would be; what is Free costs 0.
const (
	ByTokens     = "tokens"
	Subscription = "subscription"
	Free         = "free"
)

// Billings returns the ways in which an upstream may be paid. The first one, which is none, is ByTokens.
func Billings() []string { return []string{"", ByTokens, Subscription, Free} }

// Seller is an upstream, as far as prices go.
type Seller struct {
	Host    string // of its base URL, without a port
	Billing string // one of Billings
}

// Settings are what a Biller goes by.
type Settings struct {
	Own     Config
	Sellers map[string]Seller // by the upstream's name
	Life    time.Duration     // for which caches hold what they have; 0 is without end
}

// Biller works out what exchanges cost. Make one with New; its methods may be called from any goroutine.
type Biller struct {
	table    func() *Table // read when the first price is asked for
	own      owns
	settings Settings

	mu    sync.Mutex
	known map[question]*answer // at most maxKnown
}

// question is which model costs what at whom.
type question struct{ upstream, model string }

// answer is a price in one minute.
type answer struct {
	price  *Price // nil: none is known
	minute time.Time
}

// Model names come from requests: whoever makes them up may not fill the memory.
const (
	maxKnown = 1024
	keeps    = time.Minute // an answer: prices change at whole minutes
)

// New makes a Biller of the built-in table.
func New(s Settings) *Biller {
	return &Biller{table: sync.OnceValue(Builtin), own: s.Own.owns(), settings: s, known: map[question]*answer{}}
}

// Table returns the table that is asked where the user says nothing.
func (b *Biller) Table() *Table { return b.table() }

// mostName is the longest name, in bytes, that anybody sells a model by.
const mostName = 256

// Price returns the price of a model at an upstream; nil if none is known.
func (b *Biller) Price(upstream, model string, at time.Time) *Price {
	if len(model) > mostName { // it is neither kept nor compared: requests wait for that
		return nil
	}
	q, minute := question{upstream, model}, at.Truncate(keeps)
	b.mu.Lock()
	a := b.known[q]
	b.mu.Unlock()
	if a != nil && a.minute.Equal(minute) {
		return a.price
	}
	p := b.find(q, at)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) >= maxKnown {
		clear(b.known)
	}
	b.known[question{strings.Clone(upstream), strings.Clone(model)}] = &answer{p, minute}
	return p
}

// CachedPrice returns what a cached token of a model at an upstream costs, where a new one costs 1. ok is false if that
// is not known.
func (b *Biller) CachedPrice(upstream, model string, at time.Time) (share float64, ok bool) {
	p := b.Price(upstream, model, at)
	if p == nil {
		return 0, false
	}
	return p.CachedShare()
}

func (b *Biller) find(q question, at time.Time) *Price {
	s := b.settings.Sellers[q.upstream]
	if s.Billing == Free {
		return &Price{ID: Free}
	}
	if own := b.own.of(q.model); own != nil {
		return own
	}
	return b.table().Find(s.Host, q.model, at)
}

// Charge returns what asking for a summary cost.
func (b *Biller) Charge(s *event.Summary) event.Charge {
	c := s.Cost
	p := b.Price(s.Upstream, s.Model, s.Time)
	if p == nil || c.Requests == 0 {
		return event.Charge{}
	}
	if c.Untold > 0 && !p.isNothing() {
		return event.Charge{}
	}
	u := event.Usage{
		Source: event.UsageProvider, Input: c.InputTokens, Read: c.CachedTokens, Write5m: c.WrittenTokens,
		Output: c.OutputTokens,
	}
	single := Price{ID: p.ID, Base: p.At(u.Input / c.Requests)} // by the size of one request
	nano, _, why := single.Cost(&u)
	if why != "" {
		return event.Charge{}
	}
	return event.Charge{Price: p.ID, Nano: nano}
}

// Bill puts into an exchange what it cost. pause is how long before it the conversation's request before was sent;
// negative if there was none.
func (b *Biller) Bill(e *event.Exchange, pause time.Duration) {
	e.Bill = event.Bill{}
	bill := &e.Bill
	bill.Subscription = b.settings.Sellers[e.Upstream].Billing == Subscription
	if e.Model == "" {
		bill.Unpriced = event.UnpricedOther
		return
	}
	p := b.Price(e.Upstream, e.Model, e.Start.Add(e.Duration))
	if p != nil {
		bill.Price = p.ID
	}
	if e.Status < 200 || e.Status >= 400 || e.FirstByte == 0 {
		bill.Unpriced = event.UnpricedFailed
		return
	}
	measure(bill, p, &e.Usage)
	b.weigh(e, p, pause)
}

// measure bills what the provider has told: an amount, or tokens.
func measure(bill *event.Bill, p *Price, u *event.Usage) {
	switch {
	case u.Charged > 0:
		bill.Billed, bill.Measured = u.Charged, true
	case p != nil && p.isNothing(): // whatever the answer says
		bill.Measured = true
	case p == nil:
		bill.Unpriced = event.UnpricedModel
	default:
		least, most, why := p.Cost(u)
		if bill.Unpriced = why; why != "" {
			return
		}
		bill.Billed, bill.Measured, bill.AtLeast = least, true, u.Cut
		if most > least {
			bill.Most = most
		}
	}
}

// weigh holds the request as it came and as it was sent to one ruler.
func (b *Biller) weigh(e *event.Exchange, p *Price, pause time.Duration) {
	bill, raw, sent := &e.Bill, e.TokensBefore.Total(), e.TokensAfter.Total()
	if e.Window > 0 && raw > e.Window || e.Rescue.Outgrew(raw) {
		bill.Beyond = true
		return
	}
	if raw == 0 || sent == 0 {
		return
	}
	if p == nil {
		bill.Unpriced = event.UnpricedModel
		return
	}
	s := scaleOf(p, e)
	if s.ruler.Life = b.settings.Life; s.forHour && s.ruler.Life > 0 {
		s.ruler.Life = max(s.ruler.Life, time.Hour)
	}
	if s.ruler.Expires(pause) {
		s.ruler.Least = max(raw, sent) + 1 // nothing is held any more
	}
	rawNano, why := s.cost(raw, int(e.HeldBefore))
	sentNano, whyNot := s.cost(sent, int(e.HeldAfter))
	if why != "" || whyNot != "" {
		bill.Unpriced = event.UnpricedCached
		return
	}
	bill.Raw, bill.Sent, bill.Ruled = rawNano, sentNano, true
}

// scale is a ruler with a price. What the cache does is taken from the answer where that shows it, and is the same for
// both requests.
type scale struct {
	price   *Price
	ruler   Ruler
	output  int
	writes  bool // what is new is written to the cache, at a price of its own
	forHour bool
}

// scaleOf returns the scale of an exchange. A provider that caches what it is told to, and has read and written
// nothing, was not told to.
func scaleOf(p *Price, e *event.Exchange) scale {
	s := scale{price: p, ruler: UsualRuler(), output: e.Usage.Output}
	u := &e.Usage
	s.writes = p.Base.Write5m >= 0
	if u.Write1h > 0 && u.Write5m == 0 {
		s.forHour = true
	}
	unused := u.Source == event.UsageProvider && !u.CacheUnknown && u.Read+u.Write5m+u.Write1h == 0
	if unused && e.Dialect == markedDialect {
		s.writes, s.ruler.Least = false, max(e.TokensBefore.Total(), e.TokensAfter.Total())+1
	}
	return s
}

// markedDialect is the dialect in which a client marks what is to be cached.
const markedDialect = "messages"

// cost returns what a request costs of which so many tokens stood in the request before.
func (s *scale) cost(tokens, held int) (nano int64, why string) {
	u := event.Usage{Source: event.UsageProvider, Input: tokens, Read: s.ruler.Cached(tokens, held), Output: s.output}
	switch {
	case s.forHour:
		u.Write1h = u.Input - u.Read
	case s.writes:
		u.Write5m = u.Input - u.Read
	}
	nano, _, why = s.price.Cost(&u)
	return nano, why
}
