package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"epitome/event"
)

// compactions is the fold of compactions into numbers. As of exchanges, no label takes a value that a client chooses.
type compactions struct {
	all      *prometheus.CounterVec
	requests *prometheus.CounterVec
	input    *prometheus.CounterVec
	cached   *prometheus.CounterVec
	output   *prometheus.CounterVec
	warnings *prometheus.CounterVec
}

func newCompactions(registry *prometheus.Registry) compactions {
	m := compactions{
		all: newCounter("epitome_compactions_total",
			"Compactions of conversations that have ended, by mode of the summary, reason (threshold, "+
				"budget, manual) and outcome (completed, failed).",
			"upstream", "mode", "reason", "outcome"),
		requests: newCounter("epitome_own_requests_total",
			"Requests that asked a model for a summary, by the upstream asked and whether a summary came "+
				"of it in the end (completed, failed).",
			"upstream", "outcome"),
		input: newCounter("epitome_own_input_tokens_total",
			"Tokens of those requests as the provider counts them.", "upstream"),
		cached: newCounter("epitome_own_cached_tokens_total",
			"Of these, tokens that the provider's cache had.", "upstream"),
		output: newCounter("epitome_own_output_tokens_total",
			"Tokens of the answers to those requests.", "upstream"),
		warnings: newCounter("epitome_context_window_warnings_total",
			"Warnings about conversations, by reason: threshold (a request is more than it may fill of its window), "+
				"budget (warn_at), users (messages of the user are left to the transcript).",
			"upstream", "reason"),
	}
	registry.MustRegister(m.all, m.requests, m.input, m.cached, m.output, m.warnings)
	return m
}

// The outcomes that are counted.
const (
	completed = "completed"
	failed    = "failed"
)

// RecordCompaction counts a compaction that has ended.
func (m *Recorder) RecordCompaction(e event.Compaction) {
	switch e.Kind {
	case event.CompactionCompleted:
		m.compactions.all.WithLabelValues(e.Upstream, e.Mode, e.Reason, completed).Inc()
	case event.CompactionFailed:
		m.compactions.all.WithLabelValues(e.Upstream, e.Mode, e.Reason, failed).Inc()
	}
}

// RecordSummary counts what a job that has ended took.
func (m *Recorder) RecordSummary(e event.Summary) {
	m.spending.recordOwn(&e)
	switch e.Kind {
	case event.SummaryCompleted:
		m.compactions.cost(e, completed)
	case event.SummaryFailed:
		m.compactions.cost(e, failed)
	}
}

// RecordWarning counts a warning about a conversation.
func (m *Recorder) RecordWarning(e event.Warning) {
	m.compactions.warnings.WithLabelValues(e.Upstream, e.Reason).Inc()
}

// cost counts what a job that has ended took. Of tokens a provider may say anything, and a counter must not fall.
func (m *compactions) cost(e event.Summary, outcome string) {
	m.requests.WithLabelValues(e.Upstream, outcome).Add(float64(e.Cost.Requests))
	m.input.WithLabelValues(e.Upstream).Add(float64(max(e.Cost.InputTokens, 0)))
	m.cached.WithLabelValues(e.Upstream).Add(float64(max(e.Cost.CachedTokens, 0)))
	m.output.WithLabelValues(e.Upstream).Add(float64(max(e.Cost.OutputTokens, 0)))
}
