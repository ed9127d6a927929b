package console

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

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
	registry     *prometheus.Registry

	exchanges, received, sent, changes, rescues, misses, compactions *prometheus.CounterVec
	usage, billed, summaries, readAgain                              *prometheus.CounterVec
	saved                                                            *prometheus.GaugeVec
	firstByte, duration, shaping, windowUsed, storeCalls             *prometheus.HistogramVec
}

// NewMetrics returns metrics of a version of the program, with nothing counted.
func NewMetrics(version string) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	auto := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: "epitome_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		return auto.NewHistogramVec(prometheus.HistogramOpts{Name: "epitome_" + name, Help: help, Buckets: buckets},
			[]string{"upstream"})
	}
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "epitome_build_info", Help: "Always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}).Set(1)
	return &Metrics{
		Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), registry: registry,
		exchanges: counter("exchanges_total", "Exchanges ended. Status 0: no answer; fault: which side failed.",
			"upstream", "status", "action", "fault"),
		received: counter("received_tokens_total", "Tokens of conversations as clients sent them.", "upstream"),
		sent:     counter("sent_tokens_total", "Tokens of the same as sent to the provider.", "upstream"),
		changes:  counter("changes_total", "Items newly changed, by step of the ladder.", "upstream", "rung"),
		rescues: counter("rescues_total", "Requests that a provider refused for their size or shape.",
			"upstream", "verdict", "outcome"),
		misses: counter("cache_misses_total", "Requests that the provider's cache had less of than it could.",
			"upstream", "cause"),
		usage: counter("usage_tokens_total", "Tokens that providers report. Input includes cached and written ones, "+
			"output reasoning.", "upstream", "model", "kind"),
		billed: counter("billed_dollars_total", "Cost of exchanges with known usage and price; the least, where "+
			"answers say nothing of the cache.", "upstream", "model"),
		saved: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "epitome_saved_dollars",
			Help: "Money saved since the start, less the cost of summaries. Negative where epitome costs more.",
		}, []string{"upstream", "model"}),
		compactions: counter("compactions_total", "Compactions ended, by mode of the summary.",
			"upstream", "mode", "reason", "outcome"),
		readAgain: counter("read_again_tokens_total", "Tokens of results that bring back what was taken out.",
			"upstream"),
		summaries: counter("own_requests_total", "Requests for summaries and distillates that epitome sent to a model.",
			"upstream", "outcome"),
		firstByte: histogram("first_byte_seconds", "Time from a request's arrival to the first byte of its answer.",
			.005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600),
		duration: histogram("exchange_seconds", "Time from a request's arrival to the end of its exchange.",
			.005, .02, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600),
		shaping: histogram("shape_seconds", "Time spent reading, counting and rewriting a conversation.",
			.0001, .0005, .002, .01, .05, .2, 1, 5, 30),
		windowUsed: histogram("window_used_ratio", "Share of the model's window that a request fills as sent.",
			.1, .25, .5, .6, .7, .8, .9, 1, 1.1),
		storeCalls: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "epitome_store_seconds",
			Help:    "Time that Redis or the bucket took for a call, by outcome: ok, refused, unanswered.",
			Buckets: []float64{.001, .005, .02, .05, .1, .25, .5, 1, 2.5},
		}, []string{"server", "outcome"}),
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
	promauto.With(m.registry).NewGaugeFunc(prometheus.GaugeOpts{Name: "epitome_" + name, Help: help}, value)
}

// Counter adds a counter, whose value is read when the metrics are.
func (m *Metrics) Counter(name, help string, value func() float64) {
	promauto.With(m.registry).NewCounterFunc(prometheus.CounterOpts{Name: "epitome_" + name, Help: help}, value)
}

