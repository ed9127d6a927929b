package console

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/journal"
	"epitome/offload"
)

// newBook returns a book of no events, which the caller closes.
func newBook() *journal.Book {
	return journal.Open(journal.Config{
		Keep: 100 * 365 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Biller: event.NewBiller(event.Prices{Caches: event.Caches{Life: 5 * time.Minute}}),
	})
}

// empty is a book of no events.
var empty = newBook()

// exchanged returns a whole exchange without a fault, of a request that holds no conversation.
func exchanged() event.Exchange {
	return event.Exchange{
		ID: "x-1", Start: time.Unix(1_800_000_000, 0), Method: "POST", Path: "/v1/chat/completions", Upstream: "openai",
		Mode: "on", Action: "none", Status: 200, RequestBytes: 100, ResponseBytes: 2000,
		FirstByte: 300 * time.Millisecond, Duration: 1500 * time.Millisecond,
	}
}

// conversed returns an exchange whose conversation had something taken out, while something failed.
func conversed() event.Exchange {
	e := exchanged()
	e.Action = "clear"
	e.Shaping = event.Shaping{
		Model: "m", Conversation: "c1", Window: 1000,
		TokensBefore: event.Tokens{System: 1, User: 20, Results: 300},
		TokensAfter:  event.Tokens{System: 1, User: 20, Results: 4},
		Decided:      true, Broke: true, Offloaded: 1, Cleared: 2,
		Causes: event.Codes{event.CodeOverLimit, event.CodeRent},
		Reason: "why not more", ShapeTime: 1500 * time.Microsecond, Inner: "what failed",
	}
	return e
}

// listening returns a program on the given address, with nothing under way, whose owner is known by proof.
func listening(listen string) Program {
	return Program{
		Version: "1.2.3", Listen: listen, Token: "proof", Book: empty, Service: &source{},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "numbers")
		}),
		Log: slog.New(slog.DiscardHandler),
	}
}

// show returns a console for a program whose configuration has no other values.
func show(c Config, p Program) *Console {
	p.Settings = func() Settings { return Settings{c, event.ModeOn, func() []Setting { return nil }} }
	return New(p)
}

// source is a Service that has what it is given, and that fails if it is given an error. Nothing else may be asked.
type source struct {
	Service
	exchanges []event.Exchange
	edits     map[string]event.Edits
	contents  map[string]string // of artifacts
	settings  []Setting
	parts     map[string]string // the state of stores
	stopping  bool
	failure   error
	done      []string // what was restored, asked for or forgotten
}

func (s *source) Ready() (map[string]string, bool) { return s.parts, !s.stopping }

func (s *source) Health() any { return map[string]string{"proof": "p"} }

func (s *source) Edits(decision string) (event.Edits, error) { return s.edits[decision], s.failure }

func (s *source) EditsWith(context.Context, http.Header, string) ([]event.Edit, error) {
	return nil, s.failure
}

func (s *source) Artifact(name string) ([]byte, error) {
	content, ok := s.contents[name]
	if !ok {
		return nil, cmp.Or(s.failure, offload.ErrUnknown)
	}
	return []byte(content), nil
}

func (s *source) Handoff(context.Context, string, bool) (text, why string, err error) {
	return "", "", s.failure
}

func (s *source) Restore(conversation string) (edits int, err error) {
	s.done = append(s.done, "restored "+conversation)
	return map[string]int{id: 3}[conversation], nil
}

func (s *source) Ask(conversation, to, focus string) error {
	s.done = append(s.done, "asked "+conversation+" "+to+" "+focus)
	return nil
}

func (s *source) IsAsked(string) bool { return true }

func (s *source) Forget(conversation string) (artifacts int, remains string, err error) {
	s.done = append(s.done, "forgotten "+conversation)
	return 3, "", nil
}

// ask sends a request with header lines; "Host: x" among them sets the host.
func ask(o *Console, method, target string, lines ...string) *httptest.ResponseRecorder {
	return request(o, httptest.NewRequest(method, target, nil), lines)
}

func request(o *Console, r *http.Request, lines []string) *httptest.ResponseRecorder {
	r.Host = "localhost:7070"
	for _, l := range lines {
		if name, value, _ := strings.Cut(l, ": "); name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	o.ServeHTTP(w, r)
	return w
}

// object returns the JSON object that an answer holds.
func object(t *testing.T, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("cannot read %q: %v", w.Body, err)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("the answer is of type %q", got)
	}
	return v
}

// wantRefusal holds an answer to the shape that clients of the common dialects can show.
func wantRefusal(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("got %d %q, want %d", w.Code, w.Body, status)
	}
	v := object(t, w)
	e, _ := v["error"].(map[string]any)
	if v["type"] != "error" || e["type"] != "epitome_error" || e["code"] != "console" {
		t.Errorf("the refusal has no such shape: %q", w.Body)
	}
	if message, _ := e["message"].(string); message == "" {
		t.Errorf("the refusal says nothing: %q", w.Body)
	}
	if param, ok := e["param"]; !ok || param != nil {
		t.Errorf("the refusal's param is %v, want null: %q", param, w.Body)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	p, s := listening("127.0.0.1:7070"), &source{}
	p.Service = s
	o := show(Config{}, p)
	f := func(target string, status int, want map[string]any) {
		t.Helper()
		w := ask(o, "GET", target)
		if got := object(t, w); w.Code != status || !maps.Equal(got, want) {
			t.Errorf("%s: got %d %v, want %d %v", target, w.Code, got, status, want)
		}
	}
	f("/-/health", 200, map[string]any{"status": "ok", "version": "1.2.3"})
	f("/-/ready", 200, map[string]any{"status": "ready"})
	s.stopping = true
	f("/-/health", 200, map[string]any{"status": "ok", "version": "1.2.3"})
	f("/-/ready", 503, map[string]any{"status": "stopping"})
}

func TestWhatIsNotThereIsRefused(t *testing.T) {
	o := show(Config{}, listening("127.0.0.1:7070"))
	for _, line := range []string{"GET /-/nothing", "GET /-/health/", "POST /-/health", "DELETE /-/metrics"} {
		method, target, _ := strings.Cut(line, " ")
		w := ask(o, method, target)
		wantRefusal(t, w, http.StatusNotFound)
		if !strings.Contains(w.Body.String(), "not forwarded") {
			t.Errorf("%s: the refusal does not say that the path is not forwarded: %q", line, w.Body)
		}
	}
}

func TestOnlyTheOwnersCommandsHearHowItRuns(t *testing.T) {
	o := show(Config{}, listening("127.0.0.1:7070"))
	if got := ask(o, "GET", "/-/health").Body.String(); strings.Contains(got, "proof") {
		t.Errorf("a stranger hears %s", got)
	}
	if got := ask(o, "GET", "/-/health", proof).Body.String(); !strings.Contains(got, `"proof":"p"`) {
		t.Errorf("the owner hears %s", got)
	}
}
