package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"epitome/event"
	"epitome/event/journal"
)

// samples returns epitome's own metrics by series.
func samples(t *testing.T, m *Metrics) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/metrics", nil))
	if !strings.Contains(w.Body.String(), "\ngo_goroutines ") {
		t.Error("go_goroutines is missing")
	}
	all := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSpace(line)
		if value := strings.LastIndexByte(line, ' '); strings.HasPrefix(line, "epitome_") {
			all[line[:value]] = line[value+1:]
		}
	}
	return all
}

func TestMetricsCountExchanges(t *testing.T) {
	m := NewMetrics("v1")
	m.Record(journal.Entry{Exchange: new(exchanged())})
	m.Record(journal.Entry{Exchange: new(conversed())})
	late := exchanged()
	late.Status, late.Fault, late.FirstByte, late.Duration = 504, event.Timeout, 0, 10*time.Minute
	m.Record(journal.Entry{Exchange: &late})
	observed := conversed()
	observed.Mode = event.ModeObserve
	m.Record(journal.Entry{Exchange: &observed})
	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_exchanges_total{action="none",fault="",status="200",upstream="openai"}`:        "2",
		`epitome_exchanges_total{action="clear",fault="",status="200",upstream="openai"}`:       "1",
		`epitome_exchanges_total{action="none",fault="timeout",status="504",upstream="openai"}`: "1",
		`epitome_first_byte_seconds_count{upstream="openai"}`:                                   "3",
		`epitome_exchange_seconds_bucket{upstream="openai",le="180"}`:                           "3",
		`epitome_received_tokens_total{upstream="openai"}`:                                      "321",
		`epitome_sent_tokens_total{upstream="openai"}`:                                          "25",
		`epitome_changes_total{rung="clear",upstream="openai"}`:                                 "2",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %s", series, got[series], want)
		}
	}
}

// A label whose values clients choose would let them fill the memory and read each other's requests.
func TestNoLabelIsTheClients(t *testing.T) {
	m := NewMetrics("v1")
	m.Record(journal.Entry{Exchange: new(conversed())})
	before := slices.Sorted(maps.Keys(samples(t, m)))
	for i := range 20 {
		e := conversed()
		e.ID, e.Method, e.Path, e.Mode = fmt.Sprint(i), fmt.Sprint("M", i), fmt.Sprint("/", i), fmt.Sprint("mode", i)
		m.Record(journal.Entry{Exchange: &e})
		e.Mode = event.ModeOn
		e.Model, e.Conversation, e.Reason, e.Inner = fmt.Sprint(i), fmt.Sprint(i), fmt.Sprint(i), fmt.Sprint(i)
		m.Record(journal.Entry{Exchange: &e})
	}
	if after := slices.Sorted(maps.Keys(samples(t, m))); !slices.Equal(after, before) {
		t.Errorf("series were %q, are %q", before, after)
	}
}

func TestStrangersDoNotFillTheLog(t *testing.T) {
	var text bytes.Buffer
	log := NewLog(slog.New(slog.NewJSONHandler(&text, nil)))
	e := exchanged()
	e.Status, e.Fault = 401, event.Refused
	for range 500 {
		log.Record(journal.Entry{Exchange: &e})
	}
	if n := strings.Count(text.String(), "\n"); n < 10 || n > 15 {
		t.Errorf("500 requests without a key have %d lines", n)
	}
	text.Reset()
	e.Client = "alice"
	for range 30 {
		log.Record(journal.Entry{Exchange: &e})
	}
	if n := strings.Count(text.String(), "\n"); n != 30 {
		t.Errorf("30 requests of a client have %d lines", n)
	}
}

// Whoever reads the log can tell who sent a request. Nothing else says it.
func TestAddressesOfClientsAreInTheLogAlone(t *testing.T) {
	const address = "192.0.2.7:51234"
	e := conversed()
	e.Remote = address
	var text bytes.Buffer
	NewLog(slog.New(slog.NewJSONHandler(&text, nil))).Record(journal.Entry{Exchange: &e})
	if !strings.Contains(text.String(), `"remote":"`+address+`"`) {
		t.Errorf("the log says %s", text.String())
	}
	m := NewMetrics("v1")
	m.Record(journal.Entry{Exchange: &e})
	stored, err := json.Marshal(journal.Entry{Exchange: &e})
	if all := fmt.Sprint(samples(t, m), string(stored), spansOf(t, e)); err != nil || strings.Contains(all, "192.0.2") {
		t.Errorf("%v; the address stands in %s", err, all)
	}
}

// spansOf returns the spans of exchanges as a collector receives them.
func spansOf(t *testing.T, all ...event.Exchange) (spans []*otlp.Span) {
	t.Helper()
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
			t.Errorf("the collector got %s %q: %v", r.URL.Path, body, err)
			return
		}
		for _, of := range request.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
	}))
	defer c.Close()
	traces, err := NewTraces(c.URL, "v1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		traces.Record(journal.Entry{Exchange: &e})
	}
	traces.Close()
	return spans
}

func TestSpansDescribeExchangesBelowTheClients(t *testing.T) {
	const ids = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
	sampled, unsampled, broken := conversed(), conversed(), conversed()
	sampled.TraceParent, unsampled.TraceParent, broken.TraceParent = ids+"01", ids+"00", "00-0af7-\x1b-01"
	spans := spansOf(t, sampled, unsampled, broken)
	if len(spans) != 2 {
		t.Fatalf("got %d spans, want 2: one is not sampled by its client", len(spans))
	}
	if s := spans[0]; !strings.HasPrefix(ids, fmt.Sprintf("00-%x-%x-", s.TraceId, s.ParentSpanId)) {
		t.Errorf("the first span is %v", s)
	}
	text := fmt.Sprint(spans[1].Attributes)
	if s := spans[1]; len(s.ParentSpanId) > 0 || s.Name != "chat m" || s.EndTimeUnixNano-s.StartTimeUnixNano != 1.5e9 ||
		!strings.Contains(text, "gen_ai.provider.name") || !strings.Contains(text, "epitome.tokens.after") {
		t.Errorf("the second span is %v", s)
	}
}

func TestConversationsThatAreNotReadAreWarnedOf(t *testing.T) {
	var text bytes.Buffer
	e := conversed()
	e.Inner, e.Code = "", event.CodeNotRead
	NewLog(slog.New(slog.NewJSONHandler(&text, nil))).Record(journal.Entry{Exchange: &e})
	if !strings.Contains(text.String(), `"level":"WARN"`) {
		t.Errorf("the log has %s", &text)
	}
}
