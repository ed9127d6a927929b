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

// Prices are those in force, for one who asks once.
func Prices(conf config.Config) PriceList { return PriceList{billerOf(conf)} }

// PriceList says what tokens cost where a new one costs 1.
type PriceList struct{ biller *money.Biller }

// CachedPrice returns what a cached token of a model at an upstream costs. ok is false if that is not known.
func (l PriceList) CachedPrice(upstream, model string) (price float64, ok bool) {
	return l.biller.CachedPrice(upstream, model, time.Now())
}

// Relative returns what a cached token, one that the cache takes up, and one of the answer cost, of a model whoever
// sells it, on the day of the prices.
func (l PriceList) Relative(model string) (cached, write, output float64, ok bool) {
	p := l.biller.Price("", model, money.Builtin().Date)
	if p == nil {
		return 0, 0, 0, false
	}
	return p.Relative()
}
