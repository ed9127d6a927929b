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
	t := d.shapers.prices.Load().Table()
	return story.Prices{Source: t.Source, Date: t.Date, Models: t.Models, Old: time.Since(t.Date) > oldPrices}
}

// billerOf works out what exchanges cost, by a configuration.
func billerOf(conf config.Config) *money.Biller {
	s := money.Settings{Own: conf.Prices, Sellers: map[string]money.Seller{}, Life: conf.Rewrite.CacheLife.D()}
	for name, u := range conf.Upstreams {
		if base, err := url.Parse(u.URL); err == nil {
			s.Sellers[name] = money.Seller{Host: base.Hostname(), Billing: u.Billing}
		}
	}
	return money.New(s)
}

// cachedPrice says what a cached token of a model costs, for one who asks once.
func cachedPrice(conf config.Config) func(upstream, model string) (price float64, ok bool) {
	b := billerOf(conf)
	return func(upstream, model string) (float64, bool) { return b.CachedPrice(upstream, model, time.Now()) }
}
