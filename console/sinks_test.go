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
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

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
	priced := conversed()
	priced.Usage = event.Usage{Source: event.UsageProvider, Input: 30, Read: 10, Write5m: 1, Write1h: 2, Output: 5}
	priced.Bill = event.Bill{Price: "p/m", Measured: true, Billed: 2e9, Compared: true, Raw: 3e9, Sent: 4e9}
	m.Record(journal.Entry{Exchange: &priced})
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
		`epitome_usage_tokens_total{kind="input",model="p/m",upstream="openai"}`:                "30",
		`epitome_usage_tokens_total{kind="cached",model="p/m",upstream="openai"}`:               "10",
		`epitome_usage_tokens_total{kind="written",model="p/m",upstream="openai"}`:              "3",
		`epitome_usage_tokens_total{kind="output",model="p/m",upstream="openai"}`:               "5",
		`epitome_billed_dollars_total{model="p/m",upstream="openai"}`:                           "2",
		`epitome_saved_dollars{model="p/m",upstream="openai"}`:                                  "-1",
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
func spansOf(t *testing.T, all ...event.Exchange) (spans []gjson.Result) {
	t.Helper()
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		list := gjson.GetBytes(body, "resourceSpans.0.scopeSpans.0.spans")
		isPlain := r.URL.Path == "/v1/traces" && r.Header.Get("Content-Type") == "application/json" &&
			r.Header.Get("x-key") == "a b" && strings.Contains(string(body), `{"stringValue":"mine"}`)
		if err != nil || !isPlain || !list.IsArray() {
			t.Errorf("the collector got %s %v %q: %v", r.URL.Path, r.Header, body, err)
		}
		spans = append(spans, list.Array()...)
	}))
	defer c.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")
	t.Setenv("OTEL_SERVICE_NAME", "mine")
	traces := NewTraces(c.URL, "v1", slog.New(slog.DiscardHandler))
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
	of := func(s gjson.Result) string { return s.Get("traceId").Str + "-" + s.Get("parentSpanId").Str }
	if s := spans[0]; "00-"+of(s)+"-" != ids || len(s.Get("spanId").Str) != 16 || s.Get("flags").Int() != 0x301 {
		t.Errorf("the first span is %v", s)
	}
	s := spans[1]
	took := s.Get("endTimeUnixNano").Int() - s.Get("startTimeUnixNano").Int()
	tokens := s.Get(`attributes.#(key=="epitome.tokens.after").value.intValue`)
	if len(of(s)) != 33 || s.Get("name").Str != "chat m" || s.Get("kind").Int() != 3 || took != 1.5e9 ||
		tokens.Type != gjson.String || s.Get(`attributes.#(key=="gen_ai.provider.name").value.stringValue`).Str == "" {
		t.Errorf("the second span is %v", s)
	}
}

// A collector that is too busy gets spans once more.
func TestSpansAreSentOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var statuses []int
		traces := NewTraces("http://collector", "v1", slog.New(slog.DiscardHandler))
		traces.client.Transport = answering(func(*http.Request) int {
			statuses = append(statuses, []int{503, 200}[len(statuses)])
			return statuses[len(statuses)-1]
		})
		traces.Record(journal.Entry{Exchange: new(conversed())})
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(statuses, []int{503, 200}) {
			t.Errorf("the collector answered %v", statuses)
		}
	})
}

// answering is a transport to a server that answers with a status.
type answering func(*http.Request) int

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a(r), Body: http.NoBody, Request: r}, nil
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
