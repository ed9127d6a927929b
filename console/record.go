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
}

// seconds covers answers from a cache to an hour of reasoning.
var seconds = []float64{.005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600}

func newMetrics(p Program) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
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
	m.registry.MustRegister(m.exchanges, m.bytes, m.firstByte, m.duration,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "epitome_exchanges_in_flight", Help: "Exchanges under way."},
			func() float64 { return float64(p.InFlight()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) record(e event.Exchange) {
	m.exchanges.WithLabelValues(e.Upstream, strconv.Itoa(e.Status), e.Action, string(e.Fault)).Inc()
	m.bytes.WithLabelValues(e.Upstream, "request").Add(float64(e.RequestBytes))
	m.bytes.WithLabelValues(e.Upstream, "response").Add(float64(e.ResponseBytes))
	if e.FirstByte > 0 {
		m.firstByte.WithLabelValues(e.Upstream).Observe(e.FirstByte.Seconds())
	}
	m.duration.WithLabelValues(e.Upstream).Observe(e.Duration.Seconds())
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// logExchange writes the one line an exchange gets.
func logExchange(log *slog.Logger, e event.Exchange) {
	level := slog.LevelInfo
	switch e.Fault {
	case event.None, event.ClientGone:
	case event.Panic:
		level = slog.LevelError
	default:
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("id", e.ID), slog.String("method", e.Method), slog.String("path", e.Path), slog.String("upstream", e.Upstream),
		slog.Int("status", e.Status), slog.String("action", e.Action), slog.Int64("in", e.RequestBytes), slog.Int64("out", e.ResponseBytes),
		slog.Float64("first_byte_ms", milliseconds(e.FirstByte)), slog.Float64("duration_ms", milliseconds(e.Duration)),
	}
	if e.Fault != event.None {
		attrs = append(attrs, slog.String("fault", string(e.Fault)), slog.String("error", e.Err))
	}
	log.LogAttrs(context.Background(), level, "exchange", attrs...)
}
