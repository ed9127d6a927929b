package money

import (
	"sync"
	"sync/atomic"
	"time"

	"epitome/event"
	"epitome/internal/unit"
)

// Billings are the ways in which an upstream is paid; empty is by tokens. The amounts of a subscription are what list
// prices would be; an upstream that is free costs 0.
const (
	ByTokens     = "tokens"
	Subscription = "subscription"
	Free         = "free"
)

// Seller is an upstream, as far as prices go.
type Seller struct {
	Host    string // of its base URL, without a port
	Billing string
}

// Settings say what a Biller charges by.
type Settings struct {
	Own     Config
	Sellers map[string]Seller // by the upstream's name
	Life    time.Duration     // for which caches hold what they have; 0 is without end
}

// Biller works out what exchanges cost, by prices from its settings, and else from the built-in table. Make one with New;
// its methods may be called from any goroutine.
type Biller struct{ charging atomic.Pointer[charging] }

// charging is what a Biller knows between two calls of Configure.
type charging struct {
	Settings
	own []ownPrice

	mu   sync.Mutex
	rows map[soldModel]*model // of the built-in table, as finding one takes long; nil: none is known
}

// soldModel is a model's name at a host.
type soldModel struct{ host, name string }

// New returns a Biller.
func New(s Settings) *Biller {
	b := &Biller{}
	b.Configure(s)
	return b
}

// Configure puts other settings in force.
func (b *Biller) Configure(s Settings) {
	b.charging.Store(&charging{Settings: s, own: s.Own.prices(), rows: map[soldModel]*model{}})
}

// Life returns how long caches hold what they have; 0 is without end.
func (b *Biller) Life() time.Duration { return b.charging.Load().Life }

// Price returns the price of a model at an upstream; nil if none is known.
func (b *Biller) Price(upstream, model string, at time.Time) *Price {
	const longest = 256 // bytes; nobody sells a model by a longer name
	if len(model) > longest {
		return nil
	}
	c := b.charging.Load()
	s := c.Sellers[upstream]
	if s.Billing == Free {
		return &Price{Free, &Rate{}, &Rate{}, &Rate{}, &Rate{}, &Rate{}}
	}
	for i := range c.own {
		if unit.Match(c.own[i].pattern, model) {
			return &c.own[i].price
		}
	}
	return c.row(soldModel{s.Host, model}).price(at)
}

// row returns the row of the built-in table for a model; nil if there is none. Clients choose names of models, so it
// remembers the first thousand that it is asked for.
func (c *charging) row(m soldModel) *model {
	c.mu.Lock()
	defer c.mu.Unlock()
	row, known := c.rows[m]
	if !known {
		row = Builtin().find(m.host, m.name)
		if len(c.rows) < 1000 {
			c.rows[m] = row
		}
	}
	return row
}

// CachedPrice returns what a cached token of a model at an upstream costs now, where a new one costs 1. ok is false if that
// is not known.
func (b *Biller) CachedPrice(upstream, model string) (share float64, ok bool) {
	if p := b.Price(upstream, model, time.Now()); p != nil {
		share, _, _, ok = p.Relative()
	}
	return share, ok
}

// Charge returns what asking for a summary cost.
func (b *Biller) Charge(s *event.Summary) event.Charge {
	c := s.Cost
	p := b.Price(s.Upstream, s.Model, s.Time)
	if p == nil || c.Requests == 0 || c.Untold > 0 && !p.isNothing() {
		return event.Charge{}
	}
	u := event.Usage{Input: c.InputTokens, Read: c.CachedTokens, Write5m: c.WrittenTokens, Output: c.OutputTokens}
	nano, why := p.cost(&u, c.InputTokens/c.Requests)
	if why != "" {
		return event.Charge{}
	}
	return event.Charge{Price: p.ID, Nano: nano}
}

// Bill puts into an exchange what it cost. pause is how long before it the conversation's last request was sent;
// negative if there was none.
func (b *Biller) Bill(e *event.Exchange, pause time.Duration) {
	e.Bill = event.Bill{}
	bill := &e.Bill
	bill.Subscription = b.charging.Load().Sellers[e.Upstream].Billing == Subscription
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
	b.compare(e, p, pause)
}

// measure bills an exchange by the amount or the tokens that the provider reports.
func measure(bill *event.Bill, p *Price, u *event.Usage) {
	switch {
	case u.Charged > 0:
		bill.Billed, bill.Measured = u.Charged, true
	case p != nil && p.isNothing(): // whatever the answer says
		bill.Measured = true
	case p == nil:
		bill.Unpriced = event.UnpricedModel
	default:
		if bill.Billed, bill.Unpriced = p.Cost(u); bill.Unpriced == "" {
			bill.Measured, bill.AtLeast = true, u.Cut || u.CacheUnknown
		}
	}
}

// compare prices the request as it came and as it was sent, with the same assumptions about the provider's cache.
func (b *Biller) compare(e *event.Exchange, p *Price, pause time.Duration) {
	bill, raw, sent := &e.Bill, e.TokensBefore.Total(), e.TokensAfter.Total()
	switch {
	case e.Window > 0 && raw > e.Window || e.Rescue.Outgrew(raw):
		bill.Beyond = true
		return
	case raw == 0 || sent == 0:
		return
	case p == nil:
		bill.Unpriced = event.UnpricedModel
		return
	}
	before := b.assumedUsage(e, p, pause, raw, int(e.HeldBefore))
	after := b.assumedUsage(e, p, pause, sent, int(e.HeldAfter))
	rawNano, why := p.Cost(&before)
	sentNano, whyNot := p.Cost(&after)
	if why != "" || whyNot != "" {
		bill.Unpriced = event.UnpricedCached
		return
	}
	bill.Raw, bill.Sent, bill.Ruled = rawNano, sentNano, true
}

// assumedUsage returns the usage of a request with so many tokens, of which held are those that the last request began
// with, too. The usage that the provider reported for e shows how it caches; without it the usual figures count.
func (b *Biller) assumedUsage(e *event.Exchange, p *Price, pause time.Duration, tokens, held int) event.Usage {
	told := &e.Usage
	u := event.Usage{Source: event.UsageProvider, Input: tokens, Output: told.Output}
	isUnused := told.Source == event.UsageProvider && !told.CacheUnknown && told.Read+told.Write5m+told.Write1h == 0
	if isUnused && e.Dialect == "messages" { // clients of Messages mark what is to be cached: this one marked nothing
		return u
	}
	life, forHour := b.Life(), told.Write1h > 0 && told.Write5m == 0
	if forHour && life > 0 {
		life = max(life, time.Hour)
	}
	if life == 0 || pause <= life {
		u.Read = CachedTokens(tokens, held)
	}
	switch {
	case forHour:
		u.Write1h = tokens - u.Read
	case p.Write5m != nil:
		u.Write5m = tokens - u.Read
	}
	return u
}

// The usual figures of providers that cache by themselves.
const (
	leastCached = 1024 // tokens; a shorter prefix is not cached
	cachedStep  = 128  // tokens; a longer one is cached in whole steps

	// CacheLife is how long a prefix is kept, at the least.
	CacheLife = 5 * time.Minute
)

// CachedTokens returns how many tokens of a request the provider's cache usually has if it begins with held tokens of
// the last request.
func CachedTokens(tokens, held int) int {
	held = max(min(held, tokens), 0)
	if held < leastCached {
		return 0
	}
	return held - held%cachedStep
}
