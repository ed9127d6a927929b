// Package eventtest has one event of each kind that says all there is to say, for tests of what is folded from events.
package eventtest

import (
	"time"

	"epitome/event"
)

// Exchange returns a whole exchange without a fault, of a request that holds no conversation.
func Exchange() event.Exchange {
	return event.Exchange{
		ID: "x-1", Start: begun(), Method: "POST", Path: "/v1/chat/completions", Upstream: "openai",
		Mode: "on", Action: "none", Status: 200, RequestBytes: 100, ResponseBytes: 2000,
		Sent: time.Millisecond, FirstByte: 300 * time.Millisecond, Duration: 1500 * time.Millisecond, Reused: true,
	}
}

// Conversation returns an exchange whose conversation had something taken out, while something failed.
func Conversation() event.Exchange {
	e := Exchange()
	e.Action = "clear"
	e.Shaping = event.Shaping{
		Model: "m", Conversation: "c1", Window: 1000,
		TokensBefore: event.Tokens{System: 1, User: 20, Results: 300},
		TokensAfter:  event.Tokens{System: 1, User: 20, Results: 4},
		Decided:      true, Broke: true, Offloaded: 1, Cleared: 2,
		Causes: event.CausesOf(event.CauseLarge, event.CauseRent),
		Reason: "why not more", ShapeTime: 1500 * time.Microsecond, Inner: "what failed",
	}
	return e
}

// Compaction returns a step of that kind of a compaction.
func Compaction(kind string) event.Compaction {
	return event.Compaction{
		Kind: kind, Time: begun(), Conversation: "c1", Upstream: "openai", Model: "m", Window: 1000, Usable: 800,
		Reason: "threshold", Mode: "hybrid", Detail: "medium", MessagesBefore: 40, MessagesAfter: 9, TokensBefore: 1000,
		TokensAfter: 300,
		TurnsKept:   2, Files: 5, Prepared: true, Cost: cost(), Why: "why not more",
	}
}

// Summary returns a step of that kind of a job that asks a model.
func Summary(kind string) event.Summary {
	return event.Summary{
		Kind: kind, Time: begun(), Conversation: "c1", Upstream: "local", Model: "small", Detail: "low",
		Way: "continue", Update: true, Prepared: true, SpanTokens: 700, Tokens: 60, Cost: cost(), Reason: "why none",
	}
}

// Warning returns a warning for that reason.
func Warning(reason string) event.Warning {
	return event.Warning{
		Time: begun(), Conversation: "c1", Upstream: "openai", Model: "m", Window: 1000, Usable: 800, Tokens: 900,
		Sent: 850, Reason: reason, Messages: 2, Latest: true,
	}
}

func begun() time.Time { return time.Unix(1_800_000_000, 0) }

func cost() event.Cost {
	return event.Cost{
		Requests: 2, InputTokens: 900, CachedTokens: 700, OutputTokens: 80, Took: 1500 * time.Millisecond,
	}
}
