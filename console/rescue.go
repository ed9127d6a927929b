package console

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"epitome/event"
)

// rescueMetrics is the fold of refusals into numbers.
type rescueMetrics struct {
	rescues *prometheus.CounterVec
	tries   *prometheus.CounterVec
	cuts    *prometheus.CounterVec
}

func newRescueMetrics(registry *prometheus.Registry) rescueMetrics {
	m := rescueMetrics{
		rescues: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_rescues_total",
			Help: "Requests that a provider refused for their size, by what it found too large (input, output, bytes, rate) or broken (malformed), and outcome (rescued, refused)."},
			[]string{"upstream", "verdict", "outcome"}),
		tries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_rescue_tries_total",
			Help: "Further times that such requests were sent."}, []string{"upstream"}),
		cuts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_silent_cuts_total",
			Help: "Requests that a provider seems to have cut without a word, as it counted far fewer tokens than were sent."}, []string{"upstream"}),
	}
	registry.MustRegister(m.rescues, m.tries, m.cuts)
	return m
}

// The outcomes of a rescue.
const (
	rescued = "rescued"
	refused = "refused"
)

// recordRescue takes what was done about a refusal.
func (o *Console) recordRescue(e event.Exchange) {
	r := e.Rescue
	if r.Kind == "" {
		return
	}
	outcome, level := refused, slog.LevelWarn
	if r.Rescued {
		outcome, level = rescued, slog.LevelInfo
	}
	o.metrics.rescues.WithLabelValues(e.Upstream, r.Kind, outcome).Inc()
	o.metrics.tries.WithLabelValues(e.Upstream).Add(float64(r.Tries))
	var f fields
	f.text("id", e.ID)
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("verdict", r.Kind)
	f.text("outcome", outcome)
	f.number("tries", r.Tries)
	f.text("stages", r.Stages)
	f.number("tokens_before", r.TokensBefore)
	f.number("tokens_after", r.TokensAfter)
	f.number("window_before", r.WindowBefore)
	f.number("window_learned", r.WindowAfter)
	o.program.Log.LogAttrs(context.Background(), level, "rescue", f...)
}

// recordCut takes that a provider has cut a request without a word.
func (o *Console) recordCut(e event.Exchange) {
	if e.Cut == 0 {
		return
	}
	o.metrics.cuts.WithLabelValues(e.Upstream).Inc()
	var f fields
	f.text("id", e.ID)
	f.text("conversation", e.Conversation)
	f.text("upstream", e.Upstream)
	f.text("model", e.Model)
	f.text("reason", "the provider counted far fewer tokens than were sent: it seems to cut requests without a word")
	f.number("tokens", e.TokensAfter.Total())
	f.number("tokens_counted", e.TokensUsed)
	f.number("window", e.Window)
	f.number("window_learned", e.Cut)
	o.program.Log.LogAttrs(context.Background(), slog.LevelWarn, event.ContextWindowWarning, f...)
}
