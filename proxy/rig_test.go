package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/store"
	"epitome/tokenize"
	"epitome/window"
)

// patience bounds every wait of these tests; none of them measures time.
const patience = time.Minute

// brief is a limit that a test lets pass. A busy machine may let a program stand still for a second.
const brief = 4 * time.Second

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // they wait more than they work
	debug.SetGCPercent(400)            // as the program does
	os.Exit(m.Run())
}

// rig is a proxy in front of a provider.
type rig struct {
	tb     testing.TB
	up     *provider
	proxy  *Proxy
	addr   string
	ended  chan struct{}       // closed when Serve has returned
	events chan event.Exchange // of the exchanges that have ended

	upstreams *Upstreams
	windows   *window.Windows

	shape   atomic.Pointer[shaper] // in place of one that changes nothing
	observe atomic.Pointer[shaper]
}

// shaper stands in for what shapes conversations.
type shaper = func(rewrite.Input) rewrite.Output

// whole changes nothing.
func whole(a rewrite.Input) rewrite.Output {
	return rewrite.Output{Body: a.Body, Report: rewrite.Report{Action: event.ActionNone}}
}

// testSettings are generous limits and an upstream at base.
func testSettings(base string) Settings {
	long := unit.Duration(patience)
	return Settings{
		Config: Config{
			MaxBody: 64 << 20, MaxInFlight: 256 << 20, MaxConnections: 4096,
			FirstByteTimeout: long, ShutdownGrace: long,
		},
		limits: &limits{
			arrive: patience, readIdle: patience, writeIdle: patience, upstreamIdle: patience, room: patience,
		},
		Mode: event.ModeOff, Scope: "auto", Upstream: "test", Upstreams: map[string]UpstreamConfig{"test": {URL: base}},
		Input: rewrite.Input{Limits: &ladder.Limits{}},
	}
}

// newRig starts a proxy in front of a provider; change may adapt its settings.
func newRig(tb testing.TB, play func(*call), change ...func(*Settings)) *rig {
	tb.Helper()
	up := startProvider(tb, play)
	r := startRig(tb, up.url(), change...)
	r.up = up
	return r
}

// on is a rig in mode on.
func on(tb testing.TB, play func(*call), change ...func(*Settings)) *rig {
	tb.Helper()
	return newRig(tb, play, append([]func(*Settings){func(s *Settings) { s.Mode = event.ModeOn }}, change...)...)
}

func startRig(tb testing.TB, base string, change ...func(*Settings)) *rig {
	tb.Helper()
	return startRigOn(tb, listen(tb, "127.0.0.1:0"), base, change...)
}

func listen(tb testing.TB, address string) net.Listener {
	tb.Helper()
	ln, err := net.Listen("tcp4", address)
	if err != nil {
		tb.Fatal(err)
	}
	return ln
}

func startRigOn(tb testing.TB, ln net.Listener, base string, change ...func(*Settings)) *rig {
	tb.Helper()
	s := testSettings(base)
	for _, f := range change {
		f(&s)
	}
	r := &rig{tb: tb, addr: ln.Addr().String(), ended: make(chan struct{}), events: make(chan event.Exchange, 10_000),
		windows: window.New(window.Config{Default: 1_000_000}, nil, time.Now)}
	r.shapes(whole)
	r.observe.Store(r.shape.Load())
	upstreams, err := NewUpstreams(s)
	if err != nil {
		tb.Fatal(err)
	}
	r.upstreams = upstreams
	r.proxy = New(upstreams, Deps{
		Log: slog.New(slog.DiscardHandler),
		Record: func(e *event.Exchange) {
			select {
			case r.events <- *e:
			default: // nobody looks
			}
		},
		Shape:   func(in rewrite.Input) rewrite.Output { return (*r.shape.Load())(in) },
		Observe: func(in rewrite.Input) rewrite.Output { return (*r.observe.Load())(in) },
		Windows: r.windows, Ratios: tokenize.NewRatios(store.NewMemory(1 << 20)),
		Scope: func(kind, value string) string { return kind + "=" + value }, // so that tests see what is hashed
		Keeps: func(name string) bool { return name != "none" },
		Run:   func(string) (Run, error) { return Run{}, errors.New("there are no runs") },
	})
	go func() {
		defer close(r.ended)
		if err := r.proxy.Serve(ln, ownPages{}); err != nil {
			tb.Errorf("Serve: %v", err)
		}
	}()
	tb.Cleanup(func() {
		r.proxy.Shutdown()
		<-r.ended
	})
	return r
}

