package event

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"epitome/internal/unit"
)

// The ways in which an upstream is paid; empty is by tokens. The amounts of a subscription are what list prices would
// be; an upstream that is free costs 0.
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

// OwnPrices is the table [prices] of the configuration, by patterns of models' names: * is any run of characters, ? is
// one, and case does not matter.
type OwnPrices map[string]OwnPrice

// OwnPrice is what the user says that models cost, in dollars for a million tokens; nil is unknown.
type OwnPrice struct {
	Input     *float64 `toml:"input"`
	Cached    *float64 `toml:"cached"`
	Written   *float64 `toml:"written"`
	Written1h *float64 `toml:"written_1h"`
	Output    *float64 `toml:"output"`
}

// Check returns an error, which does not name the row, if an amount is missing or cannot be one.
func (o OwnPrice) Check() error {
	const most = 1e6 // dollars: no model costs as much
	if o.Input == nil || o.Output == nil {
		return fmt.Errorf("needs input and output, in dollars for a million tokens")
	}
	for _, dollars := range []*float64{o.Input, o.Cached, o.Written, o.Written1h, o.Output} {
		if dollars != nil && !(*dollars >= 0 && *dollars <= most) {
			return fmt.Errorf("must have dollars for a million tokens, from 0 to 1000000, not %v", *dollars)
		}
	}
	return nil
}

// price returns the row as a price. A model whose input and output are free is free.
func (o OwnPrice) price(pattern string) *Price {
	isFree := *o.Input == 0 && *o.Output == 0
	rate := func(dollars *float64) *Rate {
		switch {
		case dollars != nil:
			return &Rate{Base: *dollars}
		case isFree:
			return &Rate{}
		}
		return nil
	}
	return &Price{"config/" + pattern, rate(o.Input), rate(o.Cached), rate(o.Written), rate(o.Written1h), rate(o.Output)}
}

// Prices say what a Biller charges by.
type Prices struct {
	Own     OwnPrices
	Sellers map[string]Seller // by the upstream's name
	Life    time.Duration     // for which caches hold what they have; 0 is without end
}

// Biller works out what exchanges cost, by prices of its own, and else by the built-in table. Its methods may be called
// from any goroutine.
type Biller struct {
	mu       sync.Mutex
	prices   Prices
	patterns []string             // of prices.Own: the first one that fits a model counts
	rows     map[soldModel]*model // of the built-in table, as finding one takes long; nil: none is known
}

// soldModel is a model's name at a host.
type soldModel struct{ host, name string }

// NewBiller returns a Biller that charges by p.
func NewBiller(p Prices) *Biller {
	b := &Biller{}
	b.Configure(p)
	return b
}

// Configure lets the Biller charge by p from now on.
func (b *Biller) Configure(p Prices) {
	var patterns []string // the longest first
	for pattern := range p.Own {
		patterns = append(patterns, pattern)
	}
	slices.SortFunc(patterns, func(x, y string) int {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x, y))
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prices, b.patterns, b.rows = p, patterns, map[soldModel]*model{}
}

// Life returns how long caches hold what they have; 0 is without end.
func (b *Biller) Life() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.prices.Life
}

// Price returns the price of a model at an upstream, and how that is paid; a nil price if none is known.
func (b *Biller) Price(upstream, model string, at time.Time) (p *Price, billing string) {
	const (
		longest = 256  // bytes; nobody sells a model by a longer name
		most    = 1000 // rows that are remembered, as clients choose the names of models
	)
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.prices.Sellers[upstream]
	if len(model) > longest {
		return nil, s.Billing
	}
	if s.Billing == Free {
		return &Price{Free, &Rate{}, &Rate{}, &Rate{}, &Rate{}, &Rate{}}, s.Billing
	}
	for _, pattern := range b.patterns {
		if unit.Match(pattern, model) {
			return b.prices.Own[pattern].price(pattern), s.Billing
		}
	}
	sold := soldModel{s.Host, model}
	row, known := b.rows[sold]
	if !known {
		row = BuiltinPrices().find(sold.host, sold.name)
		if len(b.rows) < most {
			b.rows[sold] = row
		}
	}
	return row.price(at), s.Billing
}

// CachedPrice returns what a cached token of a model at an upstream costs now, where a new one costs 1. ok is false if
// that is not known.
func (b *Biller) CachedPrice(upstream, model string) (share float64, ok bool) {
	p, _ := b.Price(upstream, model, time.Now())
	if p == nil || p.Input == nil || p.Read == nil || p.Input.Base == 0 {
		return 0, false
	}
	return min(p.Read.Base/p.Input.Base, 1), true
}

