package event

import (
	"encoding/json"
	"math"
)

// Price is what a model costs; a rate that is nil is not known.
type Price struct {
	// ID names the price: PROVIDER/MODEL of the table, or config/PATTERN. It holds nothing that a client has chosen.
	ID      string `json:"-"`
	Input   *Rate  `json:"input_mtok"`          // new to the provider
	Read    *Rate  `json:"cache_read_mtok"`     // read from its cache
	Write5m *Rate  `json:"cache_write_mtok"`    // written to its cache for five minutes
	Write1h *Rate  `json:"cache_write_1h_mtok"` // and for an hour
	Output  *Rate  `json:"output_mtok"`
}

// Rate is what a million tokens cost, in dollars.
type Rate struct {
	Base  float64 `json:"base"`
	Tiers []Tier  `json:"tiers"` // the smallest first
}

// Tier is a price for requests that have more than Start tokens of input, cached ones included.
type Tier struct {
	Start int     `json:"start"`
	Price float64 `json:"price"`
}

// UnmarshalJSON reads a number, which holds for requests of any size, or an object with tiers.
func (r *Rate) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return json.Unmarshal(text, &r.Base)
	}
	type plain Rate // without this method
	return json.Unmarshal(text, (*plain)(r))
}

// at returns the dollars for a million tokens of a request with so many tokens of input.
func (r *Rate) at(input int) float64 {
	dollars := r.Base
	for _, t := range r.Tiers {
		if input > t.Start {
			dollars = t.Price
		}
	}
	return dollars
}

// isNothing reports whether all is free.
func (p *Price) isNothing() bool {
	for _, r := range []*Rate{p.Input, p.Read, p.Write5m, p.Write1h, p.Output} {
		if r != nil && (r.Base != 0 || r.Tiers != nil) {
			return false
		}
	}
	return true
}

// Cost returns what a usage costs in nano-dollars, or why it has no amount: one of the Unpriced reasons. If the usage
// says nothing of a cache, the amount is the least: that with all of the request read from it.
func (p *Price) Cost(u *Usage) (nano int64, why string) {
	switch {
	case u.Source != UsageProvider:
		return 0, UnpricedUsage
	case u.Odd || u.Read < 0 || u.Write5m < 0 || u.Write1h < 0 || u.Output < 0 || u.Input < u.Read+u.Write5m+u.Write1h:
		return 0, UnpricedOdd
	case u.CacheUnknown:
		cached := *u
		cached.Read = u.Input
		return p.cost(&cached, u.Input)
	}
	return p.cost(u, u.Input)
}

// cost returns what a usage costs in requests of size tokens, rounded once, or why it has no amount.
func (p *Price) cost(u *Usage, size int) (amount int64, why string) {
	written := p.Write5m
	if written == nil && p.Read != nil {
		written = p.Input // the provider caches, and asks nothing for writing
	}
	millionths := 0.0
	for _, part := range []struct {
		tokens int
		rate   *Rate
		why    string // if the rate is not known
	}{
		{u.Input - u.Read - u.Write5m - u.Write1h, p.Input, UnpricedModel},
		{u.Output, p.Output, UnpricedModel},
		{u.Read, p.Read, UnpricedCached},
		{u.Write5m, written, UnpricedCached},
		{u.Write1h, p.Write1h, UnpricedCached},
	} {
		switch {
		case part.tokens == 0:
		case part.rate == nil:
			why = part.why
		default:
			millionths += float64(part.tokens) * part.rate.at(size)
		}
	}
	if why != "" {
		return 0, why
	}
	return int64(math.Floor(millionths*1e3 + 0.5)), "" // a millionth of a dollar is 1,000 nano-dollars
}
