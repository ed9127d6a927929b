package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
	"epitome/tokenize"
	"epitome/window"
)

// patience bounds every wait of these tests; none of them measures time.
const patience = 2 * time.Minute

// brief is a time that is to pass. What is to come before has to come within it, and a busy machine may let a program
// stand still for a second.
const brief = 5 * time.Second

// rig is a proxy in front of a scripted upstream.
type rig struct {
	tb       testing.TB
	upstream *fakeapi.Upstream
	proxy    *Proxy
	addr     string
	ended    chan struct{} // closed when Serve has returned

	shape   atomic.Pointer[shaper] // in place of one that changes nothing
	observe atomic.Pointer[shaper]

	lessons lessons

	mu     sync.Mutex
	events []event.Exchange
	fresh  chan struct{} // gets a token for each event
}

// shaper stands in for what shapes conversations.
type shaper = func(rewrite.Input) rewrite.Output

// shapedBy is a shaper as the proxy has it.
type shapedBy struct{ now *atomic.Pointer[shaper] }

func (s shapedBy) Shape(a rewrite.Input) rewrite.Output { return (*s.now.Load())(a) }

// whole changes nothing.
func whole(a rewrite.Input) rewrite.Output {
	return rewrite.Output{Body: a.Body, Report: rewrite.Report{Action: event.ActionNone}}
}

// testSettings are generous limits and an upstream at base.
func testSettings(base string) Settings {
	long := unit.Duration(patience)
	return Settings{
		Config: Config{
			MaxBody: 64 * unit.MB, MaxInFlight: 256 * unit.MB, MaxConnections: 4096,
			FirstByteTimeout: long, ReadIdle: long, ShutdownGrace: long,
		},
		limits: &limits{
			header: patience, bodyIdle: patience, keepAlive: patience, writeIdle: patience, dial: patience, upstreamIdle: patience, room: patience,
		},
		Mode: event.ModeOff, Scope: "auto", Upstream: "test", Upstreams: map[string]UpstreamConfig{"test": {URL: base}},
	}
}

// newRig starts a proxy in front of what script plays; change may adapt its settings.
func newRig(tb testing.TB, script string, change ...func(*Settings)) *rig {
	tb.Helper()
	up := scriptedtest.Start(tb, script)
	r := startRig(tb, up.URL(), change...)
	r.upstream = up
	return r
}

func startRig(tb testing.TB, base string, change ...func(*Settings)) *rig {
	tb.Helper()
	return startRigAt(tb, "127.0.0.1:0", base, change...)
}

func startRigAt(tb testing.TB, address, base string, change ...func(*Settings)) *rig {
	tb.Helper()
	ln, err := net.Listen("tcp4", address)
	if err != nil {
		tb.Fatal(err)
	}
	return startRigOn(tb, ln, base, change...)
}

func startRigOn(tb testing.TB, ln net.Listener, base string, change ...func(*Settings)) *rig {
	tb.Helper()
	s := testSettings(base)
	for _, f := range change {
		f(&s)
	}
	r := &rig{tb: tb, ended: make(chan struct{}), fresh: make(chan struct{}, 10000)}
	own := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { ownPage(w, req) })
	plain := shaper(whole)
	r.shape.Store(&plain)
	r.observe.Store(&plain)
	upstreams, err := NewUpstreams(s)
	if err != nil {
		tb.Fatal(err)
	}
	r.proxy = New(upstreams, Deps{
		Own: own, Record: r.record, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Shaper: shapedBy{&r.shape}, Shadow: shapedBy{&r.observe},
		Dialects: []Dialect{chat.Dialect{}, messages.Dialect{}, responses.Dialect{}},
		Lessons:  &r.lessons, Ratios: &r.lessons, Traces: true,
		Scope: func(kind, value string) string { return kind + "=" + value }, // so that tests see what is hashed
		Keeps: func(name string) bool { return name != "none" },
	})
	r.addr = ln.Addr().String()
	go func() {
		defer close(r.ended)
		if err := r.proxy.Serve(ln); err != nil {
			tb.Errorf("Serve: %v", err)
		}
	}()
	tb.Cleanup(r.stop)
	return r
}

// ownPage stands in for the console.
func ownPage(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/-/panic":
		panic("asked for")
	case "/-/wait":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-req.Context().Done()
	case "/-/stream":
		for _, s := range []string{"one", "two"} {
			_, _ = io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
	case "/-/flood":
		for _, err := io.WriteString(w, "x"); err == nil; _, err = w.Write(make([]byte, 64<<10)) {
			w.(http.Flusher).Flush()
		}
	case "/-/abort", "/-/abort-later":
		_, _ = io.WriteString(w, "one")
		if req.URL.Path == "/-/abort-later" {
			w.(http.Flusher).Flush()
		}
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("X-Host", req.Host)
		_, _ = io.WriteString(w, "own "+req.Method+" "+req.URL.RequestURI())
	}
}

// eventually waits for what another goroutine brings about.
func (r *rig) eventually(what string, ok func() bool) {
	r.tb.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.tb.Fatalf("never: %s; trace %q", what, r.trace())
		}
	}
}

func (r *rig) stop() {
	r.proxy.Shutdown()
	<-r.ended
}

func (r *rig) record(e event.Exchange) {
	r.mu.Lock()
	r.events = append(r.events, e)
	r.mu.Unlock()
	select {
	case r.fresh <- struct{}{}:
	default:
	}
}

