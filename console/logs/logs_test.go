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

// What an answer says of its tokens stands in the line, and what that comes to: 0 if it is nothing, and no word of what
// is not known.
func TestLogLineTellsTokensAndMoney(t *testing.T) {
	f := func(u event.Usage, b event.Bill, mode string, want map[string]any) {
		t.Helper()
		e := eventtest.Exchange()
		e.Usage, e.Bill, e.Mode = u, b, mode
		got := logged(t, e)
		for key := range logged(t, eventtest.Exchange()) {
			delete(got, key)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%+v, %+v: got\n%v, want\n%v", u, b, got, want)
		}
	}
	told := event.Usage{Source: event.UsageProvider, Input: 900, Read: 0, Write5m: 20, Write1h: 3, Output: 7}
	bill := event.Bill{Price: "openai/m", Measured: true, Billed: 0, Ruled: true, Raw: 5, Sent: 9}
	f(told, bill, event.ModeOn, map[string]any{"input_tokens": 900.0, "cached_tokens": 0.0, "written_tokens": 23.0,
		"output_tokens": 7.0, "price": "openai/m", "billed_nano": 0.0, "saved_nano": -4.0})
	f(event.Usage{Source: event.UsageProvider, Input: 9, CacheUnknown: true}, bill, event.ModeObserve, map[string]any{
		"input_tokens": 9.0, "output_tokens": 0.0, "price": "openai/m", "billed_nano": 0.0})
	cut := event.Usage{Source: event.UsageProvider, Input: 9, CacheUnknown: true, Cut: true}
	f(cut, bill, event.ModeObserve, map[string]any{
		"input_tokens": 9.0, "output_tokens": 0.0, "cut": true, "price": "openai/m", "billed_nano": 0.0})
	counted := event.Usage{Source: event.UsageCounted, Input: 9}
	unknown := event.Bill{Unpriced: event.UnpricedModel, Beyond: true}
	f(counted, unknown, event.ModeOn, map[string]any{"unpriced": "model", "beyond": true})
	f(event.Usage{}, event.Bill{Unpriced: event.UnpricedFailed}, event.ModeOn, map[string]any{})
}

func TestLogLevelFollowsTheFault(t *testing.T) {
	f := func(fault event.Fault, want string) {
		t.Helper()
		e := eventtest.Exchange()
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
	upgrade := eventtest.Exchange()
	upgrade.Fault, upgrade.Err, upgrade.Status = event.Refused, "over HTTP only", 426
	if line := logged(t, upgrade); line["level"] != "INFO" || line["error"] != "over HTTP only" {
		t.Errorf("a WebSocket that goes on over HTTP is logged as %v, want INFO with the reason", line)
	}
}

// A provider's error is the provider's story, told whole; it is no fault of the exchange.
func TestProviderErrorsAreNoFaults(t *testing.T) {
	e := eventtest.Exchange()
	e.Status = 429
	if line := logged(t, e); line["level"] != "INFO" || line["fault"] != nil || line["error"] != nil {
		t.Errorf("got %v", line)
	}
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
