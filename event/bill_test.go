package event

import (
	"testing"
	"time"
)

func ptr(v float64) *float64 { return &v }

func biller() *Biller {
	return NewBiller(Prices{
		Own: OwnPrices{
			"mine":   {Input: ptr(1), Cached: ptr(0.1), Output: ptr(5)},
			"mine-*": {Input: ptr(2), Output: ptr(5)},
			"mi*":    {Input: ptr(0), Output: ptr(0)},
		},
		Sellers: map[string]Seller{
			"claude": {URL: "https://api.anthropic.com"}, "openai": {URL: "https://api.openai.com/v1"},
			"plan": {"https://chatgpt.com/backend-api/codex", Subscription}, "local": {"http://127.0.0.1:8080", Free},
		},
		Caches: Caches{Life: 5 * time.Minute},
	})
}

// asked is an exchange that went well, with a request of so many tokens shaped to so many.
func asked(upstream, model string, before, after int) *Exchange {
	return &Exchange{
		Start: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Upstream: upstream, Mode: ModeOn, Status: 200,
		FirstByte: time.Second, Dialect: "chat", Usage: told(after, 100),
		Shaping: Shaping{
			Model: model, Window: 100_000, Usable: 90_000,
			TokensBefore: Tokens{User: before}, TokensAfter: Tokens{User: after},
		},
	}
}

func TestBothRequestsAreComparedByTheSameAssumptions(t *testing.T) {
	f := func(change func(e *Exchange), pause time.Duration, raw, sent int64) {
		t.Helper()
		e := asked("openai", "mine", 20_000, 10_000)
		e.HeldBefore, e.HeldAfter = 19_000, 5000
		change(e)
		biller().Bill(e, &Exchange{Start: e.Start.Add(-pause)})
		if b := e.Bill; b.Raw != raw || b.Sent != sent || !b.Compared || b.Price != "config/mine" {
			t.Errorf("%+v, want %d and %d", b, raw, sent)
		}
	}
	const output = 100 * 5000
	// 148 and 39 whole steps of 128 tokens
	raw, sent := int64(18944*100+1056*1000+output), int64(4992*100+5008*1000+output)
	f(func(*Exchange) {}, time.Minute, raw, sent)
	f(func(*Exchange) {}, 5*time.Minute+1, 20_000_000+output, 10_000_000+output)
	f(func(e *Exchange) { e.HeldAfter = 1023 }, 0, raw, 10_000_000+output)
	f(func(e *Exchange) { e.Usage = Usage{} }, 0, raw-output, sent-output) // only the answer is unknown
	f(func(e *Exchange) { e.TokensAfter.User = 30_000 }, 0, raw, 4992*100+25_008*1000+output)
}

// What a provider refused for its size, and answered when it was shorter, would have been refused without epitome,
// whatever window was believed: no price of it as it came can be held against what was sent.
func TestWhatWasRefusedAsTooLongHasNoPriceAsItCame(t *testing.T) {
	f := func(kind string, refused int, rescued, beyond bool) {
		t.Helper()
		e := asked("openai", "mine", 20_000, 10_000)
		e.Rescue = Rescue{Kind: kind, Tries: 1, Rescued: rescued, TokensBefore: refused, TokensAfter: 10_000}
		biller().Bill(e, nil)
		if b := e.Bill; b.Oversized != beyond || b.Compared == beyond || !b.Measured {
			t.Errorf("%s of %d tokens, rescued %t: %+v", kind, refused, rescued, b)
		}
	}
	f("input", 20_000, true, true)
	f("input", 15_000, true, true)  // what came was shortened before it was refused
	f("input", 20_001, true, false) // what came is smaller than what was refused
	f("output", 20_000, true, false)
	f("input", 20_000, false, false)
}

func TestMoneyIsOnNeitherSide(t *testing.T) {
	f := func(change func(e *Exchange), unpriced, beyond bool) {
		t.Helper()
		e := asked("openai", "mine", 20_000, 10_000)
		change(e)
		biller().Bill(e, nil)
		b := e.Bill
		if b.Compared || b.Raw != 0 || b.Sent != 0 || b.Saved() != 0 || b.Unpriced != unpriced || b.Oversized != beyond {
			t.Errorf("%+v, want %t, %t", b, unpriced, beyond)
		}
	}
	f(func(e *Exchange) { e.TokensBefore.User = 100_001 }, false, true)
	f(func(e *Exchange) { e.TokensBefore = Tokens{} }, false, false)
	f(func(e *Exchange) { e.Status = 429 }, false, false)
	f(func(e *Exchange) { e.Model = "nobody's" }, true, false)
	f(func(e *Exchange) { e.Shaping = Shaping{} }, false, false)
	f(func(e *Exchange) { e.Model, e.HeldBefore = "mine-2", 5000 }, true, false)
}

