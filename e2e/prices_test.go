//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"epitome/event"
)

// hosts are those of the providers that the table has.
var hosts = map[string]string{
	"anthropic": "api.anthropic.com", "openai": "api.openai.com", "google": "generativelanguage.googleapis.com",
	"deepseek": "api.deepseek.com", "x-ai": "api.x.ai", "mistral": "api.mistral.ai", "moonshotai": "api.moonshot.ai",
	"zhipuai": "open.bigmodel.cn", "zai": "api.z.ai", "minimax": "api.minimax.io", "cohere": "api.cohere.com",
	"azure": "mine.openai.azure.com", "groq": "api.groq.com", "cerebras": "api.cerebras.ai",
	"fireworks": "api.fireworks.ai", "openrouter": "openrouter.ai",
}

// asking is a made-up usage, and what genai-prices itself makes of it.
type asking struct {
	Provider, Model                       string
	Time                                  time.Time
	Input, Read, Write5m, Write1h, Output int
	Found                                 string  // the model that it takes it for; empty if it knows none
	Total                                 float64 // dollars
	Whole, Reads, Writes, Hours           bool    // it has prices of words, of what the cache had, of what it takes up
}

// known reports whether there must be an amount: a price that is missing is not made up.
func (a *asking) known() bool {
	lacksRead, lacksWrite := a.Read > 0 && !a.Reads, a.Write5m > 0 && !a.Reads && !a.Writes
	return !lacksRead && !lacksWrite && (a.Write1h == 0 || a.Hours)
}

func TestPricesAreThoseOfTheRelease(t *testing.T) {
	const count = 20_000
	args := []string{"prices.mjs", strconv.Itoa(count)}
	args = append(args, slices.Sorted(maps.Keys(hosts))...)
	said, err := run(t.Context(), install(t, libraries), "node", args...)
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, said)
	}
	table := event.BuiltinPrices()
	lines, compared, found := bufio.NewScanner(bytes.NewReader(said)), 0, 0
	for lines.Scan() {
		var a asking
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		p := table.Find("https://"+hosts[a.Provider], a.Model, a.Time)
		if p == nil {
			if a.Found != "" && a.Whole {
				t.Fatalf("no price is found for %s", lines.Bytes())
			}
			continue
		}
		if _, model, _ := strings.Cut(p.ID, "/"); model != a.Found || !a.Whole {
			t.Fatalf("it is %s for %s", p.ID, lines.Bytes())
		}
		found++
		nano, known := p.Cost(&event.Usage{
			Source: event.UsageProvider, Input: a.Input, Read: a.Read, Write5m: a.Write5m, Write1h: a.Write1h,
			Output: a.Output,
		})
		if known != a.known() || known && math.Abs(float64(nano)-a.Total*1e9) > 0.6 {
			t.Fatalf("%d nano-dollars, known: %t, for %s", nano, known, lines.Bytes())
		}
		if known {
			compared++
		}
	}
	if found < count/2 || compared < count/3 {
		t.Errorf("of %d usages %d have a price and %d an amount", count, found, compared)
	}
	t.Logf("of %d usages %d have a price and %d an amount", count, found, compared)
}
