package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"epitome/console/logs"
	"epitome/rewrite"
	"epitome/summarize"
)

// told are the lines that f leaves in a log that hears it, without their times.
func told(t *testing.T, f func(*telling)) (lines []map[string]any) {
	t.Helper()
	var log bytes.Buffer
	var all telling
	f(&all) // nobody hears this
	if log.Len() > 0 {
		t.Errorf("too early: %s", &log)
	}
	all.to(logs.New(slog.New(slog.NewJSONHandler(&log, nil))))
	f(&all)
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
	f := func(tell func(*telling), want map[string]any) {
		t.Helper()
		if got := told(t, tell); len(got) != 1 || !maps.Equal(got[0], want) {
			t.Errorf("got\n%v, want\n%v", got, want)
		}
	}
	n := rewrite.Notice{
		Kind: rewrite.CompactionCompleted, Conversation: "c1", Upstream: "up", Model: strings.Repeat("m", 1000), Window: 11, Usable: 12, Reason: rewrite.ReasonManual,
		Mode: rewrite.ModeHybrid, Detail: rewrite.DetailLow, MessagesBefore: 1, MessagesAfter: 2, TokensBefore: 3, TokensAfter: 4, TurnsKept: 5, Files: 6,
		Prose:    rewrite.Prose{Text: "secret", Requests: 7, InputTokens: 8, CachedTokens: 9, OutputTokens: 10, Took: time.Second},
		Prepared: true, Why: strings.Repeat("w", 1000),
	}
	want := map[string]any{
		"level": "INFO", "msg": "compaction_completed", "conversation": "c1", "upstream": "up", "model": strings.Repeat("m", mostTold), "reason": "manual",
		"mode": "hybrid", "detail": "low", "messages_before": 1.0, "messages_after": 2.0, "tokens_before": 3.0, "tokens_after": 4.0,
		"turns_kept": 5.0, "files": 6.0, "requests": 7.0, "input_tokens": 8.0, "cached_tokens": 9.0, "output_tokens": 10.0, "took_ms": 1000.0,
		"prepared": true, "why": strings.Repeat("w", mostTold),
	}
	for kind, level := range map[string]string{rewrite.CompactionStarted: "INFO", rewrite.CompactionCompleted: "INFO", rewrite.CompactionFailed: "WARN"} {
		n.Kind, want["msg"], want["level"] = kind, kind, level
		f(func(t *telling) { t.notice(n) }, want)
	}
	n.Kind = rewrite.ContextWindowWarning
	f(func(t *telling) { t.notice(n) }, map[string]any{
		"level": "WARN", "msg": "context_window_warning", "conversation": "c1", "upstream": "up", "model": strings.Repeat("m", mostTold),
		"reason": "manual", "window": 11.0, "usable": 12.0, "tokens": 3.0,
	})
	e := summarize.Event{
		Conversation: "c1", Upstream: "up", Model: "m", Detail: "low", Way: summarize.WayContinue, Update: true, Prepared: true, SpanTokens: 1, Tokens: 2,
		InputTokens: 3, CachedTokens: 4, OutputTokens: 5, Requests: 6, Took: time.Second, Reason: "why",
	}
	want = map[string]any{
		"conversation": "c1", "upstream": "up", "model": "m", "detail": "low", "way": "continue", "update": true, "prepared": true, "span_tokens": 1.0,
		"tokens": 2.0, "input_tokens": 3.0, "cached_tokens": 4.0, "output_tokens": 5.0, "requests": 6.0, "took_ms": 1000.0, "reason": "why",
	}
	for kind, line := range map[summarize.Kind]string{summarize.Started: "INFO summary_started", summarize.Completed: "INFO summary_completed", summarize.Failed: "WARN summary_failed"} {
		e.Kind = kind
		want["level"], want["msg"], _ = strings.Cut(line, " ")
		f(func(t *telling) { t.job(e) }, want)
	}
}