func TestBilledIsMeasured(t *testing.T) {
	f := func(hasClock bool, change func(e *Exchange), want Bill) {
		t.Helper()
		e := asked("openai", "mine", 0, 10_000)
		change(e)
		biller().Bill(e, nil)
		e.Bill.Compared, e.Bill.Raw, e.Bill.Sent = false, 0, 0
		if e.Bill != want {
			t.Errorf("%+v, want %+v", e.Bill, want)
		}
		// where a price, the cache or the time is not known, nothing is foretold
		if c := biller().Clock(e); (c != nil) != hasClock {
			t.Errorf("the clock of %+v is %+v", e.Usage, c)
		}
	}
	f(true, func(*Exchange) {}, Bill{Price: "config/mine", Billed: 10_500_000, Measured: true})
	f(false, func(e *Exchange) { e.Usage.CacheUnknown = true },
		Bill{Price: "config/mine", Billed: 1_500_000, Measured: true, AtLeast: true})
	f(true, func(e *Exchange) { e.Usage.Charged = 77 }, Bill{Price: "config/mine", Billed: 77, Measured: true})
	f(false, func(e *Exchange) { e.Model, e.Usage.Charged = "nobody's", 77 }, Bill{Billed: 77, Measured: true})
	cut := Bill{Price: "config/mine", Billed: 10_500_000, Measured: true, AtLeast: true}
	f(true, func(e *Exchange) { e.Usage.Cut = true }, cut)
	f(true, func(e *Exchange) { e.Usage.Cut, e.Usage.Charged = true, 77 }, // that is all of it
		Bill{Price: "config/mine", Billed: 77, Measured: true})
	f(false, func(e *Exchange) { e.Usage.Read = -9 }, Bill{Price: "config/mine", Unpriced: true})
	f(false, func(e *Exchange) { e.Usage.Write5m = 1 << 62 }, Bill{Price: "config/mine", Unpriced: true})
	f(false, func(e *Exchange) { e.Usage.Odd = true }, Bill{Price: "config/mine", Unpriced: true})
	f(false, func(e *Exchange) { e.Usage = Usage{} }, Bill{Price: "config/mine", Unpriced: true})
	f(true, func(e *Exchange) { e.Upstream = "plan" },
		Bill{Price: "config/mine", Billed: 10_500_000, Measured: true, Subscription: true})
	f(false, func(e *Exchange) { e.Upstream, e.Usage = "local", Usage{} }, Bill{Price: "free", Measured: true})
	f(false, func(e *Exchange) { e.Model = "MINI" }, Bill{Price: "config/mi*", Measured: true})
	f(true, func(e *Exchange) { e.Upstream, e.Model = "claude", "claude-haiku-4-5" },
		Bill{Price: "anthropic/claude-haiku-4-5", Billed: 10_500_000, Measured: true})
}

func TestSummariesAreCharged(t *testing.T) {
	f := func(model string, cost Cost, want Charge) {
		t.Helper()
		s := Summary{Upstream: "plan", Model: model, Cost: cost}
		if got := biller().Charge(&s); got != want {
			t.Errorf("%s, %+v: %+v, want %+v", model, cost, got, want)
		}
	}
	two := Cost{InputTokens: 10_000, CachedTokens: 4000, OutputTokens: 1000, Requests: 2}
	f("mine", two, Charge{Price: "config/mine", Nano: 6_000_000 + 400_000 + 5_000_000})
	f("mine-2", two, Charge{})
	two.WrittenTokens = 6000
	f("claude-haiku-4-5", two, Charge{
		Price: "anthropic/claude-haiku-4-5", Nano: 4000*100 + 6000*1250 + 1000*5000,
	})
	// Three requests of 100,000 tokens are not one of 300,000.
	f("claude-sonnet-4-5", Cost{InputTokens: 300_000, Requests: 3},
		Charge{Price: "anthropic/claude-sonnet-4-5", Nano: 300_000 * 3000})
	f("nobody's", two, Charge{})
	f("mine", Cost{}, Charge{})
	two.Unreported = 1
	f("mine", two, Charge{})
	f("mind", two, Charge{Price: "config/mi*"}) // whatever answers say, it costs nothing
}
