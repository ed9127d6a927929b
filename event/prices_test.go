package event

import (
	"testing"
	"time"
)

// dollar is one, in nano-dollars.
const dollar = 1_000_000_000

// rates are nano-dollars for a million tokens: new, read, written for five minutes and for an hour, and of the answer.
type rates [5]float64

const unknown = -1

// priced returns a price of rates, and of others for requests of more than 200,000 tokens.
func priced(r rates, large ...rates) *Price {
	var all [5]*Rate
	for i, nano := range r {
		if nano != unknown {
			all[i] = &Rate{Base: nano / dollar}
		}
		for _, l := range large {
			all[i].Tiers = append(all[i].Tiers, Tier{200_000, l[i] / dollar})
		}
	}
	return &Price{"p", all[0], all[1], all[2], all[3], all[4]}
}

// plain has 3 dollars for new tokens, and the usual relations.
var plain = rates{3 * dollar, dollar * 0.3, dollar * 3.75, 6 * dollar, 15 * dollar}

func told(input, output int) Usage {
	return Usage{Source: UsageProvider, Input: input, Output: output}
}

func TestCostIsTheSumOfItsParts(t *testing.T) {
	f := func(p *Price, u Usage, want int64) {
		t.Helper()
		if nano, known := p.Cost(&u); nano != want || !known {
			t.Errorf("%+v: %d, %t; want %d", u, nano, known, want)
		}
	}
	million := told(1_000_000, 10_000)
	million.Read, million.Write5m, million.Write1h = 500_000, 200_000, 100_000
	f(priced(plain), million, 200_000*3000+500_000*300+200_000*3750+100_000*6000+10_000*15000)
	f(priced(rates{4: 1}), told(0, 499_999), 0)
	f(priced(rates{4: 1}), told(0, 500_000), 1)                // half up
	f(priced(rates{1, 0, 0, 0, 1}), told(400_000, 400_000), 1) // rounded once, not each part
	f(priced(rates{1e15, 0, 0, 0, 1e15}), told(100_000_000, 0), 1e17)

	big := rates{6 * dollar, dollar, 4 * dollar, 7 * dollar, 20 * dollar}
	f(priced(plain, big), told(200_000, 100), 200_000*3000+100*15000)
	f(priced(plain, big), told(200_001, 100), 200_001*6000+100*20000) // the whole of it
	cached := told(250_000, 0)
	cached.Read = 249_000 // what the cache had counts towards the size
	f(priced(plain, big), cached, 1000*6000+249_000*1000)

	written := told(1000, 0)
	written.Write5m = 1000
	f(priced(rates{3 * dollar, dollar, unknown, unknown, dollar}), written, 3_000_000) // no fee of its own
}

func TestTheTableIsRead(t *testing.T) {
	table := BuiltinPrices()
	if len(table) < 10 {
		t.Fatalf("%d providers", len(table))
	}
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	f := func(host, model, want string, input float64) {
		t.Helper()
		p := table.find("https://"+host+"/v1", model).price(now)
		if p == nil {
			p = &Price{Input: &Rate{}}
		}
		if p.ID != want || p.Input.Base != input {
			t.Errorf("%s at %q: %q for %v, want %q for %v", model, host, p.ID, p.Input.Base, want, input)
		}
	}
	f("api.anthropic.com", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5", 3)
	f("gateway.example", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", 3)
	f("127.0.0.1", "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", 3)
	f("api.openai.com", "claude-sonnet-4-5", "", 0)
	f("api.openai.com", "gpt-4o", "openai/gpt-4o", 2.5)
	f("me.openai.azure.com", "gpt-4o", "openai/gpt-4o", 2.5) // azure has none of its own
	f("europe-west1-aiplatform.googleapis.com", "gemini-2.5-pro-preview-06-05", "google/gemini-2.5-pro", 1.25)
	f("googleapis.com", "gemini-2.5-pro-preview-tts", "google/gemini-2.5-pro-tts", 1)
	f("127.0.0.1", "deepseek-r1:8b", "", 0)
}

func TestPricesHoldAtTheirTimes(t *testing.T) {
	table := BuiltinPrices()
	f := func(model, at string, want float64) {
		t.Helper()
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		p := table.find("https://api.deepseek.com", model).price(now)
		if p == nil || p.Input.Base != want {
			t.Errorf("%s at %s: %+v, want %v", model, at, p, want)
		}
	}
	f("deepseek-v4-flash", "2026-08-16T23:59:59Z", 0.14)
	f("deepseek-v4-flash", "2026-08-17T00:00:00Z", 0.22)
	f("deepseek-v4-flash", "2026-11-17T04:00:00Z", 0.22)
	f("deepseek-v4-flash", "2026-11-17T10:00:00+08:00", 0.44)
}
