package journal

import (
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"epitome/event"
)

// noon is when tests begin.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// rig is a Book whose clock stands still unless a test turns it.
type rig struct {
	*Book
	now *clock
}

// clock is what the writer reads while a test turns it.
type clock struct{ nanoseconds atomic.Int64 }

func (c *clock) Load() time.Time    { return time.Unix(0, c.nanoseconds.Load()).UTC() }
func (c *clock) Store(at time.Time) { c.nanoseconds.Store(at.UnixNano()) }

func configured(now *clock) Config {
	three, one, seven := 3.0, 1.0, 7.0
	own := event.OwnPrice{Input: &three, Cached: &one, Output: &seven}
	return Config{
		Keep: 30 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Now: now.Load,
		Biller: event.NewBiller(event.Prices{
			Own: event.OwnPrices{"m": own, "n": own, "small": own}, Caches: event.Caches{Life: 5 * time.Minute},
		}),
	}
}

// begin makes a Book that ends with the test.
func begin(t *testing.T, observers ...func(Entry)) rig {
	t.Helper()
	now := &clock{}
	now.Store(noon)
	c := configured(now)
	c.Observers = observers
	r := rig{Open(c), now}
	t.Cleanup(r.Close)
	return r
}

// talking is a request of a conversation that was answered, some minutes after noon.
func talking(id string, minutes int) event.Exchange {
	return event.Exchange{
		ID: "x", Start: noon.Add(time.Duration(minutes) * time.Minute), Duration: time.Second,
		Method: "POST", Path: "/v1/chat/completions", Upstream: "openai", Mode: event.ModeOn, Action: "none", Status: 200,
		FirstByte: time.Millisecond,
		Shaping: event.Shaping{
			Model: "m", Conversation: id, ShapeTime: time.Millisecond, Window: 10_000, Usable: 9_000,
			TokensBefore: event.Tokens{System: 100, Results: 3900},
			TokensAfter:  event.Tokens{System: 100, Results: 2900},
		},
		Usage: event.Usage{Source: event.UsageProvider, Input: 3000, Read: 2800, Output: 10},
	}
}

// dice makes events by chance, the same for the same seed.
type dice struct{ *rand.Rand }

func cast(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 17))} }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) tokens() event.Tokens {
	return event.Tokens{
		System: d.IntN(500), Tools: d.IntN(500), User: d.IntN(3000), Assistant: d.IntN(3000), Results: d.IntN(9000),
		Images: d.IntN(3), Other: d.IntN(3),
	}
}

func (d dice) exchange(at time.Time) event.Exchange {
	input := d.IntN(9000)
	e := event.Exchange{
		ID: strconv.Itoa(d.IntN(1000)), Start: at, Duration: time.Duration(d.IntN(200)) * time.Second,
		Upstream: pick(d, "openai", "anthropic"), FirstByte: 1,
		Mode:   pick(d, event.ModeOn, event.ModeOn, event.ModeObserve, event.ModeOff),
		Action: pick(d, "none", "offload", "clear", "compact", "bypass"), Status: pick(d, 200, 200, 200, 429, 0),
		Fault: pick(d, event.None, event.None, event.None, event.ClientGone),
		Usage: event.Usage{
			Source: pick(d, event.UsageProvider, event.UsageCounted, ""), Input: input, Read: d.IntN(input + 1),
			Output: d.IntN(500), Write5m: d.IntN(100), Odd: d.IntN(20) == 0, CacheUnknown: d.IntN(5) == 0,
		},
		Rescue: event.Rescue{Rescued: d.IntN(30) == 0},
	}
	if d.IntN(5) > 0 {
		e.Agent = pick(d, "", "claude-cli", "codex")
		e.Shaping = event.Shaping{
			Model: pick(d, "m", "n", "unknown"), Conversation: pick(d, "", "c1", "c2", "c3", "c4"), Window: 12_000,
			TokensBefore: d.tokens(), TokensAfter: d.tokens(), ShapeTime: time.Duration(d.IntN(3)),
			Decided: d.IntN(3) == 0, Broke: d.IntN(9) == 0,
			Offloaded: d.IntN(3), Cleared: d.IntN(3), TakenOut: d.IntN(999),
			Code: pick(d, event.NoCode, "too_small", "pays_later"),
		}
	}
	return e
}

func (d dice) summary(at time.Time) event.Summary {
	return event.Summary{
		Kind: pick(d, event.SummaryStarted, event.SummaryCompleted, event.SummaryFailed), Time: at,
		Conversation: pick(d, "c1", "c2", "c9"), Upstream: "openai", Model: "small",
		Cost: event.Cost{Requests: d.IntN(2), InputTokens: d.IntN(5000), OutputTokens: d.IntN(500)},
	}
}

// record records a number of events, with the clock running, and returns what was recorded.
func (d dice) record(r rig, events int) {
	for range events {
		r.now.Store(r.now.Load().Add(time.Duration(d.IntN(600)) * time.Second))
		switch d.IntN(8) {
		case 0:
			r.RecordSummary(d.summary(r.now.Load()))
		default:
			r.RecordExchange(new(d.exchange(r.now.Load())))
		}
		r.Settle()
	}
}
