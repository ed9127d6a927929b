package event

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"epitome/internal/unit"
)

// Sources of a Usage.
const (
	UsageProvider = "provider" // the answer states it
	UsageCounted  = "counted"  // the answer does not: the input is our own count, and nothing else is known
)

// Usage is the tokens of a request and its answer, with one meaning for all APIs and providers.
type Usage struct {
	Source    string `json:"source,omitempty"`    // one of the sources; empty: nothing is known
	Input     int    `json:"input,omitempty"`     // of the request, with Read and writes
	Read      int    `json:"read,omitempty"`      // of Input, read from the provider's cache
	Write5m   int    `json:"write_5m,omitempty"`  // of Input, written to the cache for five minutes
	Write1h   int    `json:"write_1h,omitempty"`  // and for an hour
	Output    int    `json:"output,omitempty"`    // with what the model thought
	Reasoning int    `json:"reasoning,omitempty"` // of Output, what the model thought; 0 if the answer does not say
	// Life is how long the answer says that the provider keeps the request in its cache; 0 if it does not.
	Life time.Duration `json:"cache_ns,omitempty"`
	// CacheUnknown reports that the answer does not mention a cache: Read is not 0 but unknown.
	CacheUnknown bool  `json:"cache_unknown,omitempty"`
	Uncached     bool  `json:"uncached,omitempty"`     // the client could have marked what is to be cached, and did not
	Odd          bool  `json:"odd,omitempty"`          // the numbers contradict each other; they are not priced
	Cut          bool  `json:"cut,omitempty"`          // the answer broke off: Output is what it stated until then
	Charged      int64 `json:"charged_nano,omitempty"` // nano-dollars by the provider's own words; 0 if it has none
}

// TellsCache reports whether the provider said how much its cache had.
func (u *Usage) TellsCache() bool { return u.Source == UsageProvider && !u.Odd && !u.CacheUnknown }

// Bill is what an exchange cost, in nano-dollars, by the prices in force when it ended. It is worked out once: sums are
// sums of these numbers. Raw and Sent price the request as the client sent it and as it was sent on by the same
// assumptions about the provider's cache, so that errors of these cancel out. Billed is what the provider's usage
// costs.
type Bill struct {
	Price    string `json:"price,omitempty"`        // its ID; empty: none is known, and amounts are unknown, not 0
	Unpriced bool   `json:"lacks_amount,omitempty"` // an amount is missing though there was an answer
	Raw      int64  `json:"raw_nano,omitempty"`
	Sent     int64  `json:"sent_nano,omitempty"`
	Billed   int64  `json:"billed_nano,omitempty"`
	Rebilled int64  `json:"rebilled_nano,omitempty"` // of Billed, for tokens that the cache had lost
	// AtLeast reports that Billed may be too low: the answer broke off, or says nothing of the cache, so that Billed is
	// with all of the request read from it.
	AtLeast  bool `json:"at_least,omitempty"`
	Compared bool `json:"ruled,omitempty"`    // Raw and Sent are known; else both are 0
	Measured bool `json:"measured,omitempty"` // Billed is known
	// Oversized reports that the original request is larger than its model's window, or than one that was refused as
	// too long: it would have been refused, and has no price.
	Oversized    bool `json:"beyond,omitempty"`
	Outgrew      bool `json:"outgrew,omitempty"`      // it is the first one of its conversation that is Oversized
	Subscription bool `json:"subscription,omitempty"` // the upstream is not paid by tokens: amounts are list prices
}

// Saved is how much less the exchange cost for being shaped; negative if it cost more. Summaries are charged in
// Summary.
func (b Bill) Saved() int64 { return b.Raw - b.Sent }

// The ways in which an upstream is paid; empty is by tokens. The amounts of a subscription are what list prices would
// be; an upstream that is free costs 0.
const (
	ByTokens     = "tokens"
	Subscription = "subscription"
	Free         = "free"
)

// Seller is an upstream, as far as prices go.
type Seller struct {
	URL     string // its base URL
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
		return errors.New("needs input and output, in dollars for a million tokens")
	}
	for _, dollars := range []*float64{o.Input, o.Cached, o.Written, o.Written1h, o.Output} {
		if dollars != nil && !(*dollars >= 0 && *dollars <= most) {
			return fmt.Errorf("must have dollars for a million tokens, from 0 to 1000000, not %v", *dollars)
		}
	}
	return nil
}

// price returns the Price with an ID that o says.
func (o OwnPrice) price(id string) *Price {
	rate := func(dollars *float64) *Rate {
		if dollars == nil {
			return nil
		}
		return &Rate{Base: *dollars}
	}
	return &Price{
		ID: id, Input: rate(o.Input), Read: rate(o.Cached), Write5m: rate(o.Written), Write1h: rate(o.Written1h),
		Output: rate(o.Output),
	}
}

// Prices say what a Biller charges by.
type Prices struct {
	Own     OwnPrices
	Sellers map[string]Seller // by the upstream's name
	Caches
}

// Biller works out what exchanges cost, by prices of its own, and else by the built-in table. Its methods may be called
// from any goroutine.
type Biller struct {
	mu       sync.Mutex
	prices   Prices
	patterns []string             // of prices.Own: the first one that fits a model counts
	rows     map[[2]string]*model // found in the built-in table, by upstream and model; nil: none is known
}

// NewBiller returns a Biller that charges by p.
func NewBiller(p Prices) *Biller {
	b := &Biller{}
	b.Configure(p)
	return b
}

// Configure lets the Biller charge by p from now on.
func (b *Biller) Configure(p Prices) {
	longestFirst := func(x, y string) int { return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x, y)) }
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prices, b.rows = p, map[[2]string]*model{}
	b.patterns = slices.SortedFunc(maps.Keys(p.Own), longestFirst)
}

