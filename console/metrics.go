package console

import (
	"cmp"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"epitome/event"
	"epitome/event/journal"
	"epitome/store"
)

// Metrics counts events for Prometheus, from zero at each start of the program.
//
// A label has values from the configuration, from the price table or from a closed set, and none that a client
// chooses. So clients cannot grow the number of series.
type Metrics struct {
	http.Handler // serves the metrics as text
	auto         promauto.Factory

	exchanges, changes, rescues, misses, compactions, summaries *prometheus.CounterVec
	received, sent, usage                                       *prometheus.CounterVec // tokens
	billed, own, clientTokens, clientDollars                    *prometheus.CounterVec
	saved                                                       *prometheus.GaugeVec
	firstByte, duration, shaping, windowUsed, storeCalls        *prometheus.HistogramVec
}

// NewMetrics returns metrics of a version of the program, with nothing counted.
func NewMetrics(version string) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	auto := promauto.With(prometheus.WrapRegistererWithPrefix("epitome_", registry))
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	upstream := []string{"upstream"}
	histogram := func(name, help string, labels []string, buckets ...float64) *prometheus.HistogramVec {
		return auto.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "build_info", Help: "Always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}).Set(1)
	return &Metrics{
		Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), auto: auto,
		exchanges: counter("exchanges_total", "Exchanges ended. Status 0: no answer; fault: which side failed.",
			"upstream", "status", "action", "fault"),
		changes: counter("changes_total", "Items newly changed, by step of the ladder.", "upstream", "rung"),
		rescues: counter("rescues_total", "Requests that a provider refused for their size or shape.",
			"upstream", "verdict", "outcome"),
		misses: counter("cache_misses_total", "Requests that the provider's cache had less of than it could.",
			"upstream", "cause"),
		compactions: counter("compactions_total", "Compactions ended, by mode of the summary.",
			"upstream", "mode", "reason", "outcome"),
		summaries: counter("own_requests_total", "Requests for summaries and distillates that epitome sent to a model.",
			"upstream", "outcome"),
		received: counter("received_tokens_total", "Tokens of conversations as clients sent them.", "upstream"),
		sent:     counter("sent_tokens_total", "Tokens of conversations as sent to the provider.", "upstream"),
		usage: counter("usage_tokens_total",
			"Tokens that providers report. Input includes cached and written ones, output reasoning.",
			"upstream", "model", "kind"),
		billed: counter("billed_dollars_total", "List price of the tokens that providers reported, without the cost "+
			"of summaries.", "upstream", "model"),
		saved: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "saved_dollars",
			Help: "The cost without epitome of the requests that fit the window, less their cost with it.",
		}, []string{"upstream", "model"}),
		clientTokens: counter("client_tokens_total", "Tokens of a client's requests and answers, and of summaries for it.",
			"client"),
		clientDollars: counter("client_dollars_total", "What a client's requests and summaries cost.", "client"),
		own:           counter("own_dollars_total", "What requests for summaries and distillates cost.", "upstream", "model"),
		firstByte: histogram("first_byte_seconds", "Time from a request's arrival to the first byte of its answer.",
			upstream, .005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600),
		duration: histogram("exchange_seconds", "Time from a request's arrival to the end of its exchange.",
			upstream, .005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600),
		shaping: histogram("shape_seconds", "Time spent reading, counting and rewriting a conversation.",
			upstream, .0001, .0005, .002, .01, .05, .2, 1, 5, 30),
		windowUsed: histogram("window_used_ratio", "Share of the model's window that a request fills as sent.",
			upstream, .1, .25, .5, .6, .7, .8, .9, 1, 1.1),
		storeCalls: histogram("store_seconds",
			"Time that Redis or the bucket took for a call, by outcome: ok, refused, unanswered.",
			[]string{"server", "outcome"}, .001, .005, .02, .05, .1, .25, .5, 1, 2.5),
	}
}

// Observer returns what observes the calls to a server.
func (m *Metrics) Observer(server string) store.Observer {
	return func(outcome string, took time.Duration) {
		m.storeCalls.WithLabelValues(server, outcome).Observe(took.Seconds())
	}
}

// Gauge adds a gauge, whose value is read when the metrics are.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// Counter adds a counter, whose value is read when the metrics are.
func (m *Metrics) Counter(name, help string, value func() float64) {
	m.auto.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value)
}