// Charge returns what asking for a summary cost.
func (b *Biller) Charge(s *Summary) Charge {
	c := s.Cost
	p, _ := b.Price(s.Upstream, s.Model, s.Time)
	if p == nil || c.Requests == 0 || c.Untold > 0 && !p.isNothing() {
		return Charge{}
	}
	u := Usage{Input: c.InputTokens, Read: c.CachedTokens, Write5m: c.WrittenTokens, Output: c.OutputTokens}
	nano, why := p.cost(&u, c.InputTokens/c.Requests)
	if why != "" {
		return Charge{}
	}
	return Charge{Price: p.ID, Nano: nano}
}

// Bill puts into an exchange what it cost. pause is how long before it the conversation's last request was sent;
// negative if there was none.
func (b *Biller) Bill(e *Exchange, pause time.Duration) {
	p, billing := b.Price(e.Upstream, e.Model, e.Start.Add(e.Duration))
	e.Bill = Bill{Subscription: billing == Subscription}
	bill, u := &e.Bill, &e.Usage
	if e.Model == "" {
		bill.Unpriced = UnpricedOther
		return
	}
	if p != nil {
		bill.Price = p.ID
	}
	switch {
	case e.Status < 200 || e.Status >= 400 || e.FirstByte == 0:
		bill.Unpriced = UnpricedFailed
		return
	case u.Charged > 0: // by the provider's own words
		bill.Billed, bill.Measured = u.Charged, true
	case p != nil && p.isNothing(): // whatever the answer says
		bill.Measured = true
	case p == nil:
		bill.Unpriced = UnpricedModel
	default:
		if bill.Billed, bill.Unpriced = p.Cost(u); bill.Unpriced == "" {
			bill.Measured, bill.AtLeast = true, u.Cut || u.CacheUnknown
		}
	}
	e.compare(p, pause, b.Life())
}

// compare prices the request as it came and as it was sent, with the same assumptions about the provider's cache. life
// is how long that keeps a request; 0 is without end.
func (e *Exchange) compare(p *Price, pause, life time.Duration) {
	bill, raw, sent := &e.Bill, e.TokensBefore.Total(), e.TokensAfter.Total()
	switch {
	case e.Window > 0 && raw > e.Window || e.Rescue.Outgrew(raw):
		bill.Beyond = true
		return
	case raw == 0 || sent == 0:
		return
	case p == nil:
		bill.Unpriced = UnpricedModel
		return
	}
	if forHour := e.Usage.Write1h > 0 && e.Usage.Write5m == 0; forHour && life > 0 {
		life = max(life, time.Hour)
	}
	isCached := life == 0 || pause <= life
	before, after := e.assumedUsage(p, isCached, raw, e.HeldBefore), e.assumedUsage(p, isCached, sent, e.HeldAfter)
	rawNano, why := p.Cost(&before)
	sentNano, whyNot := p.Cost(&after)
	if why != "" || whyNot != "" {
		bill.Unpriced = UnpricedCached
		return
	}
	bill.Raw, bill.Sent, bill.Ruled = rawNano, sentNano, true
}

// assumedUsage returns the usage of a request with so many tokens, of which held are those that the last request began
// with, too. The usage that the provider reported shows how it caches; without it the usual figures count.
func (e *Exchange) assumedUsage(p *Price, isCached bool, tokens int, held int32) Usage {
	told := &e.Usage
	u := Usage{Source: UsageProvider, Input: tokens, Output: told.Output}
	isUnused := told.Source == UsageProvider && !told.CacheUnknown && told.Read+told.Write5m+told.Write1h == 0
	if isUnused && e.Dialect == "messages" { // clients of Messages mark what is to be cached: this one marked nothing
		return u
	}
	if isCached {
		u.Read = cachedTokens(tokens, int(held))
	}
	switch { // where writing has a price of its own, all that is not read is taken to be written
	case told.Write1h > 0 && told.Write5m == 0:
		u.Write1h = tokens - u.Read
	case p.Write5m != nil:
		u.Write5m = tokens - u.Read
	}
	return u
}

// cachedTokens returns how many tokens of a request the provider's cache usually has if it begins with held tokens of
// the last request.
func cachedTokens(tokens, held int) int {
	const (
		least = 1024 // a shorter prefix is not cached
		step  = 128  // a longer one is cached in whole steps
	)
	held = max(min(held, tokens), 0)
	if held < least {
		return 0
	}
	return held - held%step
}
