package console

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"epitome/event"
	"epitome/event/journal"
)

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
		attribute.String("epitome.client", e.Client),
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
