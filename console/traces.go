package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"epitome/event"
	"epitome/event/journal"
)

// Traces makes an OpenTelemetry span of each exchange with a model, after it has ended, and sends it to a collector in
// the background, as OTLP in JSON. Spans hold nothing that a conversation says.
//
// The proxy forwards the client's traceparent header as it is: this span and the provider's are siblings.
type Traces struct {
	address  string
	header   http.Header  // of each request
	resource []jsonObject // attributes of the program
	client   http.Client
	log      *slog.Logger

	sending sync.Mutex   // one batch at a time
	mu      sync.Mutex   // guards waiting
	waiting []jsonObject // spans
}

// jsonObject is an object as OTLP has them: IDs in hexadecimal, integers of 64 bits as text.
type jsonObject map[string]any

const (
	spanWait     = time.Second // for which a span waits for others
	mostSpans    = 2048        // that wait; more are lost
	sendTime     = 10 * time.Second
	secondTry    = 5 * time.Second // after a collector that is too busy
	mostOfAnswer = 4 << 10         // bytes of a collector's answer that are read
)

// NewTraces returns Traces that send to the collector at endpoint, a base URL. Variables of the environment whose names
// OpenTelemetry defines add headers and attributes. The caller closes it.
func NewTraces(endpoint, version string, log *slog.Logger) *Traces {
	t := &Traces{
		address: strings.TrimRight(endpoint, "/") + "/v1/traces",
		header:  http.Header{"Content-Type": {"application/json"}},
		client:  http.Client{Timeout: sendTime},
		log:     log,
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for key, value := range pairsIn(name) {
			t.header.Set(key, value)
		}
	}
	about := pairsIn("OTEL_RESOURCE_ATTRIBUTES")
	about["service.version"] = version
	about["service.name"] = cmp.Or(os.Getenv("OTEL_SERVICE_NAME"), about["service.name"], "epitome")
	for key, value := range about {
		t.resource = append(t.resource, attribute(key, value))
	}
	return t
}

// pairsIn reads a variable of the environment: KEY=VALUE,KEY=VALUE, with values escaped as in a URL.
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

