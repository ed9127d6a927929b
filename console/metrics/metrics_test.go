package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/eventtest"
)

// samples returns the metrics' own lines, by what stands before the value.
func samples(t *testing.T, m *Recorder) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(served(t, m)) {
		line = strings.TrimSpace(line)
		if series := strings.LastIndexByte(line, ' '); strings.HasPrefix(line, "epitome_") {
			all[line[:series]] = line[series+1:]
		}
	}
	return all
}

// served returns what a collector is answered.
func served(t *testing.T, m *Recorder) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/metrics", nil))
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("got %d of type %q", w.Code, w.Header().Get("Content-Type"))
	}
	return w.Body.String()
}

func idle() int { return 0 }

func TestMetricsCountExchanges(t *testing.T) {
	m := New(func() int { return 7 })
	m.RecordExchange(eventtest.Exchange())
	m.RecordExchange(eventtest.Exchange())
	late := eventtest.Exchange()
	late.Upstream, late.Status, late.Fault, late.Err = "anthropic", 504, event.Timeout, "i/o timeout"
	late.FirstByte, late.Duration, late.ResponseBytes = 0, 10*time.Minute, 0
	m.RecordExchange(late)
	gone := eventtest.Exchange()
	gone.Upstream, gone.Status, gone.Fault, gone.FirstByte, gone.ResponseBytes = "", 0, event.ClientGone, 0, 0
	m.RecordExchange(gone)

	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_exchanges_total{action="none",fault="",status="200",upstream="openai"}`:           "2",
		`epitome_exchanges_total{action="none",fault="timeout",status="504",upstream="anthropic"}`: "1",
		`epitome_exchanges_total{action="none",fault="client_gone",status="0",upstream=""}`:        "1",
		`epitome_body_bytes_total{direction="request",upstream="openai"}`:                          "200",
		`epitome_body_bytes_total{direction="response",upstream="openai"}`:                         "4000",
		`epitome_body_bytes_total{direction="request",upstream="anthropic"}`:                       "100",
		`epitome_body_bytes_total{direction="response",upstream="anthropic"}`:                      "0",
		`epitome_first_byte_seconds_bucket{upstream="openai",le="0.25"}`:                           "0",
		`epitome_first_byte_seconds_bucket{upstream="openai",le="0.5"}`:                            "2",
		`epitome_first_byte_seconds_sum{upstream="openai"}`:                                        "0.6",
		`epitome_first_byte_seconds_count{upstream="openai"}`:                                      "2",
		`epitome_exchange_seconds_count{upstream="openai"}`:                                        "2",
		`epitome_exchange_seconds_sum{upstream="anthropic"}`:                                       "600",
		`epitome_exchange_seconds_bucket{upstream="anthropic",le="180"}`:                           "0",
		`epitome_exchange_seconds_bucket{upstream="anthropic",le="600"}`:                           "1",
		`epitome_exchanges_in_flight`:                                                              "7",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %s", series, got[series], want)
		}
	}
	if n, ok := got[`epitome_first_byte_seconds_count{upstream="anthropic"}`]; ok {
		t.Errorf("an answer that never came was timed: count %s", n)
	}
}

// A label whose values a client chooses lets it fill the memory, and shows in the metrics what it sent.
func TestNoLabelIsTheClients(t *testing.T) {
	m := New(idle)
	m.RecordExchange(eventtest.Exchange())
	before := slices.Sorted(maps.Keys(samples(t, m)))
	for i := range 20 {
		e := eventtest.Exchange()
		e.ID, e.Method, e.Path = fmt.Sprintf("id-%d", i), fmt.Sprintf("METHOD%d", i), fmt.Sprintf("/path/%d", i)
		e.Mode = fmt.Sprintf("mode-%d", i)
		e.RequestBytes, e.ResponseBytes = int64(i), int64(i)
		m.RecordExchange(e)
	}
	after := samples(t, m)
	if keys := slices.Sorted(maps.Keys(after)); !slices.Equal(keys, before) {
		t.Errorf("the series depend on what clients send: were %q, are %q", before, keys)
	}
	if n := after[`epitome_exchanges_total{action="none",fault="",status="200",upstream="openai"}`]; n != "21" {
		t.Errorf("counted %q exchanges, want 21", n)
	}
}

func TestMetricsTellOfTheProcess(t *testing.T) {
	text := served(t, New(idle))
	for _, series := range []string{"\ngo_goroutines ", "\nepitome_exchanges_in_flight 0\n"} {
		if !strings.Contains(text, series) {
			t.Errorf("there is no %q", strings.TrimSpace(series))
		}
	}
}