// price returns the price of a model at an upstream, and how that is paid; a nil price if none is known.
func (b *Biller) price(upstream, name string, at time.Time) (p *Price, billing string) {
	const most = 1000 // rows that are remembered, as clients choose the names of models
	name = Clip(name)
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.prices.Sellers[upstream]
	if s.Billing == Free {
		return &Price{ID: Free, Input: &Rate{}, Output: &Rate{}}, s.Billing
	}
	for _, pattern := range b.patterns {
		if unit.Match(pattern, name) {
			return b.prices.Own[pattern].price("config/" + pattern), s.Billing
		}
	}
	sold := [2]string{upstream, name}
	row, known := b.rows[sold]
	if !known {
		row = BuiltinPrices().find(s.URL, name)
		if len(b.rows) < most {
			b.rows[sold] = row
		}
	}
	return row.price(at), s.Billing
}

// CachedPrice returns what a cached token of a model at an upstream costs now, where a new one costs 1. ok is false if
// that is not known.
func (b *Biller) CachedPrice(upstream, model string) (share float64, ok bool) {
	p, _ := b.price(upstream, model, time.Now())
	if p == nil || p.Read == nil || p.Input.Base == 0 {
		return 0, false
	}
	return min(p.Read.Base/p.Input.Base, 1), true
}

// Charge returns what asking for a summary cost.
func (b *Biller) Charge(s *Summary) Charge {
	c := s.Cost
	p, _ := b.price(s.Upstream, s.Model, s.Time)
	if p == nil || c.Requests == 0 || c.Unreported > 0 && !p.isFree() {
		return Charge{}
	}
	u := Usage{Input: c.InputTokens, Read: c.CachedTokens, Write5m: c.WrittenTokens, Output: c.OutputTokens}
	nano, known := p.cost(u, c.InputTokens/c.Requests)
	if !known {
		return Charge{}
	}
	return Charge{Price: p.ID, Nano: nano}
}

// Bill puts into an exchange why the provider's cache missed it, and what it cost. before is the last answered exchange
// of the conversation; nil if there was none.
func (b *Biller) Bill(e, before *Exchange) {
	pause := time.Duration(-1)
	if before != nil {
		pause = max(0, e.Start.Sub(before.Start))
	}
	life := b.lifeOf(cmp.Or(before, e))
	if e.IsAnswered() && e.ShapeTime > 0 {
		e.Miss = missOf(e, before, life)
		e.Rebilled = rebilledOf(e, before)
	}
	p, billing := b.price(e.Upstream, e.Model, e.Start.Add(e.Duration))
	e.Bill = Bill{Subscription: billing == Subscription}
	if e.Model == "" {
		return
	}
	if p != nil {
		e.Bill.Price = p.ID
	}
	if e.Status < 200 || e.Status >= 400 || e.FirstByte == 0 { // there is no answer to pay for
		return
	}
	e.Bill.measure(p, &e.Usage, e.Rebilled)
	e.compare(p, pause, life)
}

// measure sets what the provider's usage costs, and how much of that is for the tokens that were rebilled.
func (b *Bill) measure(p *Price, u *Usage, rebilled int) {
	switch {
	case u.Charged > 0:
		b.Billed, b.Measured = u.Charged, true
	case p.isFree(): // whatever the answer says
		b.Measured = true
	default:
		b.Billed, b.Measured = p.Cost(u)
		b.AtLeast = b.Measured && (u.Cut || u.CacheUnknown)
	}
	b.Unpriced = !b.Measured
	if p != nil && b.Measured {
		hour := min(rebilled, u.Write1h)
		again := Usage{Input: rebilled, Write1h: hour, Write5m: min(rebilled-hour, u.Write5m)}
		nano, _ := p.cost(again, u.Input)
		b.Rebilled = min(nano, b.Billed)
	}
}

// compare prices the request as it came and as it was sent, with the same assumptions about the provider's cache. life
// is how long that keeps a request; 0 is without end.
func (e *Exchange) compare(p *Price, pause, life time.Duration) {
	raw, sent := e.TokensBefore.Total(), e.TokensAfter.Total()
	if e.Fault == Failed { // within the answer: the conversation may have ended with it
		return
	}
	if e.Window > 0 && sent <= e.Window && raw > e.Window || e.Rescue.Outgrew(raw) {
		e.Bill.Oversized = true
		return
	}
	if raw == 0 || sent == 0 {
		return
	}
	isCached := life == 0 || pause <= life
	before := e.assumedUsage(p, isCached, raw, e.HeldBefore)
	after := e.assumedUsage(p, isCached, sent, e.HeldAfter)
	rawNano, rawKnown := p.Cost(&before)
	sentNano, sentKnown := p.Cost(&after)
	if !rawKnown || !sentKnown {
		e.Bill.Unpriced = true
		return
	}
	e.Bill.Raw, e.Bill.Sent = rawNano, sentNano
	e.Bill.Compared = true
}

// assumedUsage returns the usage of a request with so many tokens, of which held are those that the last request began
// with, too. The usage that the provider reported shows how it caches; without it the usual figures count.
func (e *Exchange) assumedUsage(p *Price, isCached bool, tokens, held int) Usage {
	reported := &e.Usage
	u := Usage{Source: UsageProvider, Input: tokens, Output: reported.Output}
	if reported.Uncached {
		return u
	}
	prefix := min(held, tokens)
	if isCached && prefix >= leastCached {
		u.Read = prefix - prefix%cacheStep
	}
	switch { // where writing has a price of its own, all that is not read is taken to be written
	case reported.Write1h > 0 && reported.Write5m == 0:
		u.Write1h = tokens - u.Read
	case p != nil && p.Write5m != nil:
		u.Write5m = tokens - u.Read
	}
	return u
}
