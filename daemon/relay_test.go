package daemon

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"epitome/console/logs"
	"epitome/event"
	"epitome/prose"
)

// logged are the lines that f leaves in a log that hears it, without their times.
func logged(t *testing.T, f func(*relay)) (lines []map[string]any) {
	t.Helper()
	var log bytes.Buffer
	var r relay
	f(&r) // nobody hears this
	if log.Len() > 0 {
		t.Errorf("too early: %s", &log)
	}
	r.connect(logs.New(slog.New(slog.NewJSONHandler(&log, nil))))
	f(&r)
	for text := range strings.Lines(log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("cannot read %q: %v", text, err)
		}
		delete(line, "time")
		lines = append(lines, line)
	}
	return lines
}

func TestWhatIsToldIsLogged(t *testing.T) {
	f := func(tell func(*relay), want map[string]any) {
		t.Helper()
		if got := logged(t, tell); len(got) != 1 || !maps.Equal(got[0], want) {
			t.Errorf("got\n%v, want\n%v", got, want)
		}
	}
	cost := event.Cost{Requests: 7, InputTokens: 8, CachedTokens: 9, OutputTokens: 10, Took: time.Second}
	e := event.Compaction{
		Conversation: "c1", Upstream: "up", Model: "m", Window: 11, Usable: 12, Reason: event.ReasonManual,
		Mode: prose.ModeHybrid, Detail: prose.DetailLow, MessagesBefore: 1, MessagesAfter: 2,
		TokensBefore: 3, TokensAfter: 4,
		TurnsKept: 5, Files: 6, Cost: cost, Prepared: true, Why: "why",
	}
	want := map[string]any{
		"conversation": "c1", "upstream": "up", "model": "m", "reason": "manual", "mode": "hybrid", "detail": "low",
		"messages_before": 1.0, "messages_after": 2.0, "tokens_before": 3.0, "tokens_after": 4.0, "turns_kept": 5.0, "files": 6.0,
		"requests": 7.0, "input_tokens": 8.0, "cached_tokens": 9.0, "output_tokens": 10.0, "took_ms": 1000.0,
		"prepared": true, "why": "why",
	}
	levels := map[string]string{event.CompactionStarted: "INFO", event.CompactionCompleted: "INFO",
		event.CompactionFailed: "WARN"}
	for kind, level := range levels {
		e.Kind, want["msg"], want["level"] = kind, kind, level
		f(func(r *relay) { r.RecordCompaction(e) }, want)
	}
	w := event.Warning{Conversation: "c1", Upstream: "up", Model: "m", Window: 11, Usable: 12, Tokens: 3, Sent: 2,
		Reason: "budget"}
	f(func(r *relay) { r.RecordWarning(w) }, map[string]any{
		"level": "WARN", "msg": "context_window_warning", "conversation": "c1", "upstream": "up", "model": "m",
		"reason": "budget", "window": 11.0, "usable": 12.0, "tokens": 3.0,
	})
	s := event.Summary{
		Conversation: "c1", Upstream: "up", Model: "m", Detail: "low", Way: prose.WayContinue, Update: true, Prepared: true,
		SpanTokens: 1, Tokens: 2, Cost: cost, Reason: "why",
	}
	want = map[string]any{
		"conversation": "c1", "upstream": "up", "model": "m", "detail": "low", "way": "continue", "update": true, "prepared": true,
		"span_tokens": 1.0, "tokens": 2.0, "input_tokens": 8.0, "cached_tokens": 9.0, "output_tokens": 10.0, "requests": 7.0,
		"took_ms": 1000.0, "reason": "why",
	}
	levels = map[string]string{event.SummaryStarted: "INFO", event.SummaryCompleted: "INFO", event.SummaryFailed: "WARN"}
	for kind, level := range levels {
		s.Kind, want["msg"], want["level"] = kind, kind, level
		f(func(r *relay) { r.RecordSummary(s) }, want)
	}
}
