package money

import (
	"math"
	"testing"
	"time"

	"epitome/event"
)

// dollar is one, in nano-dollars.
const dollar = 1_000_000_000

func priced(r Rates, tiers ...Tier) *Price { return &Price{ID: "p", Base: r, Tiers: tiers} }

// plain has 3 dollars for new tokens, and the usual relations.
var plain = Rates{3 * dollar, dollar * 3 / 10, dollar * 375 / 100, 6 * dollar, 15 * dollar}

func told(input, output int) event.Usage {
	return event.Usage{Source: event.UsageProvider, Input: input, Output: output}
}

func TestCostIsTheSumOfItsParts(t *testing.T) {
	f := func(p *Price, u event.Usage, want int64) {
		t.Helper()
		least, most, why := p.Cost(&u)
		if least != want || most != want || why != "" {
			t.Errorf("%+v: %d to %d, %q; want %d", u, least, most, why, want)
		}
	}
	million := told(1_000_000, 10_000)
	million.Read, million.Write5m, million.Write1h = 500_000, 200_000, 100_000
	f(priced(plain), million, 200_000*3000+500_000*300+200_000*3750+100_000*6000+10_000*15000)
	f(priced(plain), told(0, 0), 0)
	f(priced(Rates{Output: 1}), told(0, 499_999), 0)
	f(priced(Rates{Output: 1}), told(0, 500_000), 1) // half up
	f(priced(Rates{Output: 1}), told(0, 1_499_999), 1)
	f(priced(Rates{Input: 1, Output: 1}), told(400_000, 400_000), 1) // rounded once, not each part
	f(priced(Rates{Input: 1e15, Output: 1e15}), told(100_000_000, 0), 1e17)

	big := Tier{200_000, Rates{6 * dollar, dollar, Unknown, Unknown, 20 * dollar}}
	f(priced(plain, big), told(200_000, 100), 200_000*3000+100*15000)
	f(priced(plain, big), told(200_001, 100), 200_001*6000+100*20000) // the whole of it
	cached := told(250_000, 0)
	cached.Read = 249_000 // what the cache had counts towards the size
	f(priced(plain, big), cached, 1000*6000+249_000*1000)

	written := told(1000, 0)
	written.Write5m = 1000
	f(priced(Rates{3 * dollar, dollar, Unknown, Unknown, dollar}), written, 3_000_000) // no fee of its own
}

func TestWhatIsUnknownHasNoAmount(t *testing.T) {
	f := func(p *Price, u event.Usage, want string) {
		t.Helper()
		if least, most, why := p.Cost(&u); why != want || least != 0 || most != 0 {
			t.Errorf("%+v: %d to %d, %q; want %q", u, least, most, why, want)
		}
	}
	bare := Rates{dollar, Unknown, Unknown, Unknown, dollar}
	u := told(1000, 10)
	u.Read = 1
	f(priced(bare), u, event.UnpricedCached)
	u.Read, u.Write5m = 0, 1
	f(priced(bare), u, event.UnpricedCached)
	u.Write5m, u.Write1h = 0, 1
	f(priced(Rates{dollar, dollar, dollar, Unknown, dollar}), u, event.UnpricedCached)
	u = told(1000, 10)
	u.CacheUnknown = true
	f(priced(bare), u, event.UnpricedCached)
	f(priced(plain), event.Usage{}, event.UnpricedUsage)
	f(priced(plain), event.Usage{Source: event.UsageCounted, Input: 5}, event.UnpricedUsage)
	f(priced(plain), event.Usage{Source: event.UsageProvider, Odd: true}, event.UnpricedOdd)
	f(priced(plain), event.Usage{Source: event.UsageProvider, Input: 5, Read: 6}, event.UnpricedOdd)
	f(priced(plain), event.Usage{Source: event.UsageProvider, Input: -5}, event.UnpricedOdd)
	f(priced(Rates{Input: math.MaxInt64}), told(math.MaxInt64, 0), event.UnpricedOdd)
}

func TestAnUnknownCacheIsARange(t *testing.T) {
	u := told(1_000_000, 0)
	u.CacheUnknown = true
	if least, most, why := priced(plain).Cost(&u); least != plain.Read || most != plain.Write5m || why != "" {
		t.Errorf("%d to %d, %q", least, most, why)
	}
	auto := priced(Rates{3 * dollar, dollar, Unknown, Unknown, dollar})
	if least, most, why := auto.Cost(&u); least != dollar || most != 3*dollar || why != "" {
		t.Errorf("%d to %d, %q", least, most, why)
	}
}

func TestTheTableIsRead(t *testing.T) {
	table := Builtin()
	if table.Models < 400 || table.Source == "" || table.Date.Before(day("2026-09-01")) {
		t.Fatalf("%d models, %q of %v", table.Models, table.Source, table.Date)
	}
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	f := func(host, model, want string, input int64) {
		t.Helper()
		p := table.Find(host, model, now)
		if p == nil {
			p = &Price{}
		}
		if p.ID != want || p.Base.Input != input {
			t.Errorf("%s at %q: %q for %d, want %q for %d", model, host, p.ID, p.Base.Input, want, input)
		}
	}
	f("api.anthropic.com", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5", 3*dollar)
	f("API.Anthropic.com", "Claude-Sonnet-4-5", "anthropic/claude-sonnet-4-5", 3*dollar)
	f("gateway.example", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", 3*dollar)
	f("127.0.0.1", "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", 3*dollar)
	f("api.openai.com", "claude-sonnet-4-5", "", 0)
	f("api.openai.com", "gpt-4o", "openai/gpt-4o", 2.5*dollar)
	f("me.openai.azure.com", "gpt-4o", "openai/gpt-4o", 2.5*dollar) // azure has none of its own
	f("europe-west1-aiplatform.googleapis.com", "gemini-2.5-pro-preview-06-05", "google/gemini-2.5-pro", 1.25*dollar)
	f("googleapis.com", "gemini-2.5-pro-preview-tts", "google/gemini-2.5-pro-tts", dollar)
	f("127.0.0.1", "deepseek-r1:8b", "", 0)
	f("127.0.0.1", "llama-3.3-70b", "", 0)
	f("", "something else", "", 0)
	f("", "", "", 0)
}

func TestPricesHoldAtTheirTimes(t *testing.T) {
	table := Builtin()
	f := func(model, at string, want int64) {
		t.Helper()
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		p := table.Find("api.deepseek.com", model, now)
		if p == nil || p.Base.Input != want {
			t.Errorf("%s at %s: %+v, want %d", model, at, p, want)
		}
	}
	f("deepseek-v4-flash", "2026-08-16T23:59:59Z", dollar*14/100)
	f("deepseek-v4-flash", "2026-08-17T00:00:00Z", dollar*22/100)
	f("deepseek-v4-flash", "2026-11-17T01:00:00Z", dollar*44/100)
	f("deepseek-v4-flash", "2026-11-17T03:59:59Z", dollar*44/100)
	f("deepseek-v4-flash", "2026-11-17T04:00:00Z", dollar*22/100)
	f("deepseek-v4-flash", "2026-11-17T10:00:00+08:00", dollar*44/100)
	overnight := timed{hours: [2]int{minute("16:30"), minute("00:30")}}
	for text, want := range map[string]bool{"16:29": false, "16:30": true, "23:59": true, "00:29": true, "00:30": false} {
		if overnight.holds(day("2026-11-01").Add(time.Duration(minute(text))*time.Minute)) != want {
			t.Errorf("at %s it is not %t", text, want)
		}
	}
}
