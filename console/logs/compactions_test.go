package logs

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"testing"

	"epitome/event"
	"epitome/event/eventtest"
)

// The fields are compared as a whole, as those of exchanges are.
func TestLogLinesTellOfCompactions(t *testing.T) {
	var text bytes.Buffer
	r := New(slog.New(slog.NewJSONHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	f := func(level, message string, want map[string]any) {
		t.Helper()
		defer text.Reset()
		var line map[string]any
		if err := json.Unmarshal(text.Bytes(), &line); err != nil { // two lines are no object either
			t.Fatalf("cannot read %q: %v", text.String(), err)
		}
		delete(line, "time")
		want["level"], want["msg"] = level, message
		if !maps.Equal(line, want) {
			t.Errorf("got\n%v, want\n%v", line, want)
		}
	}
	costs := map[string]any{"requests": 2.0, "input_tokens": 900.0, "cached_tokens": 700.0, "output_tokens": 80.0,
		"took_ms": 1500.0}
	all := map[string]any{
		"conversation": "c1", "upstream": "openai", "model": "m", "reason": "threshold", "mode": "hybrid",
		"detail":          "medium",
		"messages_before": 40.0, "messages_after": 9.0, "tokens_before": 1000.0, "tokens_after": 300.0,
		"turns_kept": 2.0, "files": 5.0,
		"prepared": true, "why": "why not more",
	}
	maps.Copy(all, costs)
	for kind, level := range map[string]string{event.CompactionStarted: "INFO", event.CompactionCompleted: "INFO",
		event.CompactionFailed: "WARN"} {
		r.RecordCompaction(eventtest.Compaction(kind))
		f(level, kind, maps.Clone(all))
	}
	all = map[string]any{
		"conversation": "c1", "upstream": "local", "model": "small", "detail": "low", "way": "continue", "update": true,
		"prepared":    true,
		"span_tokens": 700.0, "tokens": 60.0, "reason": "why none",
	}
	maps.Copy(all, costs)
	for kind, level := range map[string]string{event.SummaryStarted: "INFO", event.SummaryCompleted: "INFO",
		event.SummaryFailed: "WARN"} {
		r.RecordSummary(eventtest.Summary(kind))
		f(level, kind, maps.Clone(all))
	}
	r.RecordWarning(eventtest.Warning("threshold"))
	f("WARN", "context_window_warning", map[string]any{
		"conversation": "c1", "upstream": "openai", "model": "m", "reason": "threshold", "window": 1000.0,
		"usable": 800.0, "tokens": 900.0, "messages": 2.0, "latest": true,
	})
	r.RecordCompaction(event.Compaction{Kind: event.CompactionStarted, Upstream: "openai",
		Reason: "manual"}) // what is not known is not said
	f("INFO", "compaction_started", map[string]any{"upstream": "openai", "reason": "manual"})
}