// Record counts an event.
func (m *Metrics) Record(n journal.Entry) {
	if s := n.Summary; s != nil {
		if s.Cost.Requests > 0 {
			outcome := strings.TrimPrefix(s.Kind, "summary_") // completed or failed
			m.summaries.WithLabelValues(s.Upstream, outcome).Add(float64(s.Cost.Requests))
		}
		if s.Own.Nano != 0 {
			m.saved.WithLabelValues(s.Upstream, modelOf(s.Own.Price)).Sub(dollars(s.Own.Nano))
		}
		return
	}
	e := n.Exchange
	if e == nil { // the exchange of a compaction counts it
		return
	}
	observed := e.Mode == event.ModeObserve
	action := e.Action
	if observed {
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
	m.recordMoney(e)
	shaped := e.ShapeTime > 0 && (observed || e.Mode == event.ModeOn)
	if !shaped {
		return
	}
	m.shaping.WithLabelValues(e.Upstream).Observe(e.ShapeTime.Seconds())
	if observed {
		return
	}
	if c := &e.Compaction; c.Kind != "" {
		outcome := strings.TrimPrefix(c.Kind, "compaction_") // completed or failed
		m.compactions.WithLabelValues(e.Upstream, c.Mode, c.Reason, outcome).Inc()
	}
	after := float64(e.TokensAfter.Total())
	m.received.WithLabelValues(e.Upstream).Add(float64(e.TokensBefore.Total()))
	m.sent.WithLabelValues(e.Upstream).Add(after)
	m.readAgain.WithLabelValues(e.Upstream).Add(float64(e.ReadAgainTokens))
	if e.Window > 0 {
		m.windowUsed.WithLabelValues(e.Upstream).Observe(after / float64(e.Window))
	}
	for rung, items := range map[string]int{"offload": e.Offloaded, "clear": e.Cleared, "compact": e.Compacted} {
		if items > 0 {
			m.changes.WithLabelValues(e.Upstream, rung).Add(float64(items))
		}
	}
}

// recordMoney counts tokens as the provider reports them, and their cost. A provider may report negative counts, which
// would panic a counter.
func (m *Metrics) recordMoney(e *event.Exchange) {
	model := modelOf(e.Bill.Price)
	if u := &e.Usage; u.Source != "" && !u.Odd {
		for kind, tokens := range map[string]int{
			"input": u.Input, "cached": u.Read, "written": u.Write5m + u.Write1h, "output": u.Output,
			"reasoning": u.Reasoning,
		} {
			m.usage.WithLabelValues(e.Upstream, model, kind).Add(float64(max(tokens, 0)))
		}
	}
	if e.Miss != event.NoMiss {
		m.misses.WithLabelValues(e.Upstream, string(e.Miss)).Inc()
	}
	if e.Bill.Measured {
		m.billed.WithLabelValues(e.Upstream, model).Add(dollars(e.Bill.Billed))
	}
	if e.Bill.Compared && e.Mode == event.ModeOn && e.ShapeTime > 0 {
		m.saved.WithLabelValues(e.Upstream, model).Add(dollars(e.Bill.Saved()))
	}
}

// modelOf returns the label of a model, which is the ID of its price: models are named by clients, so their own names
// are no labels.
func modelOf(price string) string { return cmp.Or(price, "other") }

func dollars(nano int64) float64 { return float64(nano) / 1e9 }

// Traces makes an OpenTelemetry span of each exchange with a model, after it has ended, and sends it to a collector in
// the background. Spans hold nothing that a conversation says.
//
// The proxy forwards the client's traceparent header as it is: this span and the provider's are siblings.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// NewTraces returns Traces that send to the collector at endpoint, a base URL that takes OTLP over HTTP. The caller
// closes it.
func NewTraces(endpoint, version string, log *slog.Logger) (*Traces, error) {
	exporter, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(strings.TrimRight(endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithTimeout(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("cannot send traces to %s: %w", endpoint, err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("cannot send traces", "error", err.Error())
	}))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "epitome"), attribute.String("service.version", version))))
	return &Traces{provider, provider.Tracer("epitome")}, nil
}

// Record makes a span of an exchange, as a child of the client's span if the request named one.
func (t *Traces) Record(n journal.Entry) {
	e := n.Exchange
	if e == nil || e.Model == "" || e.Upstream == "" {
		return
	}
	parent := propagation.TraceContext{}.Extract(context.Background(),
		propagation.MapCarrier{"traceparent": e.TraceParent})
	_, span := t.tracer.Start(parent, "chat "+e.Model, trace.WithTimestamp(e.Start),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributesOf(e)...))
	if e.Fault != event.None || e.Status >= 400 {
		span.SetStatus(codes.Error, e.Err)
	}
	span.End(trace.WithTimestamp(e.Start.Add(e.Duration)))
}

// Close sends the spans that wait, for at most two seconds.
func (t *Traces) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx)
}

