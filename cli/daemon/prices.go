package daemon

import (
	"net/url"
	"time"

	"epitome/config"
	"epitome/console/story"
	"epitome/event/money"
)

// oldPrices is the age from which on a table of prices is called old.
const oldPrices = 90 * 24 * time.Hour

// prices says where amounts come from.
func (d *Daemon) prices() story.Prices {
	t := money.Builtin()
	return story.Prices{Source: t.Source, Date: t.Date, Models: t.Models(), Old: time.Since(t.Date) > oldPrices}
}

// Biller returns the prices of a configuration: what exchanges cost, by upstream and model.
func Biller(conf config.Config) *money.Biller {
	s := money.Settings{Own: conf.Prices, Sellers: map[string]money.Seller{}, Life: conf.Rewrite.CacheLife.D()}
	for name, u := range conf.Upstreams {
		if base, err := url.Parse(u.URL); err == nil {
			s.Sellers[name] = money.Seller{Host: base.Hostname(), Billing: u.Billing}
		}
	}
	return money.New(s)
}
