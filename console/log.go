package console

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"epitome/event"
	"epitome/event/journal"
)

// Log writes lines about events. No line has a credential, a header or a body.
type Log struct {
	log       *slog.Logger
	strangers *rate.Limiter // of lines about requests from nobody known
}

// NewLog returns a Log that writes to log.
func NewLog(log *slog.Logger) *Log {
	return &Log{log: log, strangers: rate.NewLimiter(rate.Every(6*time.Second), 10)}
}

// Record logs an event. Requests without a client's key get ten lines a minute, so that they cannot fill the log.
func (l *Log) Record(n journal.Entry) {
	switch {
	case n.Summary != nil:
		s := n.Summary
		pairs := append([]any{"conversation", s.Conversation, "upstream", s.Upstream, "model", s.Model,
			"way", s.Way, "update", s.Update, "prepared", s.Prepared, "window", s.Window, "span_tokens", s.SpanTokens,
			"tokens", s.Tokens, "distills", s.Distills}, costOf(s.Cost)...)
		isFailure := s.Kind == event.SummaryFailed || s.Kind == event.SummaryPaused
		l.write(warnIf(isFailure), s.Kind, append(pairs, "reason", s.Reason)...)
	case n.Compaction != nil:
		c := n.Compaction
		pairs := append([]any{"id", c.Exchange, "conversation", c.Conversation, "upstream", c.Upstream,
			"model", c.Model, "reason", c.Reason, "mode", c.Mode, "tokens_before", c.TokensBefore,
			"tokens_after", c.TokensAfter, "messages_before", c.MessagesBefore, "messages_after", c.MessagesAfter,
			"turns_before", c.TurnsBefore, "turns_kept", c.TurnsKept, "summary_tokens", c.SummaryTokens, "prepared", c.Prepared}, costOf(c.Cost)...)
		l.write(warnIf(c.Kind == event.CompactionFailed), c.Kind, append(pairs, "why", c.Why)...)
	case !n.Exchange.IsStranger() || l.strangers.Allow():
		l.writeSteps(n.Exchange)
		l.writeExchange(n.Exchange)
	}
}

// writeSteps logs what is worth a line of its own: warnings, a rescue, a learned window that was wrong.
func (l *Log) writeSteps(e *event.Exchange) {
	of := []any{"id", e.ID, "agent", e.Agent, "conversation", e.Conversation, "upstream", e.Upstream, "model", e.Model}
	write := func(level slog.Level, message string, pairs ...any) {
		l.write(level, message, append(of[:len(of):len(of)], pairs...)...)
	}
	for _, w := range e.Warnings {
		if e.Mode == event.ModeOn {
			write(slog.LevelWarn, "context_window_warning", "reason", w.Reason, "window", e.Window,
				"usable", e.Usable, "tokens", w.Tokens, "percent", w.Percent, "messages", w.Messages,
				"due", w.Due, "why", w.Why)
		}
	}
	if r := &e.Rescue; r.Kind != "" {
		write(warnIf(!r.Rescued), "rescue", "verdict", r.Kind, "outcome", r.Outcome(), "tries", r.Tries,
			"stages", r.Stages, "tokens_before", r.TokensBefore, "tokens_after", r.TokensAfter,
			"window_before", r.WindowBefore, "window_learned", r.WindowAfter)
	}
}

func (l *Log) writeExchange(e *event.Exchange) {
	pairs := []any{"id", e.ID, "method", e.Method, "path", e.Path, "upstream", e.Upstream,
		"status", e.Status, "action", e.Action, "in", e.RequestBytes, "out", e.ResponseBytes,
		"first_byte_ms", milliseconds(e.FirstByte), "duration_ms", milliseconds(e.Duration), "client", e.Client,
		"agent", e.Agent, "remote", e.Remote}
	if changed(*e) {
		pairs = append(pairs, "did", changes(*e))
	}
	if e.ShapeTime > 0 {
		pairs = append(pairs, "mode", e.Mode, "shape_ms", milliseconds(e.ShapeTime), "model", e.Model,
			"conversation", e.Conversation, "turn", e.Turn, "window", e.Window, "tokens_before", e.TokensBefore.Total(),
			"tokens_after", e.TokensAfter.Total(), "estimated", e.Estimated, "ratio", math.Round(e.Ratio*1000)/1000,
			"decided", e.Decided, "broke", e.Broke, "offloaded", e.Offloaded, "cleared", e.Cleared,
			"compacted", e.Compacted, "causes", e.Causes.String(), "thoughts", e.Thoughts, "added", e.Added,
			"memory", e.Memory, "contexts", e.Contexts, "reason", e.Reason, "inner", e.Inner)
	}
	if u := &e.Usage; u.Source == event.UsageProvider {
		pairs = append(pairs, "input_tokens", u.Input, "cached_tokens", u.Read, "written_tokens", u.Write5m+u.Write1h,
			"output_tokens", u.Output, "reasoning_tokens", u.Reasoning, "cut", u.Cut)
	}
	b := &e.Bill
	if e.Mode == event.ModeOn {
		pairs = append(pairs, "saved_nano", b.Saved())
	}
	pairs = append(pairs, "unpriced", b.Unpriced, "billed_nano", b.Billed, "at_least", b.AtLeast, "price", b.Price,
		"beyond", b.Oversized, "fault", string(e.Fault), "error", e.Err)
	l.write(levelOf(e), "exchange", pairs...)
}

// levelOf returns the level of an exchange: Warn where something failed, or a conversation could not be read, Error for
// a bug in epitome.
func levelOf(e *event.Exchange) slog.Level {
	offersHTTP := e.Fault == event.Refused && e.Status == http.StatusUpgradeRequired // clients go on over HTTP
	if e.Fault == event.Panic {
		return slog.LevelError
	}
	hasFailed := e.Fault != event.None && e.Fault != event.ClientGone && !offersHTTP
	return warnIf(hasFailed || e.Inner != "" || e.Code == event.CodeNotRead || e.Code == event.CodeManyNew)
}

// warnIf returns Warn if something failed, else Info.
func warnIf(failed bool) slog.Level {
	if failed {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

func costOf(c event.Cost) []any {
	return []any{"requests", c.Requests, "input_tokens", c.InputTokens, "cached_tokens", c.CachedTokens,
		"output_tokens", c.OutputTokens, "untold", c.Unreported, "took_ms", milliseconds(c.Took)}
}

// write logs pairs of a key and a value. Zero values are left out.
func (l *Log) write(level slog.Level, message string, pairs ...any) {
	ctx := context.Background()
	if !l.log.Enabled(ctx, level) {
		return
	}
	kept := make([]any, 0, len(pairs))
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1]; v {
		case "", 0, int64(0), false, 0.0:
		default:
			kept = append(kept, pairs[i], v)
		}
	}
	l.log.Log(ctx, level, message, kept...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