// Charge counts what a client has used. It is for clients of the configuration alone.
func (m *Metrics) Charge(client string, tokens int, nano int64) {
	m.clientTokens.WithLabelValues(client).Add(float64(max(tokens, 0)))
	m.clientDollars.WithLabelValues(client).Add(float64(max(nano, 0)) / 1e9)
}

// Record counts an event.
func (m *Metrics) Record(n journal.Entry) {
	if s := n.Summary; s != nil {
		if s.Cost.Requests > 0 {
			outcome := strings.TrimPrefix(s.Kind, "summary_") // completed or failed
			m.summaries.WithLabelValues(s.Upstream, outcome).Add(float64(s.Cost.Requests))
		}
		if s.Own.Nano != 0 { // else it had no price, or cost nothing: there is no series to begin
			m.own.WithLabelValues(s.Upstream, s.Own.Price).Add(float64(s.Own.Nano) / 1e9)
		}
		return
	}
	e := n.Exchange
	if e == nil { // the exchange of a compaction counts it
		return
	}
	action := e.Action
	if e.Mode == event.ModeObserve {
		action = event.ActionNone
	}
	m.exchanges.WithLabelValues(e.Upstream, strconv.Itoa(e.Status), action, string(e.Fault)).Inc()
	m.duration.WithLabelValues(e.Upstream).Observe(e.Duration.Seconds())
	if e.FirstByte > 0 {
		m.firstByte.WithLabelValues(e.Upstream).Observe(e.FirstByte.Seconds())
	}
	if e.Rescue.Kind != "" {
		m.rescues.WithLabelValues(e.Upstream, e.Rescue.Kind, e.Rescue.Outcome()).Inc()
	}
	if e.Miss != event.NoMiss {
		m.misses.WithLabelValues(e.Upstream, string(e.Miss)).Inc()
	}
	m.recordUsage(e)
	if e.ShapeTime > 0 && e.Mode != event.ModeOff {
		m.recordShaping(e)
	}
}

// recordShaping counts how a conversation was rewritten; in mode observe, only the time that it took.
func (m *Metrics) recordShaping(e *event.Exchange) {
	m.shaping.WithLabelValues(e.Upstream).Observe(e.ShapeTime.Seconds())
	if e.Mode == event.ModeObserve {
		return
	}
	if c := &e.Compaction; c.Kind != "" {
		outcome := strings.TrimPrefix(c.Kind, "compaction_") // completed or failed
		m.compactions.WithLabelValues(e.Upstream, c.Mode, c.Reason, outcome).Inc()
	}
	after := float64(e.TokensAfter.Total())
	if e.Window > 0 {
		m.windowUsed.WithLabelValues(e.Upstream).Observe(after / float64(e.Window))
	}
	m.received.WithLabelValues(e.Upstream).Add(float64(e.TokensBefore.Total()))
	m.sent.WithLabelValues(e.Upstream).Add(after)
	if e.Bill.Compared {
		m.saved.WithLabelValues(e.Upstream, modelOf(e)).Add(float64(e.Bill.Saved()) / 1e9)
	}
	for rung, items := range map[string]int{"offload": e.Offloaded, "clear": e.Cleared, "compact": e.Compacted} {
		if items > 0 {
			m.changes.WithLabelValues(e.Upstream, rung).Add(float64(items))
		}
	}
}

// recordUsage counts the tokens that the provider reported, and what they cost.
func (m *Metrics) recordUsage(e *event.Exchange) {
	u, model := &e.Usage, modelOf(e)
	if u.Source != "" && !u.Odd {
		for kind, tokens := range map[string]int{
			"input": u.Input, "cached": u.Read, "written": u.Write5m + u.Write1h, "output": u.Output,
			"reasoning": u.Reasoning,
		} {
			m.usage.WithLabelValues(e.Upstream, model, kind).Add(float64(max(tokens, 0))) // providers may report less
		}
	}
	if e.Bill.Measured {
		m.billed.WithLabelValues(e.Upstream, model).Add(float64(e.Bill.Billed) / 1e9)
	}
}

// modelOf returns the label model of an exchange: the ID of its price. Models are named by clients, so their own names
// are no labels.
func modelOf(e *event.Exchange) string { return cmp.Or(e.Bill.Price, "other") }
