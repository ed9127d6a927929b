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
		Sent: time.Millisecond, FirstByte: 300 * time.Millisecond, Duration: 1500 * time.Millisecond,
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
		Causes: event.Codes{event.CodeOverLimit, event.CodeRent},
		Reason: "why not more", ShapeTime: 1500 * time.Microsecond, Inner: "what failed",
	}
	return e
}

func begun() time.Time { return time.Unix(1_800_000_000, 0) }

// Discard is a Sink that drops all events.
type Discard struct{}

func (Discard) RecordExchange(event.Exchange)     {}
func (Discard) RecordCompaction(event.Compaction) {}
func (Discard) RecordWarning(event.Warning)       {}
func (Discard) RecordSummary(event.Summary)       {}