// attributesOf returns the attributes of a span. Those of OpenTelemetry's conventions for generative AI begin with
// gen_ai; they are in development there (state of November 2026).
func attributesOf(e *event.Exchange) []attribute.KeyValue {
	failure := string(e.Fault)
	if failure == "" && e.Status >= 400 {
		failure = strconv.Itoa(e.Status)
	}
	all := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", e.Upstream),
		attribute.String("gen_ai.request.model", e.Model), attribute.Bool("gen_ai.request.stream", e.Streams),
		attribute.String("gen_ai.conversation.id", e.Conversation),
		attribute.Bool("gen_ai.conversation.compacted", e.Compacted > 0 && e.Mode == event.ModeOn),
		attribute.Float64("gen_ai.response.time_to_first_chunk", e.FirstByte.Seconds()),
		attribute.Int("http.response.status_code", e.Status), attribute.String("error.type", failure),
		attribute.String("epitome.mode", e.Mode), attribute.String("epitome.action", e.Action),
		attribute.Int("epitome.tokens.before", e.TokensBefore.Total()),
		attribute.Int("epitome.tokens.after", e.TokensAfter.Total()),
		attribute.String("epitome.reason", e.Reason), attribute.String("epitome.causes", e.Causes.String()),
	}
	all = slices.DeleteFunc(all, func(a attribute.KeyValue) bool { // what has no value
		return slices.Contains([]any{"", int64(0), 0.0, false}, a.Value.AsInterface())
	})
	u := &e.Usage
	if u.Source != event.UsageProvider || u.Odd {
		return all
	}
	all = append(all, attribute.Int("gen_ai.usage.input_tokens", u.Input)) // with cached ones
	if !u.CacheUnknown {
		all = append(all, attribute.Int("gen_ai.usage.cache_read.input_tokens", u.Read),
			attribute.Int("gen_ai.usage.cache_write.input_tokens", u.Write5m+u.Write1h))
	}
	if !u.Cut {
		all = append(all, attribute.Int("gen_ai.usage.output_tokens", u.Output))
	}
	return all
}

// Log writes lines about events. No line has a credential, a header or a body.
type Log struct {
	log       *slog.Logger
	strangers *rate.Limiter // of lines about requests from nobody known
}

// NewLog returns a Log that writes to log.
func NewLog(log *slog.Logger) *Log {
	return &Log{log: log, strangers: rate.NewLimiter(rate.Every(6*time.Second), 10)}
}

// Record logs an event. Requests without a client's key get ten lines a minute, so that they cannot fill the log.
func (l *Log) Record(n journal.Entry) {
	switch {
	case n.Summary != nil:
		s := n.Summary
		pairs := append([]any{"conversation", s.Conversation, "upstream", s.Upstream, "model", s.Model,
			"way", s.Way, "update", s.Update, "prepared", s.Prepared, "window", s.Window, "span_tokens", s.SpanTokens,
			"tokens", s.Tokens, "distills", s.Distills}, costOf(s.Cost)...)
		isFailure := s.Kind == event.SummaryFailed || s.Kind == event.SummaryPaused
		l.write(warnIf(isFailure), s.Kind, append(pairs, "reason", s.Reason)...)
	case n.Compaction != nil:
		c := n.Compaction
		pairs := append([]any{"id", c.Exchange, "conversation", c.Conversation, "upstream", c.Upstream,
			"model", c.Model, "reason", c.Reason, "mode", c.Mode, "tokens_before", c.TokensBefore,
			"tokens_after", c.TokensAfter, "messages_before", c.MessagesBefore, "messages_after", c.MessagesAfter,
			"turns_before", c.TurnsBefore, "turns_kept", c.TurnsKept, "summary_tokens", c.SummaryTokens, "prepared", c.Prepared}, costOf(c.Cost)...)
		l.write(warnIf(c.Kind == event.CompactionFailed), c.Kind, append(pairs, "why", c.Why)...)
	case !n.Exchange.IsStranger() || l.strangers.Allow():
		l.writeSteps(n.Exchange)
		l.writeExchange(n.Exchange)
	}
}

