// Package logs is the fold of events into log lines: one for each exchange, and one for each step of a compaction or of
// a job that asks for a summary.
//
// It promises that no line carries a credential, a header or a body, and that a field there is nothing to say of is
// left out, but for the ten that each exchange has.
package logs

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"time"

	"epitome/event"
)

// Recorder writes a line for each event. Make one with New.
type Recorder struct {
	log   *slog.Logger
	spare sync.Pool // of *fields, whose line was written: it has taken over what they say

	mu        sync.Mutex
	strangers struct { // in one minute
		minute time.Time
		told   int // that have lines
		more   int // that have none
	}
}

var _ event.Sink = (*Recorder)(nil)

// New returns a Recorder that writes to log.
func New(log *slog.Logger) *Recorder { return &Recorder{log: log} }

// RecordExchange writes of an exchange that has ended: what was done about a refusal first.
func (r *Recorder) RecordExchange(e event.Exchange) {
	if e.IsStranger() && !r.tellStranger(e.Start.Truncate(time.Minute)) {
		return
	}
	r.recordRescue(&e)
	r.recordRefuted(&e)
	r.logExchange(&e)
}

// mostStrangers is how many lines a minute is told of who comes without a key: they would fill the log.
const mostStrangers = 10

// tellStranger reports whether one of the minute gets a line. How many got none in an earlier one is told before. What
// ends late counts in the minute that is being told of; a clock that was set back begins another one.
func (r *Recorder) tellStranger(minute time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.strangers
	if after := minute.Sub(s.minute); after > 0 || after < -time.Minute {
		if s.more > 0 {
			r.log.Warn("more requests were refused before it was known whose they are", "count", s.more, "minute", s.minute)
		}
		s.minute, s.told, s.more = minute, 0, 0
	}
	if s.told < mostStrangers {
		s.told++
		return true
	}
	s.more++
	return false
}

// mostFields is how many a line has at most.
const mostFields = 10 + 1 + 22 + 9 + 2

// logExchange writes the one line an exchange gets.
func (r *Recorder) logExchange(e *event.Exchange) {
	level := slog.LevelWarn
	switch {
	case e.Fault == event.Panic:
		level = slog.LevelError
	case e.Inner == "" && (e.Fault == event.None || e.Fault == event.ClientGone || offersHTTP(e)):
		level = slog.LevelInfo
	}
	kept, _ := r.spare.Get().(*fields)
	if kept == nil {
		f := make(fields, 0, mostFields)
		kept = &f
	}
	defer r.spare.Put(kept)
	attrs := append((*kept)[:0],
		slog.String("id", e.ID), slog.String("method", e.Method), slog.String("path", e.Path),
		slog.String("upstream", e.Upstream), slog.Int("status", e.Status), slog.String("action", e.Action),
		slog.Int64("in", e.RequestBytes), slog.Int64("out", e.ResponseBytes),
		slog.Float64("first_byte_ms", milliseconds(e.FirstByte)), slog.Float64("duration_ms", milliseconds(e.Duration)),
	)
	attrs.text("client", e.Client)
	if e.ShapeTime > 0 {
		attrs = appendShaping(attrs, e)
	}
	attrs = appendSpending(attrs, e)
	if e.Fault != event.None {
		attrs = append(attrs, slog.String("fault", string(e.Fault)), slog.String("error", e.Err))
	}
	if h := r.log.Handler(); h.Enabled(context.Background(), level) { // the logger would look for its caller first
		line := slog.NewRecord(time.Now(), level, "exchange", 0)
		line.AddAttrs(attrs...)
		_ = h.Handle(context.Background(), line) // as the logger does: nobody can be told that it fails
	}
}

// offersHTTP tells whether a client was refused a WebSocket. It goes on over HTTP, so nobody needs to do anything.
func offersHTTP(e *event.Exchange) bool {
	return e.Fault == event.Refused && e.Status == http.StatusUpgradeRequired
}

// appendSpending adds what an answer says of its tokens, and what that comes to. An amount that is not known is left
// out, and one that is nothing is not.
func appendSpending(attrs fields, e *event.Exchange) fields {
	if u := &e.Usage; u.Source == event.UsageProvider {
		attrs = append(attrs, slog.Int("input_tokens", u.Input))
		if !u.CacheUnknown {
			attrs = append(attrs, slog.Int("cached_tokens", u.Read))
		}
		attrs.number("written_tokens", u.Write5m+u.Write1h)
		attrs = append(attrs, slog.Int("output_tokens", u.Output))
		attrs.yes("cut", u.Cut)
	}
	attrs.text("price", e.Bill.Price)
	if e.Bill.Measured {
		attrs = append(attrs, slog.Int64("billed_nano", e.Bill.Billed))
	}
	if e.Bill.Ruled && e.Mode == event.ModeOn {
		attrs = append(attrs, slog.Int64("saved_nano", e.Bill.Saved()))
	}
	attrs.yes("beyond", e.Bill.Beyond)
	if e.Bill.IsUnpriced() {
		attrs.text("unpriced", e.Bill.Unpriced)
	}
	return attrs
}

// appendShaping adds what there is to say about a conversation.
func appendShaping(attrs fields, e *event.Exchange) fields {
	attrs = append(attrs, slog.String("mode", e.Mode), slog.Float64("shape_ms", milliseconds(e.ShapeTime)))
	attrs.text("model", e.Model)
	attrs.text("conversation", e.Conversation)
	attrs.number("window", e.Window)
	attrs.number("tokens_before", e.TokensBefore.Total())
	attrs.number("tokens_after", e.TokensAfter.Total())
	attrs.yes("estimated", e.Estimated)
	if e.Ratio > 0 {
		attrs = append(attrs, slog.Float64("ratio", math.Round(e.Ratio*1000)/1000))
	}
	attrs.yes("decided", e.Decided)
	attrs.yes("broke", e.Broke)
	attrs.number("offloaded", e.Offloaded)
	attrs.number("cleared", e.Cleared)
	attrs.number("compacted", e.Compacted)
	attrs.text("causes", e.Causes.String())
	attrs.number("thoughts", int(e.Thoughts))
	attrs.number("added", int(e.Added))
	attrs.number("memory", int(e.Memory))
	attrs.text("contexts", e.Contexts)
	attrs.text("reason", e.Reason)
	attrs.text("inner", e.Inner)
	return attrs
}
