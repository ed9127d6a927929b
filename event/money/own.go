package money

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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
	for _, v := range []struct {
		key      string
		dollars  *float64
		isNeeded bool
	}{
		{"input", o.Input, true}, {"cached", o.Cached, false}, {"written", o.Written, false},
		{"written_1h", o.Written1h, false}, {"output", o.Output, true},
	} {
		switch d := v.dollars; {
		case d == nil && v.isNeeded:
			return v.key, fmt.Errorf("it has no %s: write what a million tokens cost, in dollars", v.key)
		case d != nil && !(*d >= 0 && *d <= dearest):
			return v.key, fmt.Errorf("%s is %v: write dollars for a million tokens, from 0 to 1000000", v.key, *d)
		}
	}
	return "", nil
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

// ownPrice is a row of a configuration.
type ownPrice struct {
	pattern string
	price   Price
}

// prices returns the rows, the longest pattern first: the first one that fits a model wins.
func (c Config) prices() (all []ownPrice) {
	for pattern, o := range c {
		all = append(all, ownPrice{pattern, Price{ID: "config/" + pattern, Base: o.rates()}})
	}
	slices.SortFunc(all, func(a, b ownPrice) int {
		return cmp.Or(cmp.Compare(len(b.pattern), len(a.pattern)), cmp.Compare(a.pattern, b.pattern))
	})
	return all
}
