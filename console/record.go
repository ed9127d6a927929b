package console

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"epitome/event"
)

// metrics is the fold of exchanges into numbers. No label takes a value that a client chooses.
type metrics struct {
	registry  *prometheus.Registry
	exchanges *prometheus.CounterVec
	bytes     *prometheus.CounterVec
	firstByte *prometheus.HistogramVec
	duration  *prometheus.HistogramVec

	tokens   *prometheus.CounterVec // of conversations only, as are those below
	changes  *prometheus.CounterVec
	bypasses *prometheus.CounterVec
	shape    *prometheus.HistogramVec
	handles
	compactionMetrics
	rescueMetrics
}

// seconds covers answers from a cache to an hour of reasoning.
var seconds = []float64{.005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600}

// shapeSeconds covers conversations that are known, and long ones that are seen for the first time.
var shapeSeconds = []float64{.0001, .0005, .002, .01, .05, .2, 1, 5, 30}

func newMetrics(p Program) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(), handles: handles{traffic: map[string]*traffic{}, deeds: map[lane]*deeds{}},
		exchanges: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_exchanges_total",
			Help: "Exchanges that have ended, by upstream, status code of the answer (0: none was given), what was done to the request, and fault (empty: none)."},
			[]string{"upstream", "status", "action", "fault"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_body_bytes_total",
			Help: "Bytes of bodies, by direction: request (received) and response (passed on)."}, []string{"upstream", "direction"}),
		firstByte: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "epitome_first_byte_seconds", Buckets: seconds,
			Help: "Time from a request's arrival to the first byte of its answer."}, []string{"upstream"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "epitome_exchange_seconds", Buckets: seconds,
			Help: "Time from a request's arrival to the end of its exchange."}, []string{"upstream"}),
	}
	m.shaping()
	m.compactionMetrics = newCompactionMetrics(m.registry)
	m.rescueMetrics = newRescueMetrics(m.registry)
	m.registry.MustRegister(m.tokens, m.changes, m.bypasses, m.shape)
	m.registry.MustRegister(m.exchanges, m.bytes, m.firstByte, m.duration,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "epitome_exchanges_in_flight", Help: "Exchanges under way."},
			func() float64 { return float64(p.InFlight()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// shaping makes the metrics of what is done to conversations.
func (m *metrics) shaping() {
	m.tokens = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_conversation_tokens_total",
		Help: "Tokens of conversations, by mode (observe: nothing was changed), side (before: as they came; after: as they were sent, or would have been) and what they are spent on."},
		[]string{"upstream", "mode", "side", "part"})
	m.changes = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_changes_total",
		Help: "Items of conversations that were newly changed, by mode and rung of the ladder."}, []string{"upstream", "mode", "rung"})
	m.bypasses = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "epitome_bypasses_total",
		Help: "Conversations that went on as they came because epitome failed; the log has the reason."}, []string{"upstream"})
	m.shape = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "epitome_shape_seconds", Buckets: shapeSeconds,
		Help: "Time spent on reading, counting and rewriting a conversation."}, []string{"upstream"})
}

func (m *metrics) record(e event.Exchange) {
	sent := e.Action
	if e.Mode == observe {
		sent = untouched
	}
	m.exchanges.WithLabelValues(e.Upstream, strconv.Itoa(e.Status), sent, string(e.Fault)).Inc()
	t := m.trafficOf(e.Upstream)
	t.request.Add(float64(e.RequestBytes))
	t.response.Add(float64(e.ResponseBytes))
	if e.FirstByte > 0 {
		m.firstByte.WithLabelValues(e.Upstream).Observe(e.FirstByte.Seconds())
	}
	t.duration.Observe(e.Duration.Seconds())
	m.recordShaping(e)
}

// The words of an event that are told apart here.
const (
	on        = "on"
	observe   = "observe"
	untouched = "none"
	bypass    = "bypass"
)

// recordShaping counts what was done to a conversation.
func (m *metrics) recordShaping(e event.Exchange) {
	if e.ShapeTime == 0 || e.Mode != on && e.Mode != observe {
		return
	}
	d := m.deedsOf(e.Upstream, e.Mode)
	d.shape.Observe(e.ShapeTime.Seconds())
	if e.Action == bypass {
		m.bypasses.WithLabelValues(e.Upstream).Inc()
	}
	d.offloaded.Add(float64(e.Offloaded))
	d.cleared.Add(float64(e.Cleared))
	d.compacted.Add(float64(e.Compacted))
	d.before.add(e.TokensBefore)
	d.after.add(e.TokensAfter)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// mostFields is how many a line has at most.
const mostFields = 10 + 14 + 2

// logExchange writes the one line an exchange gets.
func logExchange(log *slog.Logger, e event.Exchange) {
	level := slog.LevelWarn
	switch {
	case e.Fault == event.Panic:
		level = slog.LevelError
	case e.Inner == "" && (e.Fault == event.None || e.Fault == event.ClientGone):
		level = slog.LevelInfo
	}
	attrs := append(make(fields, 0, mostFields),
		slog.String("id", e.ID), slog.String("method", e.Method), slog.String("path", e.Path), slog.String("upstream", e.Upstream),
		slog.Int("status", e.Status), slog.String("action", e.Action), slog.Int64("in", e.RequestBytes), slog.Int64("out", e.ResponseBytes),
		slog.Float64("first_byte_ms", milliseconds(e.FirstByte)), slog.Float64("duration_ms", milliseconds(e.Duration)),
	)
	if e.ShapeTime > 0 {
		attrs = appendShaping(attrs, e)
	}
	if e.Fault != event.None {
		attrs = append(attrs, slog.String("fault", string(e.Fault)), slog.String("error", e.Err))
	}
	if h := log.Handler(); h.Enabled(context.Background(), level) { // the logger would look for its caller first
		line := slog.NewRecord(time.Now(), level, "exchange", 0)
		line.AddAttrs(attrs...)
		_ = h.Handle(context.Background(), line) // as the logger does: there is nowhere to say that the log cannot be written
	}
}

// appendShaping adds what there is to say about a conversation.
func appendShaping(attrs fields, e event.Exchange) fields {
	attrs = append(attrs, slog.String("mode", e.Mode), slog.Float64("shape_ms", milliseconds(e.ShapeTime)))
	attrs.text("model", e.Model)
	attrs.text("conversation", e.Conversation)
	attrs.number("window", e.Window)
	attrs.number("tokens_before", e.TokensBefore.Total())
	attrs.number("tokens_after", e.TokensAfter.Total())
	attrs.yes("decided", e.Decided)
	attrs.yes("broke", e.Broke)
	attrs.number("offloaded", e.Offloaded)
	attrs.number("cleared", e.Cleared)
	attrs.number("compacted", e.Compacted)
	attrs.text("reason", e.Reason)
	attrs.text("inner", e.Inner)
	return attrs
}