// traceParent is the client's span: the IDs of its trace and its own, and flags, of which the last bit says that it is
// sampled.
var traceParent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]([0-9a-f])`)

// Record makes a span of an exchange, as a child of the client's span if the request named one, and none if that one is
// not sampled. It never waits.
func (t *Traces) Record(n journal.Entry) {
	e := n.Exchange
	if e == nil || e.Model == "" || e.Upstream == "" {
		return
	}
	const client, failed = 3, 2
	const sampled, knowsParent, isRemote = 1, 1 << 8, 1 << 9
	span := jsonObject{
		"traceId": randomID() + randomID(), "spanId": randomID(), "flags": sampled | knowsParent,
		"name": "chat " + e.Model, "kind": client, "attributes": attributesOf(e),
		"startTimeUnixNano": strconv.FormatInt(e.Start.UnixNano(), 10),
		"endTimeUnixNano":   strconv.FormatInt(e.Start.Add(e.Duration).UnixNano(), 10),
	}
	parent := traceParent.FindStringSubmatch(e.TraceParent)
	if parent != nil && strings.Trim(parent[1], "0") != "" && strings.Trim(parent[2], "0") != "" {
		if strings.Contains("02468ace", parent[3]) {
			return
		}
		span["traceId"], span["parentSpanId"] = parent[1], parent[2]
		span["flags"] = sampled | knowsParent | isRemote
	}
	if e.Fault != event.None || e.Status >= 400 {
		span["status"] = jsonObject{"code": failed, "message": e.Err}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		time.AfterFunc(spanWait, t.flush)
	}
	if len(t.waiting) < mostSpans {
		t.waiting = append(t.waiting, span)
	}
}

func randomID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// Close sends the spans that wait, for at most two seconds.
func (t *Traces) Close() {
	flushed := make(chan struct{})
	go func() {
		t.flush()
		close(flushed)
	}()
	select {
	case <-flushed:
	case <-time.After(2 * time.Second):
	}
}

// flush sends the spans that wait. A collector that is too busy gets them once more.
func (t *Traces) flush() {
	t.sending.Lock()
	defer t.sending.Unlock()
	t.mu.Lock()
	spans := t.waiting
	t.waiting = nil
	t.mu.Unlock()
	if len(spans) == 0 {
		return
	}
	isBusy, err := t.send(spans)
	if isBusy {
		time.Sleep(secondTry)
		_, err = t.send(spans)
	}
	if err != nil {
		t.log.Warn("cannot send traces", "error", err.Error())
	}
}

// send sends spans. After an error isBusy says that the collector may take them later.
func (t *Traces) send(spans []jsonObject) (isBusy bool, err error) {
	scope := jsonObject{"scope": jsonObject{"name": "epitome"}, "spans": spans}
	resource := jsonObject{"resource": jsonObject{"attributes": t.resource}, "scopeSpans": []jsonObject{scope}}
	body, err := json.Marshal(jsonObject{"resourceSpans": []jsonObject{resource}})
	if err != nil {
		return false, err
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, t.address, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header = t.header
	answer, err := t.client.Do(request)
	if err != nil {
		return false, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, mostOfAnswer)) // a part of it tells enough
	var told struct{ PartialSuccess struct{ ErrorMessage string } }
	_ = json.Unmarshal(text, &told) // most say nothing
	if answer.StatusCode > 299 || told.PartialSuccess.ErrorMessage != "" {
		err = fmt.Errorf("%s answered %s: %.300s", request.URL.Redacted(), answer.Status, text)
	}
	return slices.Contains([]int{429, 502, 503, 504}, answer.StatusCode), err
}

// attribute returns an attribute, with an integer as text.
func attribute(key string, value any) jsonObject {
	kind := "stringValue"
	switch v := value.(type) {
	case int:
		kind, value = "intValue", strconv.Itoa(v)
	case float64:
		kind = "doubleValue"
	case bool:
		kind = "boolValue"
	}
	return jsonObject{"key": key, "value": jsonObject{kind: value}}
}

// attributesOf returns the attributes of a span. Those of OpenTelemetry's conventions for generative AI begin with
// gen_ai; they are in development there (state of November 2026).
func attributesOf(e *event.Exchange) (all []jsonObject) {
	failure := string(e.Fault)
	if failure == "" && e.Status >= 400 {
		failure = strconv.Itoa(e.Status)
	}
	add := func(key string, value any) { all = append(all, attribute(key, value)) }
	for _, a := range []struct {
		key   string
		value any
	}{
		{"gen_ai.operation.name", "chat"}, {"gen_ai.provider.name", e.Upstream}, {"gen_ai.request.model", e.Model},
		{"gen_ai.request.stream", e.Streams}, {"gen_ai.conversation.id", e.Conversation},
		{"gen_ai.conversation.compacted", e.Compacted > 0 && e.Mode == event.ModeOn},
		{"gen_ai.response.time_to_first_chunk", e.FirstByte.Seconds()},
		{"http.response.status_code", e.Status}, {"error.type", failure},
		{"epitome.mode", e.Mode}, {"epitome.action", e.Action}, {"epitome.client", e.Client},
		{"epitome.tokens.before", e.TokensBefore.Total()}, {"epitome.tokens.after", e.TokensAfter.Total()},
		{"epitome.reason", e.Reason}, {"epitome.causes", e.Causes.String()},
	} {
		if !slices.Contains([]any{"", 0, 0.0, false}, a.value) {
			add(a.key, a.value)
		}
	}
	u := &e.Usage
	if u.Source != event.UsageProvider || u.Odd {
		return all
	}
	add("gen_ai.usage.input_tokens", u.Input) // with cached ones
	if !u.CacheUnknown {
		add("gen_ai.usage.cache_read.input_tokens", u.Read)
		add("gen_ai.usage.cache_write.input_tokens", u.Write5m+u.Write1h)
	}
	if !u.Cut {
		add("gen_ai.usage.output_tokens", u.Output)
	}
	return all
}
