package limits

import "testing"

func TestCachedTokensCostWhatTheModelsProviderTakes(t *testing.T) {
	f := func(model string, given bool, want float64) {
		t.Helper()
		l := Limits{CachedPrice: 0.1, priceFixed: given}
		if got := l.For(model).CachedPrice; got != want || l.CachedPrice != 0.1 {
			t.Errorf("%s: a cached token costs %v, want %v; the limits say %v", model, got, want, l.CachedPrice)
		}
	}
	f("claude-opus-5-5-20261101", false, 0.05)
	f("anthropic/claude-opus-5.5", false, 0.05)
	f("claude-fable-5-1", false, 0.025)
	f("claude-mythos-5-1", false, 0.025)
	f("claude-opus-4-6", false, 0.1)
	f("claude-opus-5", false, 0.1)
	f("gpt-5", false, 0.1)
	f("claude-opus-5-5", true, 0.1)
}

func TestAPriceThatARequestNamesIsGiven(t *testing.T) {
	l, _, err := Limits{CachedPrice: 0.1}.With("cached_price", "0.1")
	if err != nil || l.For("claude-opus-5-5").CachedPrice != 0.1 {
		t.Errorf("%v: the model's price stands above that of the request: %v", err, l.For("claude-opus-5-5").CachedPrice)
	}
	l, _, err = Limits{CachedPrice: 0.1}.With("rent", "2")
	if err != nil || l.priceFixed {
		t.Errorf("%v: another number is taken for a price", err)
	}
}

func TestAKnownPriceHoldsUnlessTheUserGaveOne(t *testing.T) {
	l := Limits{CachedPrice: 0.1}
	if got := l.AtPrice(0.5).CachedPrice; got != 0.5 || l.CachedPrice != 0.1 {
		t.Errorf("a cached token costs %v, and %v before", got, l.CachedPrice)
	}
	l.FixPrice()
	if got := l.AtPrice(0.5).CachedPrice; got != 0.1 {
		t.Errorf("the user's price is %v", got)
	}
}
