package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"epitome/event"
	"epitome/event/journal"
)

// Traces makes an OpenTelemetry span of each exchange with a model, after it has ended, and sends it to a collector in
// the background. Spans hold nothing that a conversation says.
//
// The proxy forwards the client's traceparent header as it is: this span and the provider's are siblings.
type Traces struct {
	endpoint string
	header   http.Header // of each request
	resource []jsonMap   // attributes of the program
	log      *slog.Logger

	sending sync.Mutex // one batch at a time
	mu      sync.Mutex // guards waiting
	waiting []jsonMap  // spans to send, at most mostWaiting
}

// jsonMap is a JSON object, as OTLP has them: IDs in hexadecimal, integers of 64 bits as text.
type jsonMap map[string]any

const (
	batchTime   = time.Second // for which a span waits for others
	mostWaiting = 2048        // spans; more are dropped
	sendTime    = 10 * time.Second
	flushTime   = 2 * time.Second
)

// NewTraces returns Traces that send to the collector at endpoint, a base URL that takes OTLP over HTTP as JSON. Variables
// of OpenTelemetry in the environment may add headers and attributes of the program. The caller closes it.
func NewTraces(endpoint, version string, log *slog.Logger) *Traces {
	t := &Traces{
		endpoint: strings.TrimRight(endpoint, "/") + "/v1/traces",
		header:   http.Header{"Content-Type": {"application/json"}},
		log:      log,
	}
	for name, value := range pairsIn("OTEL_EXPORTER_OTLP_HEADERS") {
		t.header.Set(name, value)
	}
	about := pairsIn("OTEL_RESOURCE_ATTRIBUTES")
	about["service.name"], about["service.version"] = "epitome", version
	for key, value := range about {
		t.resource = append(t.resource, attribute(key, value))
	}
	return t
}

// pairsIn reads a variable of the environment: key=value,key=value, with values escaped as in a URL.
func pairsIn(variable string) map[string]string {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(os.Getenv(variable), ",") {
		key, text, isPair := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(text))
		if isPair && err == nil {
			pairs[strings.TrimSpace(key)] = value
		}
	}
	return pairs
}

// Record makes a span of an exchange, as a child of the client's span if the request named one. It makes none where
// that one is not sampled, and never blocks.
func (t *Traces) Record(n journal.Entry) {
	e := n.Exchange
	if e == nil || e.Model == "" || e.Upstream == "" {
		return
	}
	header := propagation.MapCarrier{"traceparent": e.TraceParent}
	parent := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), header))
	if parent.IsValid() && !parent.IsSampled() {
		return
	}
	const client, failed, knowsRemote, isRemote = 3, 2, 1 << 8, 1 << 9
	traceID, parentID, flags := parent.TraceID(), parent.SpanID().String(), int(parent.TraceFlags())|isRemote
	if !parent.IsValid() {
		_, _ = rand.Read(traceID[:]) // never fails
		parentID, flags = "", 0
	}
	var id trace.SpanID
	_, _ = rand.Read(id[:])
	status := jsonMap{}
	if e.Fault != event.None || e.Status >= 400 {
		status = jsonMap{"code": failed, "message": e.Err}
	}
	span := jsonMap{
		"traceId": traceID, "spanId": id, "parentSpanId": parentID,
		"flags": flags | int(trace.FlagsSampled) | knowsRemote, "name": "chat " + e.Model, "kind": client,
		"startTimeUnixNano": strconv.FormatInt(e.Start.UnixNano(), 10),
		"endTimeUnixNano":   strconv.FormatInt(e.Start.Add(e.Duration).UnixNano(), 10),
		"attributes":        attributesOf(e), "status": status,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		time.AfterFunc(batchTime, t.flush)
	}
	if len(t.waiting) < mostWaiting {
		t.waiting = append(t.waiting, span)
	}
}

// Close sends the spans that wait, for at most two seconds.
func (t *Traces) Close() {
	flushed := make(chan struct{})
	go func() {
		t.flush()
		close(flushed)
	}()
	select {
	case <-flushed:
	case <-time.After(flushTime):
	}
}

// flush sends the spans that wait.
func (t *Traces) flush() {
	t.sending.Lock()
	defer t.sending.Unlock()
	t.mu.Lock()
	batch := t.waiting
	t.waiting = nil
	t.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	if err := t.send(batch); err != nil {
		t.log.Warn("cannot send traces", "error", err.Error())
	}
}

func (t *Traces) send(batch []jsonMap) error {
	scope := jsonMap{"scope": jsonMap{"name": "epitome"}, "spans": batch}
	resource := jsonMap{"resource": jsonMap{"attributes": t.resource}, "scopeSpans": []jsonMap{scope}}
	body, err := json.Marshal(jsonMap{"resourceSpans": []jsonMap{resource}})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, t.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = t.header
	client := http.Client{Timeout: sendTime}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)) // a part of it tells enough
	if answer.StatusCode > 299 || gjson.GetBytes(text, "partialSuccess.errorMessage").String() != "" {
		return fmt.Errorf("%s answered %s: %.300s", answer.Request.URL.Redacted(), answer.Status, text)
	}
	return nil
}

// attribute returns an attribute in OTLP/JSON, which has integers as text.
func attribute(key string, value any) jsonMap {
	kind := "stringValue"
	switch v := value.(type) {
	case int:
		kind, value = "intValue", strconv.Itoa(v)
	case float64:
		kind = "doubleValue"
	case bool:
		kind = "boolValue"
	}
	return jsonMap{"key": key, "value": jsonMap{kind: value}}
}

// attributesOf returns the attributes of a span. Those of OpenTelemetry's conventions for generative AI begin with
// gen_ai; they are in development there (state of November 2026).
func attributesOf(e *event.Exchange) (all []jsonMap) {
	failure := string(e.Fault)
	if failure == "" && e.Status >= 400 {
		failure = strconv.Itoa(e.Status)
	}
	pairs := nonZero([]any{
		"gen_ai.operation.name", "chat", "gen_ai.provider.name", e.Upstream,
		"gen_ai.request.model", e.Model, "gen_ai.request.stream", e.Streams,
		"gen_ai.conversation.id", e.Conversation,
		"gen_ai.conversation.compacted", e.Compacted > 0 && e.Mode == event.ModeOn,
		"gen_ai.response.time_to_first_chunk", e.FirstByte.Seconds(),
		"http.response.status_code", e.Status, "error.type", failure,
		"epitome.mode", e.Mode, "epitome.action", e.Action,
		"epitome.tokens.before", e.TokensBefore.Total(), "epitome.tokens.after", e.TokensAfter.Total(),
		"epitome.reason", e.Reason, "epitome.causes", e.Causes.String(),
	})
	u := &e.Usage
	if u.Source == event.UsageProvider && !u.Odd {
		pairs = append(pairs, "gen_ai.usage.input_tokens", u.Input) // with cached ones
		if !u.CacheUnknown {
			pairs = append(pairs, "gen_ai.usage.cache_read.input_tokens", u.Read,
				"gen_ai.usage.cache_write.input_tokens", u.Write5m+u.Write1h)
		}
		if !u.Cut {
			pairs = append(pairs, "gen_ai.usage.output_tokens", u.Output)
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, attribute(pairs[i].(string), pairs[i+1]))
	}
	return all
}
