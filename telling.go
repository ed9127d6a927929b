package main

import (
	"strings"
	"sync/atomic"
	"time"

	"epitome/event"
	"epitome/rewrite"
	"epitome/summarize"
)

// telling hands on what is told of conversations, from when there is someone to hear it: what shapes them is made before that.
// The zero value is ready, and must not be copied.
type telling struct {
	sink atomic.Pointer[event.Sink]
}

// to says who hears it from now on.
func (t *telling) to(s event.Sink) { t.sink.Store(&s) }

// notice hands on what shaping says.
func (t *telling) notice(n rewrite.Notice) {
	s := t.sink.Load()
	switch {
	case s == nil:
	case n.Kind == rewrite.ContextWindowWarning:
		(*s).RecordWarning(warningOf(n, time.Now()))
	default:
		(*s).RecordCompaction(compactionOf(n, time.Now()))
	}
}

// job hands on what asking a model says.
func (t *telling) job(e summarize.Event) {
	if s := t.sink.Load(); s != nil {
		(*s).RecordSummary(summaryOf(e, time.Now()))
	}
}

func compactionOf(n rewrite.Notice, now time.Time) event.Compaction {
	p := n.Prose
	return event.Compaction{
		Kind: n.Kind, Time: now, Conversation: n.Conversation, Upstream: n.Upstream, Model: clip(n.Model),
		Reason: n.Reason, Mode: n.Mode, Detail: n.Detail,
		MessagesBefore: n.MessagesBefore, MessagesAfter: n.MessagesAfter, TokensBefore: n.TokensBefore, TokensAfter: n.TokensAfter,
		TurnsKept: n.TurnsKept, Files: n.Files, Prepared: n.Prepared, Why: clip(n.Why),
		Cost: event.Cost{Requests: p.Requests, InputTokens: p.InputTokens, CachedTokens: p.CachedTokens, OutputTokens: p.OutputTokens, Took: p.Took},
	}
}

func warningOf(n rewrite.Notice, now time.Time) event.Warning {
	return event.Warning{
		Time: now, Conversation: n.Conversation, Upstream: n.Upstream, Model: clip(n.Model),
		Window: n.Window, Usable: n.Usable, Tokens: n.TokensBefore, Reason: n.Reason,
	}
}

func summaryOf(e summarize.Event, now time.Time) event.Summary {
	kind := event.SummaryStarted
	switch e.Kind {
	case summarize.Completed:
		kind = event.SummaryCompleted
	case summarize.Failed:
		kind = event.SummaryFailed
	}
	return event.Summary{
		Kind: kind, Time: now, Conversation: e.Conversation, Upstream: e.Upstream, Model: clip(e.Model), Detail: e.Detail, Way: e.Way,
		Update: e.Update, Prepared: e.Prepared, SpanTokens: e.SpanTokens, Tokens: e.Tokens, Reason: clip(e.Reason),
		Cost: event.Cost{Requests: e.Requests, InputTokens: e.InputTokens, CachedTokens: e.CachedTokens, OutputTokens: e.OutputTokens, Took: e.Took},
	}
}

// mostTold bounds, in bytes, each text of an event that something outside may have a part in.
const mostTold = 200

// clip is s or a copy of its beginning, in sound UTF-8.
func clip(s string) string {
	if len(s) > mostTold {
		s = strings.Clone(s[:mostTold])
	}
	return strings.ToValidUTF8(s, "")
}