// event waits for the next exchange to end.
func (r *rig) event() event.Exchange {
	r.tb.Helper()
	select {
	case <-r.fresh:
	case <-time.After(patience):
		r.tb.Fatalf("no exchange ended; trace %q", r.trace())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.events[0]
	r.events = r.events[1:]
	return e
}

func (r *rig) trace() []string {
	if r.upstream == nil {
		return nil
	}
	return r.upstream.Trace()
}

// await waits for a line of the upstream's trace.
func (r *rig) await(prefix string) {
	r.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.upstream.Await(ctx, prefix); err != nil {
		r.tb.Fatalf("waiting for %q: %v; trace %q", prefix, err, r.upstream.Trace())
	}
}

// client is a connection that speaks bytes.
type testClient struct {
	*net.TCPConn
	tb testing.TB
	br *bufio.Reader
}

func (r *rig) dial() *testClient { return dialTo(r.tb, r.addr) }

func dialTo(tb testing.TB, addr string) *testClient {
	tb.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &testClient{c.(*net.TCPConn), tb, bufio.NewReader(c)}
}

func (c *testClient) send(text string) *testClient {
	c.tb.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.tb.Fatal(err)
	}
	return c
}

// expect reads exactly the text.
func (c *testClient) expect(text string) *testClient {
	c.tb.Helper()
	got := make([]byte, len(text))
	n, err := io.ReadFull(c.br, got)
	if err != nil || string(got) != text {
		c.tb.Fatalf("got %q (%v), want %q", got[:n], err, text)
	}
	return c
}

// expectEOF reads to an orderly end that must come next.
func (c *testClient) expectEOF() {
	c.tb.Helper()
	if rest, err := io.ReadAll(c.br); err != nil || len(rest) > 0 {
		c.tb.Fatalf("got %q (%v), want the end of the connection", rest, err)
	}
}

// answer reads one answer with net/http's reader; method is that of the request.
func (c *testClient) answer(method string) (*http.Response, string) {
	c.tb.Helper()
	resp, err := http.ReadResponse(c.br, &http.Request{Method: method})
	if err != nil {
		c.tb.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.tb.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp, string(body)
}

// vanish leaves by FIN or by RST.
func (c *testClient) vanish(how string) {
	if how == "RST" {
		_ = c.SetLinger(0)
	}
	_ = c.Close()
}

// get is a request without a body; lines are further header lines.
func get(target string, lines ...string) string { return request("GET", target, "", lines...) }

// post is a request with a body.
func post(target, body string, lines ...string) string {
	return request("POST", target, body, append(lines, "Content-Length: "+strconv.Itoa(len(body)))...)
}

func request(method, target, body string, lines ...string) string {
	var b strings.Builder
	b.WriteString(method + " " + target + " HTTP/1.1\r\nHost: x\r\n")
	for _, l := range lines {
		b.WriteString(l + "\r\n")
	}
	return b.String() + "\r\n" + body
}

// noLeaks fails the test if goroutines or file descriptors are left when everything else has been cleaned up.
// It is to be called first.
func noLeaks(t *testing.T) {
	t.Helper()
	goroutines, files := strays(), openFiles()
	t.Cleanup(func() {
		deadline := time.Now().Add(patience)
		for strays() > goroutines || openFiles() > files {
			if time.Now().After(deadline) {
				buf := make([]byte, 1<<20)
				t.Fatalf("left: %d goroutines (were %d), %d files (were %d)\n%s", strays(), goroutines,
					openFiles(), files, buf[:runtime.Stack(buf, true)])
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// strays counts goroutines, but for those that a stopped server leaves asleep for a while on purpose.
func strays() (n int) {
	for g := range bytes.SplitSeq(stacks(), []byte("\n\n")) {
		if !bytes.Contains(g, []byte("workerPool).Start.func2")) {
			n++
		}
	}
	return n
}

// stacks is what all goroutines are doing.
func stacks() []byte {
	buf := make([]byte, 4<<20)
	return buf[:runtime.Stack(buf, true)]
}

// openFiles counts file descriptors, where the system shows them.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// lessons keeps what it is told.
type lessons struct {
	mu   sync.Mutex
	told []string
}

func (l *lessons) tell(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, fmt.Sprintf(format, args...))
}

func (l *lessons) LearnRefusal(upstream, model string, v window.Refusal, s window.Sent) (int, bool) {
	l.tell("refused %s %s %s %d of %d", upstream, model, v.Cause, s.Tokens, v.Limit)
	return v.Limit, v.Below(s.Window)
}

func (l *lessons) LearnAnswer(upstream, model string, counted, used int) int {
	l.tell("answered %s %s %d as %d", upstream, model, counted, used)
	return 2 * counted
}

func (l *lessons) Learn(s tokenize.Source, counted, used int) {
	l.tell("learn %s %s %d of %d", s.Upstream, s.Model, used, counted)
}

// all is what was told, in order.
func (l *lessons) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.told, "\n")
}

// raw is all that comes until the end of an answer, however it ends, as bytes.
func (c *testClient) raw() string {
	c.tb.Helper()
	var all bytes.Buffer
	resp, err := http.ReadResponse(bufio.NewReader(io.TeeReader(c.TCPConn, &all)), nil)
	if err != nil {
		c.tb.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return all.String()
}

// plainUpstream answers every request with the same bytes.
func plainUpstream(tb testing.TB, answer []byte) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for br := bufio.NewReader(c); skipRequest(br) == nil; {
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

// skipRequest reads one request.
func skipRequest(br *bufio.Reader) error {
	r, err := http.ReadRequest(br)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return err
}
