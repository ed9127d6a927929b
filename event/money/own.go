package money

import (
	"cmp"
	"fmt"
	"slices"
)

// Config is the table [prices] of the configuration, by patterns of models' names: * is any run of characters, ? is
// one, and case does not matter.
type Config map[string]Own

// Own is what the user says that models cost, in dollars for a million tokens; nil is unknown.
type Own struct {
	Input     *float64 `toml:"input"`
	Cached    *float64 `toml:"cached"`
	Written   *float64 `toml:"written"`
	Written1h *float64 `toml:"written_1h"`
	Output    *float64 `toml:"output"`
}

// Check returns an error, which does not name the row, if an amount is missing or cannot be one.
func (o Own) Check() error {
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
func (o Own) price(pattern string) Price {
	p := Price{ID: "config/" + pattern}
	isFree := *o.Input == 0 && *o.Output == 0
	for rate, dollars := range map[**Rate]*float64{&p.Input: o.Input, &p.Read: o.Cached, &p.Write5m: o.Written,
		&p.Write1h: o.Written1h, &p.Output: o.Output} {
		if dollars != nil {
			*rate = &Rate{Base: *dollars}
		} else if isFree {
			*rate = &Rate{}
		}
	}
	return p
}

// ownPrice is a row of a configuration.
type ownPrice struct {
	pattern string
	price   Price
}

// prices returns the rows, the longest pattern first: the first one that fits a model wins.
func (c Config) prices() (all []ownPrice) {
	for pattern, o := range c {
		all = append(all, ownPrice{pattern, o.price(pattern)})
	}
	slices.SortFunc(all, func(a, b ownPrice) int {
		return cmp.Or(cmp.Compare(len(b.pattern), len(a.pattern)), cmp.Compare(a.pattern, b.pattern))
	})
	return all
}
