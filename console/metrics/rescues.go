package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"epitome/event"
)

// rescues is the fold of refusals, and of calls for which a provider was asked again within an answer, into numbers.
type rescues struct {
	all   *prometheus.CounterVec
	tries *prometheus.CounterVec
}

func newRescues(registry *prometheus.Registry) rescues {
	m := rescues{
		all: newCounter("epitome_rescues_total",
			"Requests that a provider refused for their size, by what it found too large (input, output, "+
				"bytes, rate), broken (malformed) or out of place (thinking), and outcome (rescued, refused).",
			"upstream", "verdict", "outcome"),
		tries: newCounter("epitome_rescue_tries_total",
			"Further times that such requests were sent.",
			"upstream"),
	}
	registry.MustRegister(m.all, m.tries)
	return m
}

// record counts what was done about a refusal.
func (m *rescues) record(e *event.Exchange) {
	if e.Rescue.Kind == "" {
		return
	}
	m.all.WithLabelValues(e.Upstream, e.Rescue.Kind, e.Rescue.Outcome()).Inc()
	m.tries.WithLabelValues(e.Upstream).Add(float64(e.Rescue.Tries))
}
