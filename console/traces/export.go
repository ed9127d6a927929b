package traces

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter posts spans to a collector, as the JSON of OTLP. One goroutine uses it.
type exporter struct {
	url     string
	log     *slog.Logger
	client  *http.Client
	failing bool // it was said in the log
}

// export sends spans. What fails is said once, until something has been sent again.
func (x *exporter) export(spans []sdk.ReadOnlySpan) error {
	err := x.post(spans)
	switch {
	case err != nil && !x.failing:
		x.log.Warn("cannot send spans; they are dropped and counted", "error", err.Error())
	case err == nil && x.failing:
		x.log.Info("spans are sent again")
	}
	x.failing = err != nil
	return err
}

func (x *exporter) post(spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(requestOf(spans))
	if err != nil {
		return fmt.Errorf("cannot encode spans: %w", err)
	}
	resp, err := x.client.Post(x.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cannot reach the collector: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be used again
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("cannot send spans: the collector answers %s", resp.Status)
	}
	return nil
}

// The messages of OTLP, as far as there is something to say.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceOf   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resourceOf struct {
		Attributes []pair `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	span struct {
		TraceID      string `json:"traceId"`
		SpanID       string `json:"spanId"`
		ParentSpanID string `json:"parentSpanId,omitempty"`
		Flags        uint32 `json:"flags"`
		Name         string `json:"name"`
		Kind         int    `json:"kind"`
		Start        string `json:"startTimeUnixNano"`
		End          string `json:"endTimeUnixNano"`
		Attributes   []pair `json:"attributes"`
		Status       status `json:"status"`
	}
	status struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	pair struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"` // one member, named after its type
	}
)

// statusError is OTLP's number for a span that failed.
const statusError = 2

func requestOf(spans []sdk.ReadOnlySpan) request {
	var all []span
	for _, s := range spans {
		all = append(all, spanOf(s))
	}
	first := spans[0] // all have one resource and one scope
	return request{[]resourceSpans{{
		Resource:   resourceOf{pairsOf(first.Resource().Attributes())},
		ScopeSpans: []scopeSpans{{Scope: scope{first.InstrumentationScope().Name}, Spans: all}},
	}}}
}

func spanOf(s sdk.ReadOnlySpan) span {
	made := span{
		TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(),
		Flags: uint32(s.SpanContext().TraceFlags()), Name: s.Name(), Kind: int(s.SpanKind()),
		Start: strconv.FormatInt(s.StartTime().UnixNano(), 10), End: strconv.FormatInt(s.EndTime().UnixNano(), 10),
		Attributes: pairsOf(s.Attributes()),
	}
	if s.Parent().HasSpanID() {
		made.ParentSpanID = s.Parent().SpanID().String()
	}
	if s.Status().Code == codes.Error {
		made.Status = status{statusError, s.Status().Description}
	}
	return made
}

func pairsOf(attributes []attribute.KeyValue) (all []pair) {
	for _, a := range attributes {
		value := map[string]any{"stringValue": a.Value.Emit()}
		switch a.Value.Type() {
		case attribute.BOOL:
			value = map[string]any{"boolValue": a.Value.AsBool()}
		case attribute.INT64:
			value = map[string]any{"intValue": a.Value.Emit()} // in JSON, 64 bits are a string
		case attribute.FLOAT64:
			value = map[string]any{"doubleValue": a.Value.AsFloat64()}
		}
		all = append(all, pair{string(a.Key), value})
	}
	return all
}