// writeSteps logs what is worth a line of its own: warnings, a rescue, a learned window that was wrong.
func (l *Log) writeSteps(e *event.Exchange) {
	of := []any{"id", e.ID, "conversation", e.Conversation, "upstream", e.Upstream, "model", e.Model}
	write := func(level slog.Level, message string, pairs ...any) {
		l.write(level, message, append(of[:len(of):len(of)], pairs...)...)
	}
	for _, w := range e.Warnings {
		if e.Mode == event.ModeOn {
			write(slog.LevelWarn, "context_window_warning", "reason", w.Reason, "window", e.Window,
				"usable", e.Usable, "tokens", w.Tokens, "percent", w.Percent, "messages", w.Messages,
				"due", w.Due, "why", w.Why)
		}
	}
	if r := &e.Rescue; r.Kind != "" {
		write(warnIf(!r.Rescued), "rescue", "verdict", r.Kind, "outcome", r.Outcome(), "tries", r.Tries,
			"stages", r.Stages, "tokens_before", r.TokensBefore, "tokens_after", r.TokensAfter,
			"window_before", r.WindowBefore, "window_learned", r.WindowAfter)
	}
	if e.WindowRefuted > 0 {
		write(slog.LevelInfo, "context_window_corrected", "reason",
			"a longer request was answered: the learned window is dropped", "tokens", e.TokensAfter.Total(),
			"tokens_counted", e.TokensUsed, "window", e.Window, "window_refuted", e.WindowRefuted)
	}
}

func (l *Log) writeExchange(e *event.Exchange) {
	pairs := []any{"id", e.ID, "method", e.Method, "path", e.Path, "upstream", e.Upstream,
		"status", e.Status, "action", e.Action, "in", e.RequestBytes, "out", e.ResponseBytes,
		"first_byte_ms", milliseconds(e.FirstByte), "duration_ms", milliseconds(e.Duration), "client", e.Client,
		"agent", e.Agent, "remote", e.Remote}
	if changed(*e) {
		pairs = append(pairs, "did", changes(*e))
	}
	if e.ShapeTime > 0 {
		pairs = append(pairs, "mode", e.Mode, "shape_ms", milliseconds(e.ShapeTime), "model", e.Model,
			"conversation", e.Conversation, "turn", e.Turn, "window", e.Window, "tokens_before", e.TokensBefore.Total(),
			"tokens_after", e.TokensAfter.Total(), "estimated", e.Estimated, "ratio", math.Round(e.Ratio*1000)/1000,
			"decided", e.Decided, "broke", e.Broke, "offloaded", e.Offloaded, "cleared", e.Cleared,
			"compacted", e.Compacted, "causes", e.Causes.String(), "thoughts", e.Thoughts, "added", e.Added,
			"memory", e.Memory, "contexts", e.Contexts, "reason", e.Reason, "inner", e.Inner)
	}
	if u := &e.Usage; u.Source == event.UsageProvider {
		pairs = append(pairs, "input_tokens", u.Input, "cached_tokens", u.Read, "written_tokens", u.Write5m+u.Write1h,
			"output_tokens", u.Output, "reasoning_tokens", u.Reasoning, "cut", u.Cut)
	}
	b := &e.Bill
	if e.Mode == event.ModeOn {
		pairs = append(pairs, "saved_nano", b.Saved())
	}
	pairs = append(pairs, "unpriced", b.Unpriced, "billed_nano", b.Billed, "at_least", b.AtLeast, "price", b.Price,
		"beyond", b.Oversized, "fault", string(e.Fault), "error", e.Err)
	l.write(levelOf(e), "exchange", pairs...)
}

// levelOf returns the level of an exchange: Warn where something failed, or a conversation could not be read, Error for
// a bug in epitome.
func levelOf(e *event.Exchange) slog.Level {
	offersHTTP := e.Fault == event.Refused && e.Status == http.StatusUpgradeRequired // clients go on over HTTP
	if e.Fault == event.Panic {
		return slog.LevelError
	}
	hasFailed := e.Fault != event.None && e.Fault != event.ClientGone && !offersHTTP
	return warnIf(hasFailed || e.Inner != "" || e.Code == event.CodeNotRead)
}

// warnIf returns Warn if something failed, else Info.
func warnIf(failed bool) slog.Level {
	if failed {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

func costOf(c event.Cost) []any {
	return []any{"requests", c.Requests, "input_tokens", c.InputTokens, "cached_tokens", c.CachedTokens,
		"output_tokens", c.OutputTokens, "untold", c.Unreported, "took_ms", milliseconds(c.Took)}
}

// write logs pairs of a key and a value. Zero values are left out.
func (l *Log) write(level slog.Level, message string, pairs ...any) {
	ctx := context.Background()
	if !l.log.Enabled(ctx, level) {
		return
	}
	kept := make([]any, 0, len(pairs))
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1]; v {
		case "", 0, int64(0), false, 0.0:
		default:
			kept = append(kept, pairs[i], v)
		}
	}
	l.log.Log(ctx, level, message, kept...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
