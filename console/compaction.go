package console

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"epitome/event"
)

// compactionMetrics is the fold of compactions into numbers. As of exchanges, no label takes a value that a client chooses.
type compactionMetrics struct {
	compactions *prometheus.CounterVec
	requests    *prometheus.CounterVec
	tokens      *prometheus.CounterVec
	warnings    *prometheus.CounterVec
}

func newCompactionMetrics(registry *prometheus.Registry) compactionMetrics {
	m := compactionMetrics{
		compactions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_compactions_total",
			Help: "Compactions of conversations that have ended, by mode of the summary, reason (threshold, budget, manual) and outcome (completed, failed)."},
			[]string{"upstream", "mode", "reason", "outcome"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_summary_requests_total",
			Help: "Requests that asked a model for a summary, by the upstream asked and whether a summary came of it in the end (completed, failed)."},
			[]string{"upstream", "outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_summary_tokens_total",
			Help: "Tokens that those requests took as the provider counts them, by kind: input, of which cached, and output."},
			[]string{"upstream", "kind"}),
		warnings: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_context_window_warnings_total",
			Help: "Warnings about conversations, by reason: threshold (a request is more than its model takes), budget (warn_at)."},
			[]string{"upstream", "reason"}),
	}
	registry.MustRegister(m.compactions, m.requests, m.tokens, m.warnings)
	return m
}

// The outcomes that are counted.
const (
	completed = "completed"
	failed    = "failed"
)

// RecordCompaction takes a step of a compaction.
func (o *Console) RecordCompaction(e event.Compaction) {
	level := slog.LevelInfo
	switch e.Kind {
	case event.CompactionCompleted:
		o.metrics.compactions.WithLabelValues(e.Upstream, e.Mode, e.Reason, completed).Inc()
	case event.CompactionFailed:
		level = slog.LevelWarn
		o.metrics.compactions.WithLabelValues(e.Upstream, e.Mode, e.Reason, failed).Inc()
	}
	var f fields
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", e.Reason)
	f.text("mode", e.Mode)
	f.text("detail", e.Detail)
	f.number("messages_before", e.MessagesBefore)
	f.number("messages_after", e.MessagesAfter)
	f.number("tokens_before", e.TokensBefore)
	f.number("tokens_after", e.TokensAfter)
	f.number("turns_kept", e.TurnsKept)
	f.number("files", e.Files)
	f.yes("prepared", e.Prepared)
	f.cost(e.Cost)
	f.text("why", e.Why)
	o.program.Log.LogAttrs(context.Background(), level, e.Kind, f...)
}

// RecordSummary takes a step of a job that asks a model.
func (o *Console) RecordSummary(e event.Summary) {
	level := slog.LevelInfo
	switch e.Kind {
	case event.SummaryCompleted:
		o.metrics.cost(e, completed)
	case event.SummaryFailed:
		level = slog.LevelWarn
		o.metrics.cost(e, failed)
	}
	var f fields
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("detail", e.Detail)
	f.text("way", e.Way)
	f.yes("update", e.Update)
	f.yes("prepared", e.Prepared)
	f.number("span_tokens", e.SpanTokens)
	f.number("tokens", e.Tokens)
	f.cost(e.Cost)
	f.text("reason", e.Reason)
	o.program.Log.LogAttrs(context.Background(), level, e.Kind, f...)
}

// cost counts what a job that has ended took. Of tokens a provider may say anything, and a counter must not fall.
func (m *compactionMetrics) cost(e event.Summary, outcome string) {
	m.requests.WithLabelValues(e.Upstream, outcome).Add(float64(e.Cost.Requests))
	m.tokens.WithLabelValues(e.Upstream, "input").Add(float64(max(e.Cost.InputTokens, 0)))
	m.tokens.WithLabelValues(e.Upstream, "cached").Add(float64(max(e.Cost.CachedTokens, 0)))
	m.tokens.WithLabelValues(e.Upstream, "output").Add(float64(max(e.Cost.OutputTokens, 0)))
}

// RecordWarning takes a warning about a conversation.
func (o *Console) RecordWarning(e event.Warning) {
	o.metrics.warnings.WithLabelValues(e.Upstream, e.Reason).Inc()
	var f fields
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", e.Reason)
	f.number("window", e.Window)
	f.number("usable", e.Usable)
	f.number("tokens", e.Tokens)
	o.program.Log.LogAttrs(context.Background(), slog.LevelWarn, event.ContextWindowWarning, f...)
}

// fields are those of a log line. What there is nothing to say of is left out.
type fields []slog.Attr

func (f *fields) text(key, value string) {
	if value != "" {
		*f = append(*f, slog.String(key, value))
	}
}

func (f *fields) number(key string, value int) {
	if value > 0 {
		*f = append(*f, slog.Int(key, value))
	}
}

func (f *fields) yes(key string, value bool) {
	if value {
		*f = append(*f, slog.Bool(key, true))
	}
}

// cost adds what a model's words took.
func (f *fields) cost(c event.Cost) {
	f.number("requests", c.Requests)
	f.number("input_tokens", c.InputTokens)
	f.number("cached_tokens", c.CachedTokens)
	f.number("output_tokens", c.OutputTokens)
	if c.Took > 0 {
		*f = append(*f, slog.Float64("took_ms", milliseconds(c.Took)))
	}
}
