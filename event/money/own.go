package money

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"epitome/internal/unit"
)

// Config is the table [prices] of the configuration, by patterns of models' names: * is any run of characters, ? is
// one, and case does not matter.
type Config map[string]Own

// Own is what the user says that models cost, in dollars for a million tokens. Of a nil nothing was said; a row needs
// Input and Output.
type Own struct {
	Input     *float64 `toml:"input"`
	Cached    *float64 `toml:"cached"`
	Written   *float64 `toml:"written"`
	Written1h *float64 `toml:"written_1h"`
	Output    *float64 `toml:"output"`
}

// dearest is more than any model costs, in dollars for a million tokens.
const dearest = 1e6

// Check says what is wrong with a row, in words that follow its name, and at which key; nil if nothing is.
func (o Own) Check() (key string, err error) {
	for _, v := range o.rows() {
		if v.dollars == nil {
			if v.needed {
				return v.key, fmt.Errorf("it has no %s: write what a million tokens cost, in dollars", v.key)
			}
			continue
		}
		if d := *v.dollars; !(d >= 0 && d <= dearest) {
			return v.key, fmt.Errorf("%s is %v: write dollars for a million tokens, from 0 to 1000000", v.key, d)
		}
	}
	return "", nil
}

// amount is a price of a row.
type amount struct {
	key     string
	dollars *float64
	needed  bool
}

func (o Own) rows() [5]amount {
	return [...]amount{
		{"input", o.Input, true}, {"cached", o.Cached, false}, {"written", o.Written, false},
		{"written_1h", o.Written1h, false}, {"output", o.Output, true},
	}
}

// nanos returns nano-dollars.
func nanos(dollars *float64) int64 {
	if dollars == nil {
		return Unknown
	}
	return int64(math.Round(*dollars * 1e9))
}

// rates returns the row as rates. Nobody who writes that a model is free wants to be asked for the rest.
func (o Own) rates() Rates {
	r := Rates{nanos(o.Input), nanos(o.Cached), nanos(o.Written), nanos(o.Written1h), nanos(o.Output)}
	if r.Input == 0 && r.Output == 0 {
		r.Read, r.Write5m, r.Write1h = max(r.Read, 0), max(r.Write5m, 0), max(r.Write1h, 0)
	}
	return r
}

// owns are the rows of a configuration, the one that wins first.
type owns []ownPrice

type ownPrice struct {
	pattern string
	price   Price
}

// owns returns the rows, of which the longest pattern that fits wins.
func (c Config) owns() (all owns) {
	for pattern, o := range c {
		all = append(all, ownPrice{pattern, Price{ID: "config/" + pattern, Base: o.rates()}})
	}
	slices.SortFunc(all, func(a, b ownPrice) int {
		if d := len(b.pattern) - len(a.pattern); d != 0 {
			return d
		}
		return strings.Compare(a.pattern, b.pattern)
	})
	return all
}

// of returns the price of a model; nil if no row is for it.
func (all owns) of(model string) *Price {
	for i := range all {
		if unit.Match(all[i].pattern, model) {
			return &all[i].price
		}
	}
	return nil
}
