package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"epitome/event"
)

var cost = event.Cost{Requests: 2, InputTokens: 900, CachedTokens: 700, OutputTokens: 80, Took: 1500 * time.Millisecond}

// ended is a compaction that has said all there is to say.
func ended(kind string) event.Compaction {
	return event.Compaction{
		Kind: kind, Time: time.Unix(1_800_000_000, 0), Conversation: "c1", Upstream: "openai", Model: "m", Reason: "threshold", Mode: "hybrid",
		Detail: "medium", MessagesBefore: 40, MessagesAfter: 9, TokensBefore: 1000, TokensAfter: 300, TurnsKept: 2, Files: 5, Prepared: true,
		Cost: cost, Why: "why not more",
	}
}

// asked is a job that has said all there is to say.
func asked(kind string) event.Summary {
	return event.Summary{
		Kind: kind, Time: time.Unix(1_800_000_000, 0), Conversation: "c1", Upstream: "local", Model: "small", Detail: "low", Way: "continue",
		Update: true, Prepared: true, SpanTokens: 700, Tokens: 60, Cost: cost, Reason: "why none",
	}
}

func warned(reason string) event.Warning {
	return event.Warning{Time: time.Unix(1_800_000_000, 0), Conversation: "c1", Upstream: "openai", Model: "m", Window: 1000, Usable: 800, Tokens: 900, Reason: reason}
}

func TestMetricsCountCompactions(t *testing.T) {
	o := New(Config{}, listening("127.0.0.1:7070"))
	for _, kind := range []string{event.CompactionStarted, event.CompactionStarted, event.CompactionCompleted, event.CompactionCompleted, event.CompactionFailed} {
		o.RecordCompaction(ended(kind))
	}
	for _, kind := range []string{event.SummaryStarted, event.SummaryCompleted, event.SummaryFailed, event.SummaryFailed} {
		o.RecordSummary(asked(kind))
	}
	odd := asked(event.SummaryFailed) // a provider that counts below nothing ends no process
	odd.Upstream, odd.Cost = "odd", event.Cost{Requests: 1, InputTokens: -1, CachedTokens: -1, OutputTokens: -1}
	o.RecordSummary(odd)
	o.RecordWarning(warned("budget"))

	got := samples(t, o)
	for series, want := range map[string]string{
		`epitome_compactions_total{mode="hybrid",outcome="completed",reason="threshold",upstream="openai"}`: "2",
		`epitome_compactions_total{mode="hybrid",outcome="failed",reason="threshold",upstream="openai"}`:    "1",
		`epitome_summary_requests_total{outcome="completed",upstream="local"}`:                              "2",
		`epitome_summary_requests_total{outcome="failed",upstream="local"}`:                                 "4",
		`epitome_summary_tokens_total{kind="input",upstream="local"}`:                                       "2700",
		`epitome_summary_tokens_total{kind="cached",upstream="local"}`:                                      "2100",
		`epitome_summary_tokens_total{kind="output",upstream="local"}`:                                      "240",
		`epitome_summary_tokens_total{kind="input",upstream="odd"}`:                                         "0",
		`epitome_context_window_warnings_total{reason="budget",upstream="openai"}`:                          "1",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %s", series, got[series], want)
		}
	}
}

func TestNoLabelIsOfACompaction(t *testing.T) {
	o := New(Config{}, listening("127.0.0.1:7070"))
	record := func(i int) {
		c, s, w := ended(event.CompactionCompleted), asked(event.SummaryFailed), warned("threshold")
		c.Conversation, c.Model, c.Why, c.Detail, c.Files = fmt.Sprint("c", i), fmt.Sprint("m", i), fmt.Sprint("w", i), fmt.Sprint("d", i), i
		s.Conversation, s.Model, s.Reason, s.Detail, s.Way = c.Conversation, c.Model, c.Why, c.Detail, fmt.Sprint("way", i)
		w.Conversation, w.Model, w.Window = c.Conversation, c.Model, i
		o.RecordCompaction(c)
		o.RecordSummary(s)
		o.RecordWarning(w)
	}
	record(0)
	before := slices.Sorted(maps.Keys(samples(t, o)))
	for i := range 20 {
		record(i)
	}
	if keys := slices.Sorted(maps.Keys(samples(t, o))); !slices.Equal(keys, before) {
		t.Errorf("the series depend on what conversations say: were %q, are %q", before, keys)
	}
}

// The fields are compared as a whole, as those of exchanges are.
func TestLogLinesTellOfCompactions(t *testing.T) {
	var text bytes.Buffer
	p := listening("127.0.0.1:7070")
	p.Log = slog.New(slog.NewJSONHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o := New(Config{}, p)
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
	costs := map[string]any{"requests": 2.0, "input_tokens": 900.0, "cached_tokens": 700.0, "output_tokens": 80.0, "took_ms": 1500.0}
	all := map[string]any{
		"conversation": "c1", "upstream": "openai", "model": "m", "reason": "threshold", "mode": "hybrid", "detail": "medium",
		"messages_before": 40.0, "messages_after": 9.0, "tokens_before": 1000.0, "tokens_after": 300.0, "turns_kept": 2.0, "files": 5.0,
		"prepared": true, "why": "why not more",
	}
	maps.Copy(all, costs)
	for kind, level := range map[string]string{event.CompactionStarted: "INFO", event.CompactionCompleted: "INFO", event.CompactionFailed: "WARN"} {
		o.RecordCompaction(ended(kind))
		f(level, kind, maps.Clone(all))
	}
	all = map[string]any{
		"conversation": "c1", "upstream": "local", "model": "small", "detail": "low", "way": "continue", "update": true, "prepared": true,
		"span_tokens": 700.0, "tokens": 60.0, "reason": "why none",
	}
	maps.Copy(all, costs)
	for kind, level := range map[string]string{event.SummaryStarted: "INFO", event.SummaryCompleted: "INFO", event.SummaryFailed: "WARN"} {
		o.RecordSummary(asked(kind))
		f(level, kind, maps.Clone(all))
	}
	o.RecordWarning(warned("threshold"))
	f("WARN", "context_window_warning", map[string]any{
		"conversation": "c1", "upstream": "openai", "model": "m", "reason": "threshold", "window": 1000.0, "usable": 800.0, "tokens": 900.0,
	})
	o.RecordCompaction(event.Compaction{Kind: event.CompactionStarted, Upstream: "openai", Reason: "manual"}) // what is not known is not said
	f("INFO", "compaction_started", map[string]any{"upstream": "openai", "reason": "manual"})
}
