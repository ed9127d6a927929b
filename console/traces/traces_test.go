package traces

import (
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/eventtest"
)

// collector takes what is sent to it.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []request
	paths  []string
}

func collecting(t *testing.T, status int) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var body request
		if err != nil || json.Unmarshal(text, &body) != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("the collector got %q: %v", text, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies, c.paths = append(c.bodies, body), append(c.paths, r.Method+" "+r.URL.Path)
		w.WriteHeader(status)
	}))
	t.Cleanup(c.Close)
	return c
}

// told are the spans of these exchanges, as a collector gets them.
func told(t *testing.T, all ...event.Exchange) (spans []span, resources []pair) {
	t.Helper()
	c := collecting(t, 200)
	r := recorder(c.URL)
	for _, e := range all {
		r.RecordExchange(e)
	}
	r.closeWithin(time.Minute) // a busy machine may need longer than the end of a program waits
	for i, body := range c.bodies {
		if c.paths[i] != "POST /v1/traces" || len(body.ResourceSpans) != 1 || len(body.ResourceSpans[0].ScopeSpans) != 1 {
			t.Fatalf("%s %+v", c.paths[i], body)
		}
		spans = append(spans, body.ResourceSpans[0].ScopeSpans[0].Spans...)
		resources = body.ResourceSpans[0].Resource.Attributes
	}
	if n := r.CountDropped(); n != 0 {
		t.Errorf("%d spans were dropped", n)
	}
	return spans, resources
}

func recorder(url string) *Recorder {
	return New(Options{Endpoint: url, Version: "v1", Log: slog.New(slog.DiscardHandler),
		Host: func(string) string { return "api.openai.com" }})
}

// valuesOf are attributes by name.
func valuesOf(pairs []pair) map[string]any {
	all := map[string]any{}
	for _, p := range pairs {
		for _, v := range p.Value {
			all[p.Key] = v
		}
	}
	return all
}

// asked is an exchange of which everything is known.
func asked() event.Exchange {
	e := eventtest.Conversation()
	e.Streams, e.Compacted = true, 3
	e.Usage = event.Usage{
		Source: event.UsageProvider, Input: 1000, Read: 600, Write5m: 100, Write1h: 5, Output: 70, Reasoning: 9,
	}
	return e
}

func TestSpanTellsOfTheExchange(t *testing.T) {
	spans, resources := told(t, asked())
	if len(spans) != 1 {
		t.Fatalf("there are %d spans", len(spans))
	}
	s := spans[0]
	if s.Name != "chat m" || s.Kind != 3 || len(s.TraceID) != 32 || len(s.SpanID) != 16 || s.ParentSpanID != "" ||
		s.Status.Code != 0 || s.Start != "1800000000000000000" || s.End != "1800000001500000000" {
		t.Errorf("%+v", s)
	}
	want := map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m",
		"gen_ai.request.stream": true, "gen_ai.response.time_to_first_chunk": .3, "gen_ai.usage.input_tokens": "1000",
		"gen_ai.usage.output_tokens": "70", "gen_ai.usage.cache_read.input_tokens": "600",
		"gen_ai.usage.cache_write.input_tokens": "105", "gen_ai.usage.reasoning.output_tokens": "9",
		"gen_ai.conversation.id": "c1", "gen_ai.conversation.compacted": true, "server.address": "api.openai.com",
		"http.response.status_code": "200", "epitome.action": "clear", "epitome.mode": "on",
		"epitome.tokens.before": "321", "epitome.tokens.after": "25", "epitome.reason": "why not more",
		"epitome.causes": "over_limit, rent",
	}
	if got := valuesOf(s.Attributes); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := valuesOf(resources); got["service.name"] != "epitome" || got["service.version"] != "v1" {
		t.Errorf("the resource is %v", got)
	}
}

func TestSpanIsAChildOfTheClients(t *testing.T) {
	const ids = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
	sampled, left, broken := asked(), asked(), asked()
	sampled.TraceParent, left.TraceParent, broken.TraceParent = ids+"01", ids+"00", "00-0af7-\x1b-01"
	spans, _ := told(t, sampled, left, broken)
	if len(spans) != 2 {
		t.Fatalf("there are %d spans: one is not sampled by its client", len(spans))
	}
	if s := spans[0]; s.TraceID != "0af7651916cd43dd8448eb211c80319c" || s.ParentSpanID != "b7ad6b7169203331" || s.Flags&1 == 0 {
		t.Errorf("%+v", s)
	}
	if s := spans[1]; s.ParentSpanID != "" || s.TraceID == spans[0].TraceID {
		t.Errorf("%+v", s)
	}
}

// A collector that does not answer costs spans, and nobody waits for it.
func TestASlowCollectorHoldsNobodyUp(t *testing.T) {
	hold := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	r := recorder(s.URL)
	for range mostWaiting + 10 { // the goroutine that sends takes up to a batch of them
		r.RecordExchange(asked())
	}
	for range mostAtOnce {
		r.RecordExchange(asked())
	}
	if r.CountDropped() == 0 {
		t.Error("more waits than there is room for")
	}
	close(hold)
	r.Close()
	s.Close()
}