// reload puts changed settings in force.
func (r *rig) reload(change func(*Settings)) {
	r.tb.Helper()
	s := r.proxy.settings.Load().conf
	change(&s)
	if err := r.proxy.Reload(s); err != nil {
		r.tb.Fatal(err)
	}
}

// ownPages stand in for the console.
type ownPages struct{}

func (ownPages) KnowsHost(host string) bool {
	return host == "x" || strings.HasPrefix(host, "127.0.0.1")
}

func (ownPages) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/-/panic":
		panic("asked for")
	case "/-/wait":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-req.Context().Done()
	case "/-/stream", "/-/abort":
		_, _ = io.WriteString(w, "one")
		w.(http.Flusher).Flush()
		if req.URL.Path == "/-/abort" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "two")
	default:
		_, _ = io.WriteString(w, "own "+req.Method+" "+req.URL.RequestURI())
	}
}

// eventually waits for what another goroutine brings about.
func (r *rig) eventually(what string, ok func() bool) {
	r.tb.Helper()
	if !fakeapi.Eventually(ok) {
		r.tb.Fatalf("never: %s", what)
	}
}

// within waits for a value from another goroutine.
func within[T any](tb testing.TB, what string, c <-chan T) (v T) {
	tb.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		tb.Fatalf("never: %s", what)
	}
	return v
}

// event waits for the next exchange to end.
func (r *rig) event() event.Exchange {
	r.tb.Helper()
	return within(r.tb, "an exchange ends", r.events)
}

// wantFault waits for the next exchange to end, and fails the test unless it ends with that fault.
func (r *rig) wantFault(want event.Fault) {
	r.tb.Helper()
	if e := r.event(); e.Fault != want {
		r.tb.Errorf("event %+v, want fault %s", e, want)
	}
}

// awaitGone waits until the proxy has ended a connection to the provider.
func (r *rig) awaitGone() {
	r.tb.Helper()
	within(r.tb, "the proxy ends its upstream connection", r.up.gone)
}

// got is the last request that the provider received, with HOST in the place of its own address.
func (r *rig) got() (head, body string) {
	r.tb.Helper()
	all := r.up.requests()
	if len(all) == 0 {
		r.tb.Fatal("the upstream got no request")
	}
	last := all[len(all)-1]
	return strings.ReplaceAll(last.head, r.up.addr(), "HOST"), last.body
}

// wantRequests fails the test unless the provider got so many requests.
func (r *rig) wantRequests(want int) {
	r.tb.Helper()
	if n := len(r.up.requests()); n != want {
		r.tb.Errorf("the upstream got %d requests, want %d", n, want)
	}
}

// testClient is a connection that speaks bytes.
type testClient struct {
	*net.TCPConn
	tb testing.TB
	br *bufio.Reader
}

func (r *rig) dial() *testClient {
	r.tb.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.tb.Fatal(err)
	}
	r.tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &testClient{c.(*net.TCPConn), r.tb, bufio.NewReader(c)}
}

// ask makes a request on a connection of its own.
func (r *rig) ask(request string) (*http.Response, string) {
	r.tb.Helper()
	return r.dial().send(request).answer("POST")
}

// wantBody makes a request on a connection of its own, and fails the test unless the answer has that body.
func (r *rig) wantBody(request, want string) {
	r.tb.Helper()
	r.dial().wantBody(request, want)
}

// wantBody makes a request, and fails the test unless the answer has that body.
func (c *testClient) wantBody(request, want string) {
	c.tb.Helper()
	if _, got := c.send(request).answer("POST"); got != want {
		c.tb.Errorf("%.100q got %.300q, want %.300q", request, got, want)
	}
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
	return resp, string(body)
}

// raw reads one answer, to the byte.
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
	return method + " " + target + " HTTP/1.1\r\n" + strings.Join(append([]string{"Host: x"}, lines...), "\r\n") +
		"\r\n\r\n" + body
}

// noLeaks fails the test if goroutines are left when everything else has been cleaned up. It is to be called first, by
// a test that runs alone.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goroutines()
	t.Cleanup(func() {
		if !fakeapi.Eventually(func() bool { return goroutines() <= before }) {
			t.Fatalf("%d goroutines are left, were %d", goroutines(), before)
		}
	})
}

// goroutines counts them, but for those that a stopped server leaves asleep for a while on purpose.
func goroutines() (n int) {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("\n\n")) + 1 - bytes.Count(stacks, []byte("workerPool).Start.func2"))
}
