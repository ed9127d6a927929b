// Package money is what requests to models cost: a table of prices, and the amounts made of it.
//
// It promises integers: prices are nano-dollars for a million tokens, an amount is nano-dollars, rounded once, half up,
// so that sums of amounts agree to the unit wherever they are made. An amount that is not known is never 0 and never a
// guess: the reason stands in its place.
//
// It does not promise what a provider's bill says. Searches, stored files, sound that is priced apart from text,
// batches, tiers of service and discounts are not counted.
package money

import (
	"math/big"

	"epitome/event"
)

// Unknown is a rate that nobody has told.
const Unknown = -1

// Rates are what a million tokens cost, in nano-dollars, by what becomes of them; each may be Unknown.
type Rates struct {
	Input   int64 // new to the provider
	Read    int64 // that its cache had
	Write5m int64 // that its cache takes up for five minutes
	Write1h int64 // and for an hour
	Output  int64
}

// Price is what a model costs.
type Price struct {
	// ID says which price it is: PROVIDER/MODEL of the table, or what the configuration calls it. It is none of what a
	// client has chosen.
	ID    string
	Base  Rates
	Tiers []Tier // the smallest first
}

// Tier is what a model costs for the whole of a request, its answer too, that has more than so many tokens.
type Tier struct {
	Above int
	Rates Rates
}

// isNothing reports whether all is free.
func (p *Price) isNothing() bool { return p.Base == Rates{} && p.Tiers == nil }

// At returns the rates of a request of so many tokens, those that a cache has included.
func (p *Price) At(input int) Rates {
	r := p.Base
	for _, t := range p.Tiers {
		if input > t.Above {
			r = t.Rates
		}
	}
	return r
}

// CachedShare returns what a cached token costs where a new one costs 1. ok is false if that is not known.
func (p *Price) CachedShare() (share float64, ok bool) {
	if p.Base.Read < 0 || p.Base.Input <= 0 {
		return 0, false
	}
	return min(float64(p.Base.Read)/float64(p.Base.Input), 1), true
}

// Relative returns what a cached token, one that is new to the cache and one of the answer cost where a new token costs
// 1. ok is false if that is not known.
func (p *Price) Relative() (cached, write, output float64, ok bool) {
	cached, ok = p.CachedShare()
	if !ok {
		return 0, 0, 0, false
	}
	of := func(rate int64) float64 { return float64(rate) / float64(p.Base.Input) }
	return cached, of(max(p.Base.Write5m, p.Base.Input)), of(p.Base.Output), true
}

// Cost returns what a usage costs, and why it has no amount: one of event's Unpriced reasons. Most is above least if
// the usage says nothing of a cache: then least is as if all of the request had been in it, and most as if nothing had.
func (p *Price) Cost(u *event.Usage) (least, most int64, why string) {
	switch {
	case u.Source != event.UsageProvider:
		return 0, 0, event.UnpricedUsage
	case u.Odd || u.Read < 0 || u.Write5m < 0 || u.Write1h < 0 || u.Output < 0 || u.Input < u.Read+u.Write5m+u.Write1h:
		return 0, 0, event.UnpricedOdd
	}
	r := p.At(u.Input)
	if !u.CacheUnknown {
		least, why = r.cost(u)
		return least, least, why
	}
	cached, written := *u, *u
	cached.Read = u.Input
	if least, why = r.cost(&cached); why != "" {
		return 0, 0, why
	}
	if r.Write5m > r.Input {
		written.Write5m = u.Input
	}
	most, why = r.cost(&written)
	return min(least, most), max(least, most), why
}

// million is the tokens that a rate is for.
const million = 1_000_000

// cost returns what a usage costs at the rates, rounded once, half up, or why it has no amount.
func (r Rates) cost(u *event.Usage) (amount int64, why string) {
	written := r.Write5m
	if written < 0 && r.Read >= 0 {
		written = r.Input // the cache is known, and nothing is asked for filling it
	}
	total := big.NewInt(million / 2) // the product of tokens and rates may be more than an int64 has
	for _, part := range []struct {
		tokens int
		rate   int64
		why    string // if the rate is not known
	}{
		{u.Input - u.Read - u.Write5m - u.Write1h, r.Input, event.UnpricedModel},
		{u.Output, r.Output, event.UnpricedModel},
		{u.Read, r.Read, event.UnpricedCached},
		{u.Write5m, written, event.UnpricedCached},
		{u.Write1h, r.Write1h, event.UnpricedCached},
	} {
		switch {
		case part.tokens <= 0:
		case part.rate < 0:
			why = part.why
		default:
			product := big.NewInt(int64(part.tokens))
			total.Add(total, product.Mul(product, big.NewInt(part.rate)))
		}
	}
	if why != "" {
		return 0, why
	}
	total.Div(total, big.NewInt(million))
	if !total.IsInt64() { // no such number of tokens exists
		return 0, event.UnpricedOdd
	}
	return total.Int64(), ""
}
