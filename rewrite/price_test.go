package rewrite

import (
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/limits"
)

func TestAModelsOwnPriceOfCachedTokensHolds(t *testing.T) {
	fixed := limits.Limits{CachedPrice: 0.3}
	fixed.FixPrice()
	f := func(l limits.Limits, upstream string, want float64) {
		t.Helper()
		known := func(upstream, model string) (float64, bool) { return 0.02, upstream == "cheap" && model == "m" }
		x := &run{
			shaper: NewShaper(Deps{CachedPrice: known}), in: Input{Upstream: upstream, Limits: &l},
			req: &conversation.Request{Asked: conversation.Asked{Model: "m"}},
		}
		if got := limitsFor(x).CachedPrice; got != want {
			t.Errorf("at %s: %v, want %v", upstream, got, want)
		}
		x.shaper = NewShaper(Deps{})
		if got := limitsFor(x).CachedPrice; got != l.CachedPrice {
			t.Errorf("with nobody to ask: %v, want %v", got, l.CachedPrice)
		}
	}
	f(limits.Limits{CachedPrice: 0.1}, "cheap", 0.02)
	f(limits.Limits{CachedPrice: 0.1}, "other", 0.1)
	f(fixed, "cheap", 0.3)
}
