package console

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"epitome/event"
)

// Log writes a line per event to a logger. It is an event.Sink. No line has a credential, a header or a body.
type Log struct {
	log       *slog.Logger
	strangers *rate.Limiter // of lines about requests from nobody known
}

// NewLog returns a Log that writes to log.
func NewLog(log *slog.Logger) *Log {
	return &Log{log, rate.NewLimiter(rate.Every(6*time.Second), 10)}
}

// RecordExchange logs an exchange that has ended, and before it the rescue of its request if there was one. Requests
// without a client's key get ten lines a minute, so that they cannot fill the log.
func (l *Log) RecordExchange(e event.Exchange) {
	if e.IsStranger() && !l.strangers.Allow() {
		return
	}
	if r := e.Rescue; r.Kind != "" {
		l.write(warnIf(!r.Rescued), "rescue", "id", e.ID, "conversation", e.Conversation, "upstream", e.Upstream, "model", e.Model,
			"verdict", r.Kind, "outcome", r.Outcome(), "tries", int(r.Tries), "stages", r.Stages,
			"tokens_before", r.TokensBefore, "tokens_after", r.TokensAfter,
			"window_before", r.WindowBefore, "window_learned", r.WindowAfter)
	}
	if e.WindowRefuted > 0 {
		l.write(slog.LevelInfo, event.ContextWindowCorrected, "id", e.ID, "conversation", e.Conversation,
			"upstream", e.Upstream, "model", e.Model, "reason", "a longer request was answered: the learned window is dropped",
			"tokens", e.TokensAfter.Total(), "tokens_counted", e.TokensUsed, "window", e.Window,
			"window_refuted", e.WindowRefuted)
	}
	pairs := []any{"id", e.ID, "method", e.Method, "path", e.Path, "upstream", e.Upstream, "status", e.Status,
		"action", e.Action, "in", e.RequestBytes, "out", e.ResponseBytes, "first_byte_ms", milliseconds(e.FirstByte),
		"duration_ms", milliseconds(e.Duration), "client", e.Client}
	if e.ShapeTime > 0 {
		pairs = append(pairs, "mode", e.Mode, "shape_ms", milliseconds(e.ShapeTime), "model", e.Model,
			"conversation", e.Conversation, "window", e.Window, "tokens_before", e.TokensBefore.Total(),
			"tokens_after", e.TokensAfter.Total(), "estimated", e.Estimated, "ratio", math.Round(e.Ratio*1000)/1000,
			"decided", e.Decided, "broke", e.Broke, "offloaded", e.Offloaded, "cleared", e.Cleared,
			"compacted", e.Compacted, "causes", e.Causes.String(), "thoughts", int(e.Thoughts), "added", int(e.Added),
			"memory", int(e.Memory), "contexts", e.Contexts, "reason", e.Reason, "inner", e.Inner)
	}
	if u := &e.Usage; u.Source == event.UsageProvider {
		pairs = append(pairs, "input_tokens", u.Input, "cached_tokens", u.Read, "written_tokens", u.Write5m+u.Write1h,
			"output_tokens", u.Output, "cut", u.Cut)
	}
	b := &e.Bill
	if b.Ruled && e.Mode == event.ModeOn {
		pairs = append(pairs, "saved_nano", b.Saved())
	}
	if b.IsUnpriced() {
		pairs = append(pairs, "unpriced", b.Unpriced)
	}
	l.write(levelOf(&e), "exchange", append(pairs, "billed_nano", b.Billed, "price", b.Price, "beyond", b.Beyond,
		"fault", string(e.Fault), "error", e.Err)...)
}

// levelOf returns the level of an exchange: Warn where something failed, Error for a bug in epitome.
func levelOf(e *event.Exchange) slog.Level {
	offersHTTP := e.Fault == event.Refused && e.Status == http.StatusUpgradeRequired // clients go on over HTTP
	if e.Fault == event.Panic {
		return slog.LevelError
	}
	return warnIf(e.Inner != "" || e.Fault != event.None && e.Fault != event.ClientGone && !offersHTTP)
}

// warnIf returns Warn if something failed, else Info.
func warnIf(failed bool) slog.Level {
	if failed {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// RecordCompaction logs the end of a compaction.
func (l *Log) RecordCompaction(e event.Compaction) {
	pairs := append([]any{"conversation", e.Conversation, "upstream", e.Upstream, "model", e.Model,
		"reason", e.Reason, "mode", e.Mode, "tokens_before", e.TokensBefore, "tokens_after", e.TokensAfter,
		"prepared", e.Prepared}, costOf(e.Cost)...)
	l.write(warnIf(e.Kind == event.CompactionFailed), e.Kind, append(pairs, "why", e.Why)...)
}

// RecordSummary logs a step of a request for a summary.
func (l *Log) RecordSummary(e event.Summary) {
	pairs := append([]any{"conversation", e.Conversation, "upstream", e.Upstream, "model", e.Model,
		"way", e.Way, "update", e.Update, "prepared", e.Prepared, "span_tokens", e.SpanTokens, "tokens", e.Tokens},
		costOf(e.Cost)...)
	l.write(warnIf(e.Kind == event.SummaryFailed), e.Kind, append(pairs, "reason", e.Reason)...)
}

// RecordWarning logs a warning about a conversation.
func (l *Log) RecordWarning(e event.Warning) {
	l.write(slog.LevelWarn, event.ContextWindowWarning, "conversation", e.Conversation, "upstream", e.Upstream,
		"model", e.Model, "reason", e.Reason, "window", e.Window, "usable", e.Usable, "tokens", e.Tokens,
		"messages", e.Messages, "latest", e.Latest)
}

func costOf(c event.Cost) []any {
	return []any{"requests", c.Requests, "input_tokens", c.InputTokens, "cached_tokens", c.CachedTokens,
		"output_tokens", c.OutputTokens, "untold", c.Untold, "took_ms", milliseconds(c.Took)}
}

// write logs pairs of a key and a value. Zero values are left out.
func (l *Log) write(level slog.Level, message string, pairs ...any) {
	ctx := context.Background()
	if !l.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1]; v {
		case "", 0, int64(0), false, 0.0:
		default:
			attrs = append(attrs, slog.Any(pairs[i].(string), v))
		}
	}
	l.log.LogAttrs(ctx, level, message, attrs...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
