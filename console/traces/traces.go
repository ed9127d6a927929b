// Package traces is the fold of exchanges into spans of OpenTelemetry, by its conventions for generative AI.
//
// It promises that a span has nothing of what a conversation says; that it is a child of the client's span, if the
// client has told one, and kept or left out as that is; and that no exchange waits for it: spans are made when an
// exchange has ended, and what a collector does not take in time is dropped and counted.
//
// It changes nothing on the wire: headers of traces pass as they came, so the provider's span is a sibling of this one.
package traces

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"epitome/event"
)

// Options say where spans go.
type Options struct {
	Endpoint string                       // base URL of a collector that takes OTLP over HTTP
	Version  string                       // of the program
	Host     func(upstream string) string // where an upstream's requests go
	Log      *slog.Logger
}

// Recorder makes spans of exchanges. Make one with New, and close it.
type Recorder struct {
	host   func(string) string
	queue  *queue
	tracer trace.Tracer
}

var _ event.Sink = (*Recorder)(nil)

// New returns a Recorder that sends until it is closed.
func New(o Options) *Recorder {
	q := newQueue(&exporter{
		url: o.Endpoint + "/v1/traces", log: o.Log, client: &http.Client{Timeout: sendTime},
	})
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(q), sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "epitome"), attribute.String("service.version", o.Version))))
	return &Recorder{host: o.Host, queue: q, tracer: provider.Tracer("epitome")}
}

// RecordExchange makes a span of an exchange that asked a model.
func (r *Recorder) RecordExchange(e event.Exchange) {
	if e.Model == "" || e.Upstream == "" {
		return
	}
	_, span := r.tracer.Start(parentOf(&e), operation+" "+e.Model, trace.WithTimestamp(e.Start),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributesOf(&e, r.host(e.Upstream))...))
	if failureOf(&e) != "" {
		span.SetStatus(codes.Error, e.Err)
	}
	span.End(trace.WithTimestamp(e.Start.Add(e.Duration)))
}

// parentOf has the client's span, if it has told one.
func parentOf(e *event.Exchange) context.Context {
	none := context.Background()
	if e.TraceParent == "" {
		return none
	}
	return propagation.TraceContext{}.Extract(none, propagation.MapCarrier{"traceparent": e.TraceParent})
}

// RecordCompaction does nothing: the exchange tells of it.
func (r *Recorder) RecordCompaction(event.Compaction) {}

// RecordWarning does nothing: it is for the log.
func (r *Recorder) RecordWarning(event.Warning) {}

// RecordSummary does nothing: the client has no span for it.
func (r *Recorder) RecordSummary(event.Summary) {}

// CountDropped is how many spans no collector has taken. A nil Recorder, which makes none, has dropped none.
func (r *Recorder) CountDropped() uint64 {
	if r == nil {
		return 0
	}
	return r.queue.dropped.Load()
}

// Close sends what waits, but not for long.
func (r *Recorder) Close() {
	if r != nil {
		r.closeWithin(closeTime)
	}
}

func (r *Recorder) closeWithin(wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_ = r.queue.Shutdown(ctx) // what was not sent is counted
}

// closeTime bounds how long the end of the program waits for a collector.
const closeTime = 2 * time.Second
