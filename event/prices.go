package event

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/internal/unit"
)

// Price is what a model costs. Input and Output are always known; another rate that is nil is not.
type Price struct {
	// ID names the price: PROVIDER/MODEL of the table, or config/PATTERN. It holds nothing that a client has chosen.
	ID      string `json:"id"`
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

// isFree reports whether a model costs nothing. A nil Price is unknown, not free.
func (p *Price) isFree() bool {
	return p != nil && p.Input.Base == 0 && p.Input.Tiers == nil && p.Output.Base == 0 && p.Output.Tiers == nil
}

// Cost returns what a usage costs in nano-dollars; known is false if the provider did not report the usage, if its
// numbers contradict each other, or if a rate is missing. If the usage says nothing of a cache, the amount is the
// least: with all of the request read from it. A nil Price knows no amount.
func (p *Price) Cost(u *Usage) (nano int64, known bool) {
	isOdd := u.Odd || min(u.Read, u.Write5m, u.Write1h, u.Output, u.Input-u.Read-u.Write5m-u.Write1h) < 0
	if p == nil || u.Source != UsageProvider || isOdd {
		return 0, false
	}
	counts := *u
	if u.CacheUnknown {
		counts.Read = u.Input
	}
	return p.cost(counts, u.Input)
}

// cost returns what a usage costs in requests of size tokens, rounded once; known is false if a rate is missing.
func (p *Price) cost(u Usage, size int) (nano int64, known bool) {
	if p.isFree() {
		return 0, true
	}
	written := p.Write5m
	if written == nil && p.Read != nil {
		written = p.Input // the provider caches, and asks nothing for writing
	}
	millionths := 0.0 // of a dollar
	for _, part := range []struct {
		tokens int
		rate   *Rate
	}{
		{u.Input - u.Read - u.Write5m - u.Write1h, p.Input},
		{u.Read, p.Read}, {u.Write5m, written}, {u.Write1h, p.Write1h}, {u.Output, p.Output},
	} {
		if part.tokens == 0 {
			continue
		}
		if part.rate == nil {
			return 0, false
		}
		dollars := part.rate.Base
		for _, t := range part.rate.Tiers {
			if size > t.Start {
				dollars = t.Price
			}
		}
		millionths += float64(part.tokens) * dollars
	}
	return int64(math.Floor(millionths*1e3 + 0.5)), true
}

// PriceTable is the prices of a release of genai-prices, by provider. It does not change.
type PriceTable []provider

// The release that is in prices/prices.json, which 'make tables' writes.
const PricesSource = "genai-prices 0.1.8"

var PricesDate = time.Date(2026, 9, 23, 0, 0, 0, 0, time.UTC)

// provider sells models.
type provider struct {
	ID     string         `json:"id"`
	API    *regexp.Regexp `json:"api_pattern"`              // of base URLs
	Match  match          `json:"model_match"`              // names that only its models have
	Others []string       `json:"fallback_model_providers"` // whose models it sells besides
	Models []model        `json:"models"`
}

// model has prices, of which the last one that holds is in force.
type model struct {
	Match  match       `json:"match"`
	Prices []condition `json:"prices"`
}

// condition is a price that holds from a day on, and at some hours of each day in UTC; where these are empty, always.
type condition struct {
	From  string `json:"start_date"` // as in 2026-09-01
	Start string `json:"start_time"` // as in 16:30:00Z
	End   string `json:"end_time"`
	Price *Price `json:"price"` // nil: there is none for text, or another one for reasoning
}

// match says which names of models fit. All of it is in lower case.
type match struct {
	Like   []string       `json:"like"` // patterns as unit.Match reads them
	Regexp *regexp.Regexp `json:"regex"`
	Unlike string         `json:"unlike"` // a pattern of names that do not fit all the same; empty: there are none
}

//go:embed prices/prices.json
var builtin []byte

// BuiltinPrices returns the table of this build. The first call reads it, which takes some milliseconds.
var BuiltinPrices = sync.OnceValue(func() (t PriceTable) {
	if err := json.Unmarshal(builtin, &t); err != nil {
		panic(fmt.Sprintf("BUG: cannot read the built-in prices: %v", err))
	}
	return t
})

// Find returns the price in force at a time of a model as requests name it at a base URL; nil if none is known.
func (t PriceTable) Find(url, name string, at time.Time) *Price { return t.find(url, name).price(at) }

// dayInName matches a day as in 20260801, which some rows have as 2026-08-01.
var dayInName = regexp.MustCompile(`-(20\d\d)(\d\d)(\d\d)([-:]|$)`)

// find returns the row of a model as requests name it at a base URL; nil if there is none. The URL says who sells it;
// one that is of no provider in the table leaves that to the name, which may begin with the provider's, as routers write
// it ("openai/gpt-5").
func (t PriceTable) find(url, name string) *model {
	url, name = strings.ToLower(url), strings.ToLower(strings.TrimSpace(name))
	seller := t.first(func(p provider) bool { return p.API.MatchString(url) })
	if seller == nil {
		seller, name = t.byName(name)
	}
	if seller == nil {
		return nil
	}
	for _, spelled := range []string{name, dayInName.ReplaceAllString(name, "-$1-$2-$3$4")} {
		for _, id := range append([]string{seller.ID}, seller.Others...) {
			models := t.first(func(p provider) bool { return p.ID == id }).Models
			i := slices.IndexFunc(models, func(m model) bool { return m.Match.fits(spelled) })
			if i >= 0 {
				return &models[i]
			}
		}
	}
	return nil
}

// first returns the first provider that is meant; nil if there is none.
func (t PriceTable) first(isMeant func(provider) bool) *provider {
	i := slices.IndexFunc(t, isMeant)
	if i < 0 {
		return nil
	}
	return &t[i]
}

// byName returns the provider whose models have such names, and the name as it calls it. A name with a tag behind a
// colon is one of Ollama's: nobody asks money for it.
func (t PriceTable) byName(name string) (*provider, string) {
	before, rest, _ := strings.Cut(name, "/")
	p := t.first(func(p provider) bool { return p.ID == before })
	if p != nil && rest != "" {
		return p, rest
	}
	if strings.Contains(name, ":") && !strings.HasPrefix(name, "ft:") {
		return nil, name
	}
	return t.first(func(p provider) bool { return p.Match.fits(name) }), name
}

// price returns the price that is in force, or the first one if none is; nil if that is not known, or no model.
func (m *model) price(now time.Time) *Price {
	if m == nil {
		return nil
	}
	i := len(m.Prices) - 1
	for i > 0 && !m.Prices[i].holds(now.UTC()) {
		i--
	}
	return m.Prices[i].Price
}

func (c *condition) holds(now time.Time) bool {
	clock := now.Format("15:04:05Z")
	return c.From <= now.Format(time.DateOnly) && c.Start <= clock && (c.End == "" || clock < c.End)
}

// fits reports whether a name in lower case is one of them.
func (m *match) fits(name string) bool {
	isLike := func(pattern string) bool { return unit.Match(pattern, name) }
	if isLike(m.Unlike) {
		return false
	}
	return slices.ContainsFunc(m.Like, isLike) || m.Regexp != nil && m.Regexp.MatchString(name)
}
