package limits

import "epitome/unit"

// priceKey is the key of the price of a cached token.
const priceKey = "cached_price"

// UsualPrice is what large providers take for a cached token, where one that is new costs 1.
const UsualPrice = 0.1

// modelPrice is what a token costs that the provider has cached, where one that is new costs 1.
type modelPrice struct {
	models string // pattern of their names
	cached float64
}

// modelPrices returns the models whose providers take less for what is cached than others do. ? is a dash or a dot.
func modelPrices() [3]modelPrice {
	return [...]modelPrice{
		{"*claude-opus-5?5*", 0.05},
		{"*claude-fable-5?1*", 0.025},
		{"*claude-mythos-5?1*", 0.025},
	}
}

// FixPrice makes the price of a cached token one that the user gave: it holds for every model.
func (l *Limits) FixPrice() { l.priceFixed = true }

// For returns the limits for a model: with its own price of cached tokens where one is known and the user gave none.
func (l *Limits) For(model string) *Limits {
	if l.priceFixed {
		return l
	}
	for _, p := range modelPrices() {
		if unit.Match(p.models, model) {
			own := *l
			own.CachedPrice = p.cached
			return &own
		}
	}
	return l
}

// AtPrice returns the limits for a model of which it is known what a cached token costs, unless the user gave a price.
func (l *Limits) AtPrice(cached float64) *Limits {
	if l.priceFixed || l.CachedPrice == cached {
		return l
	}
	own := *l
	own.CachedPrice = cached
	return &own
}
