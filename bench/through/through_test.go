package through

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"epitome/bench/backend"
	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/bench/replay"
	"epitome/bench/replay/figures"
)

// hop is a proxy in front of the upstream of a replay. What between makes of a request is sent on; nil: what came.
type hop struct {
	*httptest.Server
	through *Proxy
}

func newHop(t *testing.T, limit time.Duration, serve func(h *hop, w http.ResponseWriter, r *http.Request)) *hop {
	t.Helper()
	h := &hop{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(h, w, r) }))
	t.Cleanup(h.Close)
	var err error
	if h.through, err = Open(Options{Proxy: h.URL + "/v1", Listen: "127.0.0.1:0", Limit: limit}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.through.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// pass sends a request on as it is.
func (h *hop) pass(w http.ResponseWriter, r *http.Request) {
	at, err := url.Parse(h.through.Upstream())
	if err != nil {
		panic(err)
	}
	httputil.NewSingleHostReverseProxy(at).ServeHTTP(w, r)
}

// replays plays a conversation through the hop and in process.
func (h *hop) replays(t *testing.T, conversation string, inProcess policy.Shaper) (through, within figures.Row,
	report *figures.Report, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(path, []byte(conversation), 0o600); err != nil {
		t.Fatal(err)
	}
	own := policy.Policy{Name: "it", Open: func(policy.Setting) (policy.Shaping, error) {
		return policy.Shaping{Shaper: inProcess},
			nil
	}}
	report, err = replay.Run(t.Context(), replay.Options{
		Paths: []string{path}, Windows: []int{300}, Policies: []policy.Policy{own},
		Guests: []policy.Policy{h.through.Policy()}, Progress: io.Discard,
	})
	if err != nil {
		return through, within, nil, err
	}
	within, through = report.Rows[len(report.Rows)-2], report.Rows[len(report.Rows)-1]
	if through.Policy != h.through.Policy().Name {
		t.Errorf("the guest is %q", through.Policy)
	}
	through.Policy, through.CPUMS, within.CPUMS = within.Policy, nil, nil // one asks over the wire
	return through, within, report, nil
}

func printed(t *testing.T, r figures.Row) string {
	t.Helper()
	var b strings.Builder
	if err := (&figures.Report{Rows: []figures.Row{r}}).Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReplayThroughAProxyMeasuresWhatArrives(t *testing.T) {
	f := func(conversation string, pairs ...string) {
		t.Helper()
		h := newHop(t, 0, func(h *hop, w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			s, _ := benchtest.Replacing(`"2"`, pairs...)(body)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(s.Body)), int64(len(s.Body))
			h.pass(w, r)
		})
		through, within, report, err := h.replays(t, conversation, benchtest.Replacing(`"2"`, pairs...))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := printed(t, through), printed(t, within); got != want || through.Over != within.Over ||
			through.Misses != within.Misses {
			t.Errorf("through the proxy\n%s\nin process\n%s", got, want)
		}
		a, b := report.Courses[0].Sent[0], report.Courses[0].Sent[1]
		if a.Decided != b.Decided || len(report.Subjects) != 1 || len(report.Faults) != 0 ||
			len(h.through.Notes()) != 0 {
			t.Errorf("%d decisions, in process %d; about %q; faults %q, notes %q", b.Decided, a.Decided,
				report.Subjects, report.Faults, h.through.Notes())
		}
	}
	f(benchtest.Needy())
	f(benchtest.Needy(), `src/old other_name\n`+benchtest.Line+`\n`, benchtest.Stub)
	f(strings.Replace(benchtest.Needy(), `"seed"`, `"stream":true,"seed"`, 1))
}

func TestReplayDoesNotStartThroughAProxyThatSendsElsewhere(t *testing.T) {
	f := func(serve http.HandlerFunc, limit time.Duration, why string) {
		t.Helper()
		var shown atomic.Bool
		h := newHop(t, limit, func(_ *hop, w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			shown.Store(shown.Load() || bytes.Contains(body, []byte(benchtest.Twenty)))
			serve(w, r)
		})
		_, _, _, err := h.replays(t, benchtest.Smalltalk(), benchtest.Unchanged{})
		if err == nil || !strings.Contains(err.Error(), why) || shown.Load() {
			t.Errorf("%v, want %s; the conversation was shown: %t", err, why, shown.Load())
		}
	}
	f(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such model", http.StatusNotFound) }, 0,
		"the proxy answered by itself, 404 Not Found")
	f(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(backend.ChatAnswer(100 << 10)) }, 0,
		`requests with model "m" do not reach http://127.0.0.1:`)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("a redirect was followed")
	}))
	t.Cleanup(elsewhere.Close)
	f(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}, 0, "307 Temporary Redirect")
	f(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 20*time.Millisecond, "Timeout")

	gone := newHop(t, 0, nil)
	gone.Server.Close()
	if _, _, _, err := gone.replays(t, benchtest.Smalltalk(), benchtest.Unchanged{}); err == nil ||
		!strings.Contains(err.Error(), "one.json: cannot replay through the proxy: ") {
		t.Errorf("%v", err)
	}
}

