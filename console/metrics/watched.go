package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// Watched are numbers that no event tells. They are asked for where they are read.
type Watched struct {
	Version  string        // of the program
	Dropped  func() uint64 // events that the writer had no room for
	Spans    func() uint64 // that no collector has taken
	Watchers func() int    // connections to /-/events
	Live     func() int    // conversations
	// bytes of artifacts, the quota that they have, and bytes of the store
	Artifacts, Quota, Store func() int64
	Kept                    func() bool   // artifacts can be kept: the disk has room, the bucket answers and takes them
	Shared                  func() Shared // nil if the store is this machine's alone
}

// Shared is how a store is that several share, and for what it was asked.
type Shared struct {
	Up                         bool
	Asked, Unanswered, Refused uint64
}

// Watch has these numbers among the metrics.
func (m *Recorder) Watch(w Watched) {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	count := func(name, help string, value func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value()) })
	}
	holds := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "epitome_build_info", Help: "Always 1: which program this is.",
		ConstLabels: prometheus.Labels{"version": w.Version, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(build,
		count("epitome_events_dropped_total",
			"Events that were dropped because there were too many at once: figures lack them.", w.Dropped),
		count("epitome_spans_dropped_total", "Spans that no collector has taken.", w.Spans),
		gauge("epitome_event_watchers", "Connections to /-/events.", func() float64 { return float64(w.Watchers()) }),
		gauge("epitome_live_conversations", "Conversations with an exchange in the last ten minutes.",
			func() float64 { return float64(w.Live()) }),
		gauge("epitome_artifact_bytes", "Bytes of what was taken out of conversations.",
			func() float64 { return float64(w.Artifacts()) }),
		gauge("epitome_artifact_quota_bytes", "Bytes that they may take.", func() float64 { return float64(w.Quota()) }),
		gauge("epitome_artifacts_writable", "1 while artifacts can be kept, 0 on a full disk or without the bucket.",
			func() float64 { return holds(w.Kept()) }),
		gauge("epitome_store_bytes", "Bytes of the store's tables on the disk; what was decided last is in none yet.",
			func() float64 { return float64(w.Store()) }))
	if w.Shared == nil {
		return
	}
	m.registry.MustRegister(
		gauge("epitome_shared_store_up", "1 while the shared store is asked, 0 while it does not answer.",
			func() float64 { return holds(w.Shared().Up) }),
		count("epitome_shared_store_questions_total", "Questions to the shared store.",
			func() uint64 { return w.Shared().Asked }),
		count("epitome_shared_store_unanswered_total", "Of these, those without an answer.",
			func() uint64 { return w.Shared().Unanswered }),
		count("epitome_shared_store_refused_total", "Of these, those that were refused.",
			func() uint64 { return w.Shared().Refused }))
}
