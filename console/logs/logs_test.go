package logs

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/eventtest"
)

// logged returns the one line that an exchange leaves, read back.
func logged(t *testing.T, e event.Exchange) map[string]any {
	t.Helper()
	var text bytes.Buffer
	New(slog.New(slog.NewJSONHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))).RecordExchange(e)
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
		"level": "INFO", "msg": "exchange", "id": "x-1", "method": "POST", "path": "/v1/chat/completions",
		"upstream": "openai", "status": 200.0,
		"action": "none", "in": 100.0, "out": 2000.0, "first_byte_ms": 300.0, "duration_ms": 1500.0,
	}
	f(eventtest.Exchange(), want)

	odd := eventtest.Exchange()
	odd.Path, odd.FirstByte = "/a\"b\n\xff", 1234567*time.Nanosecond
	want["path"], want["first_byte_ms"] = "/a\"b\n\ufffd", 1.234
	f(odd, want)

	late := eventtest.Exchange()
	late.Fault, late.Err, late.Status, late.FirstByte = event.Timeout, "i/o timeout", 504, 0
	want["level"], want["path"], want["fault"], want["error"] = "WARN", eventtest.Exchange().Path, "timeout",
		"i/o timeout"
	want["status"], want["first_byte_ms"] = 504.0, 0.0
	f(late, want)
}

// Whoever reaches the port can send as many requests without a key as they like: they do not fill the log.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	var text bytes.Buffer
	r := New(slog.New(slog.NewJSONHandler(&text, nil)))
	e := eventtest.Exchange()
	e.Client, e.Upstream, e.Status, e.Fault, e.Err = "", "", 401, event.Refused, "no key"
	e.Start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for range 500 {
		r.RecordExchange(e)
	}
	if n := strings.Count(text.String(), "\n"); n != mostStrangers {
		t.Errorf("500 of a minute have %d lines", n)
	}
	text.Reset()
	e.Start = e.Start.Add(time.Minute)
	r.RecordExchange(e)
	if got := text.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"count":490`) {
		t.Errorf("the next minute begins with %s", got)
	}
	text.Reset()
	for i := range 100 { // what began before a minute's end may end after what began behind it
		e.Start = e.Start.Add(time.Duration(1-i%2*2) * time.Minute)
		r.RecordExchange(e)
	}
	if n := strings.Count(text.String(), "\n"); n > 2*mostStrangers {
		t.Errorf("100 of two minutes in turn have %d lines", n)
	}
	text.Reset()
	e.Client = "alice" // whom a provider, or a limit of hers, refuses
	for range 30 {
		r.RecordExchange(e)
	}
	if n := strings.Count(text.String(), "\n"); n != 30 {
		t.Errorf("30 of a client have %d lines", n)
	}
}