func TestAnswersOfTheProxysOwnAreFaults(t *testing.T) {
	f := func(why string, serve func(h *hop, w http.ResponseWriter, r *http.Request, first []byte)) {
		t.Helper()
		var first []byte // answer with a receipt
		h := newHop(t, 0, func(h *hop, w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte(benchtest.Third)) {
				serve(h, w, r, first)
				return
			}
			seen := httptest.NewRecorder()
			h.pass(seen, r)
			first = seen.Body.Bytes()
			_, _ = w.Write(first)
		})
		through, _, report, err := h.replays(t, benchtest.Smalltalk(), benchtest.Unchanged{})
		if err != nil {
			t.Fatal(err)
		}
		if through.Invalid != 1 || len(report.Faults) != 1 ||
			!strings.Contains(report.Faults[0], "request 3: cannot shape the request: "+why) {
			t.Errorf("%d invalid, faults %q", through.Invalid, report.Faults)
		}
	}
	f("the proxy answered by itself, 413 ", func(_ *hop, w http.ResponseWriter, _ *http.Request, _ []byte) {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
	})
	f("the proxy answered by itself, 200 OK", func(_ *hop, w http.ResponseWriter, _ *http.Request, first []byte) {
		_,
			_ = w.Write(first)
	})
}

func TestRequestsOfTheProxysOwnAreNoted(t *testing.T) {
	h := newHop(t, 0, func(h *hop, w http.ResponseWriter, r *http.Request) {
		own, err := http.Post(h.through.Upstream()+backend.ChatPath, "application/json",
			strings.NewReader(benchtest.Chat(benchtest.Says("user", "Sum it up."))))
		if err != nil {
			t.Error(err)
			return
		}
		_ = own.Body.Close()
		h.pass(w, r)
	})
	through, within, _, err := h.replays(t, benchtest.Smalltalk(), benchtest.Unchanged{})
	if err != nil || printed(t, through) != printed(t, within) {
		t.Errorf("%v\n%s", err, printed(t, through))
	}
	if notes := h.through.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "also sent 4 requests") {
		t.Errorf("%q", notes)
	}
}

func TestThroughStaysOnThisMachine(t *testing.T) {
	f := func(proxy, listen string) {
		t.Helper()
		if through, err := Open(Options{Proxy: proxy, Listen: listen}); err == nil {
			_ = through.Close()
			t.Errorf("%s before %s is taken", proxy, listen)
		}
	}
	f("http://192.0.2.1:80", "127.0.0.1:0")
	f("https://127.0.0.1:80", "127.0.0.1:0")
	f("http://127.0.0.1:80", "0.0.0.0:0")
	f("http://127.0.0.1:80", "")
}
