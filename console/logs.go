package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
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
			"way", s.Way, "update", s.Update, "prepared", s.Prepared, "span_tokens", s.SpanTokens, "tokens", s.Tokens,
			"distills", s.Distills},
			costOf(s.Cost)...)
		isFailure := s.Kind == event.SummaryFailed || s.Kind == event.SummaryPaused
		l.write(warnIf(isFailure), s.Kind, append(pairs, "reason", s.Reason)...)
	case n.Compaction != nil:
		c := n.Compaction
		pairs := append([]any{"id", c.Exchange, "conversation", c.Conversation, "upstream", c.Upstream, "model", c.Model,
			"reason", c.Reason, "mode", c.Mode, "tokens_before", c.TokensBefore, "tokens_after", c.TokensAfter,
			"messages_before", c.MessagesBefore, "messages_after", c.MessagesAfter, "turns_kept", c.TurnsKept,
			"summary_tokens", c.SummaryTokens, "prepared", c.Prepared}, costOf(c.Cost)...)
		l.write(warnIf(c.Kind == event.CompactionFailed), c.Kind, append(pairs, "why", c.Why)...)
	case !n.Exchange.IsStranger() || l.strangers.Allow():
		l.writeSteps(n.Exchange)
		l.writeExchange(n.Exchange)
	}
}

// writeSteps logs what is worth a line of its own: warnings, a rescue, a learned window that was wrong.
func (l *Log) writeSteps(e *event.Exchange) {
	of := []any{"id", e.ID, "conversation", e.Conversation, "upstream", e.Upstream, "model", e.Model}
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
	if e.WindowRefuted > 0 {
		write(slog.LevelInfo, "context_window_corrected", "reason",
			"a longer request was answered: the learned window is dropped", "tokens", e.TokensAfter.Total(),
			"tokens_counted", e.TokensUsed, "window", e.Window, "window_refuted", e.WindowRefuted)
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
	line := slog.NewRecord(time.Now(), level, message, 0) // no line names its place in the source
	line.Add(kept...)
	_ = l.log.Handler().Handle(ctx, line)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

const (
	mostWatchers = 32                     // that stream events at once
	streamEvery  = 250 * time.Millisecond // events are sent at most that often
	aliveEvery   = 60                     // rounds without an event, after which a comment is sent
)

// events streams events as they happen, as server-sent events. A client that comes back with the id of the last event
// that it received gets the ones that it missed, or the event "reset" if these are no longer kept. A client that reads
// slowly delays nobody: events are read from the book when the client has taken the ones before.
func (o *Console) events(w http.ResponseWriter, r *http.Request) {
	defer o.watchers.Add(-1)
	if o.watchers.Add(1) > mostWatchers {
		w.Header().Set("Retry-After", "30")
		refuse(w, http.StatusServiceUnavailable, "too many clients watch events: close a page, or poll /-/api/")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies in between
	if r.Method == http.MethodHead {
		return
	}
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	var text bytes.Buffer
	text.WriteString("retry: 2000\n\n")
	id := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since"))
	seen := o.program.Book.Now()
	last, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		last = math.MaxUint64 // begin with the next event
	}
	for silent := 0; ; silent++ {
		events, newest, whole := o.program.Book.Since(last)
		if !whole {
			fmt.Fprintf(&text, "id: %d\n", newest)
			if last != math.MaxUint64 {
				text.WriteString("event: reset\ndata: {}\n")
			}
			text.WriteByte('\n')
			last, events = newest, nil
		}
		for _, e := range events {
			last = *e.Seq()
			kind, content := "exchange", any(e.Exchange)
			switch {
			case e.Summary != nil:
				kind, content = "summary", e.Summary
			case e.Compaction != nil:
				shown := *e.Compaction
				if !isOwner(r) {
					shown.FilesRead, shown.FilesWritten = nil, nil
				}
				kind, content = "compaction", &shown
			}
			data, _ := json.Marshal(content) // events can be encoded
			fmt.Fprintf(&text, "id: %d\nevent: %s\ndata: %s\n\n", last, kind, data)
		}
		now := o.program.Book.Now()
		for _, c := range o.program.Book.Expiring(seen.Add(time.Minute), now.Add(time.Minute)) {
			data, _ := json.Marshal(c) // clocks can be encoded; these events are not kept, so they have no id
			fmt.Fprintf(&text, "event: cache\ndata: %s\n\n", data)
		}
		seen = now
		if text.Len() == 0 && silent >= aliveEvery {
			text.WriteString(":\n\n")
		}
		if text.Len() > 0 {
			silent = 0
			if _, err := text.WriteTo(w); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}
