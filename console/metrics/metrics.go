// Package metrics is the fold of events into numbers, for Prometheus.
//
// It promises that no label takes a value that a client chooses, so that their number is bounded by that of the
// upstreams, clients and prices that are configured or built in; and that what each exchange moves is looked up by its
// labels once.
//
// It does not promise to outlive the process: each start counts from zero.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"epitome/event"
)

// Recorder counts events, and serves the counts in Prometheus' text format. Make one with New.
type Recorder struct {
	registry  *prometheus.Registry
	served    http.Handler
	exchanges *prometheus.CounterVec
	bytes     *prometheus.CounterVec
	firstByte *prometheus.HistogramVec
	duration  *prometheus.HistogramVec

	conversations lanes // by mode
	bypasses      *prometheus.CounterVec
	shape         *prometheus.HistogramVec

	known       handles
	compactions compactions
	rescues     rescues
	clients     clients
	spending    *spending
	totals      totals
}

var _ event.Sink = (*Recorder)(nil)

// seconds covers answers from a cache to an hour of reasoning.
var seconds = []float64{.005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600}

// shapeSeconds covers conversations that are known, and long ones that are seen for the first time.
var shapeSeconds = []float64{.0001, .0005, .002, .01, .05, .2, 1, 5, 30}

// New returns a Recorder for this process. inFlight tells how many exchanges are under way.
func New(inFlight func() int) *Recorder {
	registry := prometheus.NewRegistry()
	m := &Recorder{
		registry: registry, served: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		known: handles{
			traffic: map[string]*traffic{}, shaping: map[lane]*shaping{}, ends: map[ending]prometheus.Counter{},
		},
		exchanges: newCounter("epitome_exchanges_total",
			"Exchanges that have ended, by upstream, status code of the answer (0: none was given), what "+
				"was done to the request, and fault (empty: none).",
			"upstream", "status", "action", "fault"),
		bytes: newCounter("epitome_body_bytes_total",
			"Bytes of bodies, by direction: request (received) and response (passed on).",
			"upstream", "direction"),
		firstByte: newHistogram("epitome_first_byte_seconds",
			"Time from a request's arrival to the first byte of its answer.",
			seconds, "upstream"),
		duration: newHistogram("epitome_exchange_seconds",
			"Time from a request's arrival to the end of its exchange.",
			seconds, "upstream"),
	}
	m.totals.inFlight = inFlight
	m.addShaping()
	m.compactions = newCompactions(registry)
	m.rescues = newRescues(registry)
	m.clients = newClients(registry)
	m.spending = newSpending(registry)
	registry.MustRegister(m.bypasses, m.shape)
	registry.MustRegister(m.exchanges, m.bytes, m.firstByte, m.duration,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "epitome_exchanges_in_flight", Help: "Exchanges under way."},
			func() float64 { return float64(inFlight()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// addShaping makes the metrics of what is done to conversations.
func (m *Recorder) addShaping() {
	m.conversations = newLanes(m.registry)
	m.bypasses = newCounter("epitome_bypasses_total",
		"Conversations that went on as they came because epitome failed; the log has the reason.",
		"upstream")
	m.shape = newHistogram("epitome_shape_seconds",
		"Time spent on reading, counting and rewriting a conversation.",
		shapeSeconds, "upstream")
}

func newCounter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Bounds of native histograms: each bucket is a tenth wider than the one before, and there are only so many.
const (
	nativeFactor  = 1.1
	nativeBuckets = 100
)

func newHistogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		// what scrapes native histograms gets those instead
		NativeHistogramBucketFactor: nativeFactor, NativeHistogramMaxBucketNumber: nativeBuckets,
	}, labels)
}

// ServeHTTP serves the counts.
func (m *Recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.served.ServeHTTP(w, r) }

// RecordExchange counts an exchange that has ended.
func (m *Recorder) RecordExchange(e event.Exchange) {
	m.recordTraffic(&e)
	m.recordShaping(&e)
	m.rescues.record(&e)
	m.clients.record(&e)
	m.spending.record(&e)
}

func (m *Recorder) recordTraffic(e *event.Exchange) {
	sent := e.Action
	if e.Mode == event.ModeObserve {
		sent = event.ActionNone
	}
	m.exchangesOf(ending{e.Upstream, sent, string(e.Fault), e.Status}).Inc()
	m.totals.exchanges.Add(1)
	t := m.trafficOf(e.Upstream)
	t.request.Add(float64(e.RequestBytes))
	t.response.Add(float64(e.ResponseBytes))
	if e.FirstByte > 0 {
		m.firstByte.WithLabelValues(e.Upstream).Observe(e.FirstByte.Seconds())
	}
	t.duration.Observe(e.Duration.Seconds())
}

// recordShaping counts what was done to a conversation.
func (m *Recorder) recordShaping(e *event.Exchange) {
	if e.ShapeTime == 0 || e.Mode != event.ModeOn && e.Mode != event.ModeObserve {
		return
	}
	m.totals.addShaped(e)
	s := m.shapingOf(e.Upstream, e.Mode)
	s.shape.Observe(e.ShapeTime.Seconds())
	if e.Action == event.ActionBypass {
		m.bypasses.WithLabelValues(e.Upstream).Inc()
	}
	s.offloaded.Add(float64(e.Offloaded))
	s.cleared.Add(float64(e.Cleared))
	s.compacted.Add(float64(e.Compacted))
	s.before.add(e.TokensBefore)
	s.after.add(e.TokensAfter)
}
