package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/event"
)

// story is a whole exchange without a fault.
func story() event.Exchange {
	return event.Exchange{
		ID: "x-1", Start: time.Unix(1_800_000_000, 0), Method: "POST", Path: "/v1/chat/completions", Upstream: "openai",
		Mode: "on", Action: "none", Status: 200, RequestBytes: 100, ResponseBytes: 2000,
		Sent: time.Millisecond, FirstByte: 300 * time.Millisecond, Duration: 1500 * time.Millisecond, Reused: true,
	}
}

// samples are the metrics' own lines, by what stands before the value.
func samples(t *testing.T, o *Console) map[string]string {
	t.Helper()
	w := ask(o, "GET", "/-/metrics")
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("got %d of type %q", w.Code, w.Header().Get("Content-Type"))
	}
	all := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSpace(line)
		if series := strings.LastIndexByte(line, ' '); strings.HasPrefix(line, "epitome_") {
			all[line[:series]] = line[series+1:]
		}
	}
	return all
}

func TestMetricsCountExchanges(t *testing.T) {
	p := listening("127.0.0.1:7070")
	p.InFlight = func() int { return 7 }
	o := New(Config{}, p)
	o.Record(story())
	o.Record(story())
	late := story()
	late.Upstream, late.Status, late.Fault, late.Err = "anthropic", 504, event.Timeout, "i/o timeout"
	late.FirstByte, late.Duration, late.ResponseBytes = 0, 10*time.Minute, 0
	o.Record(late)
	gone := story()
	gone.Upstream, gone.Status, gone.Fault, gone.FirstByte, gone.ResponseBytes = "", 0, event.ClientGone, 0, 0
	o.Record(gone)

	got := samples(t, o)
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
	o := New(Config{}, listening("127.0.0.1:7070"))
	o.Record(story())
	before := slices.Sorted(maps.Keys(samples(t, o)))
	for i := range 20 {
		e := story()
		e.ID, e.Method, e.Path = fmt.Sprintf("id-%d", i), fmt.Sprintf("METHOD%d", i), fmt.Sprintf("/path/%d", i)
		e.Mode = fmt.Sprintf("mode-%d", i)
		e.RequestBytes, e.ResponseBytes = int64(i), int64(i)
		o.Record(e)
	}
	after := samples(t, o)
	if keys := slices.Sorted(maps.Keys(after)); !slices.Equal(keys, before) {
		t.Errorf("the series depend on what clients send: were %q, are %q", before, keys)
	}
	if n := after[`epitome_exchanges_total{action="none",fault="",status="200",upstream="openai"}`]; n != "21" {
		t.Errorf("counted %q exchanges, want 21", n)
	}
}

func TestMetricsTellOfTheProcess(t *testing.T) {
	w := ask(New(Config{}, listening("127.0.0.1:7070")), "GET", "/-/metrics")
	for _, series := range []string{"\ngo_goroutines ", "\nepitome_exchanges_in_flight 0\n"} {
		if !strings.Contains(w.Body.String(), series) {
			t.Errorf("there is no %q", strings.TrimSpace(series))
		}
	}
}

// logged is the one line that an exchange leaves, read back.
func logged(t *testing.T, e event.Exchange) map[string]any {
	t.Helper()
	var text bytes.Buffer
	p := listening("127.0.0.1:7070")
	p.Log = slog.New(slog.NewJSONHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	New(Config{}, p).Record(e)
	if n := strings.Count(text.String(), "\n"); n != 1 {
		t.Fatalf("the exchange left %d lines: %q", n, text.String())
	}
	var line map[string]any
	if err := json.Unmarshal(text.Bytes(), &line); err != nil {
		t.Fatalf("cannot read %q: %v", text.String(), err)
	}
	delete(line, "time")
	return line
}

// The fields are compared as a whole: one more would have to be looked at for what it may disclose.
func TestLogLineHasTheseFields(t *testing.T) {
	f := func(e event.Exchange, want map[string]any) {
		t.Helper()
		if got := logged(t, e); !maps.Equal(got, want) {
			t.Errorf("got\n%v, want\n%v", got, want)
		}
	}
	want := map[string]any{
		"level": "INFO", "msg": "exchange", "id": "x-1", "method": "POST", "path": "/v1/chat/completions", "upstream": "openai", "status": 200.0,
		"action": "none", "in": 100.0, "out": 2000.0, "first_byte_ms": 300.0, "duration_ms": 1500.0,
	}
	f(story(), want)

	odd := story()
	odd.Path, odd.FirstByte = "/a\"b\n\xff", 1234567*time.Nanosecond
	want["path"], want["first_byte_ms"] = "/a\"b\n\ufffd", 1.234
	f(odd, want)

	late := story()
	late.Fault, late.Err, late.Status, late.FirstByte = event.Timeout, "i/o timeout", 504, 0
	want["level"], want["path"], want["fault"], want["error"] = "WARN", story().Path, "timeout", "i/o timeout"
	want["status"], want["first_byte_ms"] = 504.0, 0.0
	f(late, want)
}

func TestLogLevelFollowsTheFault(t *testing.T) {
	f := func(fault event.Fault, want string) {
		t.Helper()
		e := story()
		if e.Fault = fault; fault != event.None {
			e.Err = "why"
		}
		if line := logged(t, e); line["level"] != want {
			t.Errorf("fault %q is logged as %v, want %s", fault, line["level"], want)
		}
	}
	f(event.None, "INFO")
	f(event.ClientGone, "INFO") // clients may leave
	f(event.ClientSlow, "WARN")
	f(event.Refused, "WARN")
	f(event.Unreachable, "WARN")
	f(event.Broken, "WARN")
	f(event.Timeout, "WARN")
	f(event.Truncated, "WARN")
	f(event.Panic, "ERROR")
}

// A provider's error is the provider's story, told whole; it is no fault of the exchange.
func TestProviderErrorsAreNoFaults(t *testing.T) {
	e := story()
	e.Status = 429
	if line := logged(t, e); line["level"] != "INFO" || line["fault"] != nil || line["error"] != nil {
		t.Errorf("got %v", line)
	}
}
