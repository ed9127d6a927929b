package proxy

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/internal/unit"
)

const twoUpstreams = "-- * /* --\nrepeat\nstatus 200 OK\nbody %\n"

// twoRigs is a proxy with the upstreams test and other; each answers with its name.
func twoRigs(t *testing.T, change ...func(*Settings)) (r *rig, other *fakeapi.Upstream) {
	t.Helper()
	other = scriptedtest.Start(t, strings.Replace(twoUpstreams, "%", "other", 1))
	return newRig(t, strings.Replace(twoUpstreams, "%", "test", 1), append([]func(*Settings){func(s *Settings) {
		s.Upstreams["other"] = UpstreamConfig{URL: other.URL() + "/base/v1"}
	}}, change...)...), other
}

func TestRequestsFindTheirUpstream(t *testing.T) {
	t.Parallel()
	r, other := twoRigs(t, func(s *Settings) { s.Routes = []RouteRule{{Model: "claude-*", Upstream: "other"}} })
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, `{"model":"claude-9"}`)
	_ = w.Close()
	f := func(request, body, target string) {
		t.Helper()
		_, got := r.dial().send(request).answer("POST")
		from := r.upstream
		if got == "other" {
			from = other
		}
		q := from.Requests()
		if got != body || q[len(q)-1].Target != target {
			t.Errorf("%.80q went to %s as %s, want %s as %s", request, got, q[len(q)-1].Target, body, target)
		}
	}
	f(get("/v1/models"), "test", "/v1/models")
	f(get("/u/other/v1/models?a=b"), "other", "/base/v1/models?a=b")
	f(get("/u/other"), "other", "/base/v1/")
	f(get("/u/other?x=1"), "other", "/base/v1/?x=1")
	f(get("/u/test//x%2Fy"), "test", "//x%2Fy")
	f(post("/v1/chat/completions", `{"messages":[],"model":"Claude-1"}`), "other", "/base/v1/chat/completions")
	f(post("/v1/chat/completions", `{"model":"gpt-5"}`), "test", "/v1/chat/completions")
	f(post("/u/test/v1/chat/completions", `{"model":"claude-1"}`), "test", "/v1/chat/completions")
	f(post("/v1/chat/completions", `not json`), "test", "/v1/chat/completions")
	f(post("/v1/chat/completions", packed.String(), "Content-Encoding: gzip"), "other", "/base/v1/chat/completions")
	f(post("/v1/chat/completions", "not gzip", "Content-Encoding: gzip"), "test", "/v1/chat/completions")
}

func TestUpstreamHeadersReplaceTheClients(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- GET /a --\nexpect-header Authorization: Bearer ours\nexpect-header X-New: 1\nexpect-header X-Other: 2\nstatus 204 No Content\n",
		func(s *Settings) {
			s.Upstreams["test"] = UpstreamConfig{URL: s.Upstreams["test"].URL,
				Headers: map[string]string{"Authorization": "Bearer ours", "X-New": "1", "X-Off": ""}}
		})
	r.dial().send(get("/a", "authorization: Bearer theirs", "X-Other: 2", "x-off: theirs")).answer("GET")
	if q := r.upstream.Requests()[0]; strings.Contains(string(q.RawHead), "theirs") {
		t.Errorf("the client's credential went on: %q", q.RawHead)
	}
}

func TestReloadServesNewExchangesAndKeepsConnections(t *testing.T) {
	t.Parallel()
	r, other := twoRigs(t)
	s := r.proxy.settings.Load().conf
	c := r.dial()
	c.send(get("/a")).answer("GET")
	s.Upstream = "other"
	if err := r.proxy.Reload(s); err != nil {
		t.Fatal(err)
	}
	if _, body := c.send(get("/b")).answer("GET"); body != "other" {
		t.Errorf("after the reload got %q", body)
	}
	c.send(get("/u/test/c")).answer("GET")
	if q := r.upstream.Requests(); q[1].Conn != 1 {
		t.Error("the reload lost a connection to an upstream that has not changed")
	}
	s.Upstream = "nobody"
	if err := r.proxy.Reload(s); err == nil || !strings.Contains(err.Error(), "other, test") {
		t.Errorf("a reload to an unknown upstream gave %v", err)
	}
	if _, body := c.send(get("/d")).answer("GET"); body != "other" {
		t.Errorf("after the failed reload got %q", body)
	}
	_ = other
}

func TestTLSUpstreamIsTrustedByItsAuthority(t *testing.T) {
	t.Parallel()
	up, ca := scriptedtest.StartTLS(t, "-- GET /a --\nstatus 200 OK\nbody secret\nrepeat\n")
	file := t.TempDir() + "/ca.pem"
	writeFile(t, file, ca)
	r := startRig(t, up.URL(), func(s *Settings) {
		s.Upstreams["test"] = UpstreamConfig{URL: up.URL(), TLS: Trust{CAFile: file}}
		s.Upstreams["wary"] = UpstreamConfig{URL: up.URL()}
	})
	for range 2 {
		if _, body := r.dial().send(get("/a")).answer("GET"); body != "secret" {
			t.Errorf("got %q", body)
		}
	}
	if resp, body := r.dial().send(get("/u/wary/a")).answer("GET"); resp.StatusCode != 502 ||
		!strings.Contains(body, "certificate") {
		t.Errorf("an upstream with an unknown authority got %s %s", resp.Status, body)
	}
}

func TestForwardProxyOfTheEnvironmentIsUsed(t *testing.T) {
	up := scriptedtest.Start(t, "-- GET /a --\nstatus 200 OK\nbody through\n")
	hop, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hop.Close() }()
	asked := make(chan *http.Request, 1)
	go serveConnect(hop, up.Addr(), asked)
	t.Setenv("HTTP_PROXY", "http://user:pass@"+hop.Addr().String())
	r := startRig(t, "http://upstream.test:81")
	if _, body := r.dial().send(get("/a")).answer("GET"); body != "through" {
		t.Errorf("got %q", body)
	}
	q := <-asked
	if q.Host != "upstream.test:81" ||
		q.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("user:pass")) {
		t.Errorf("the forward proxy was asked for %s with %v", q.Host, q.Header)
	}
}

// serveConnect is a forward proxy that leads every tunnel to one address.
func serveConnect(ln net.Listener, addr string, asked chan<- *http.Request) {
	//nolint:gosec // one request in a test
	_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked <- q
		to, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		w.WriteHeader(http.StatusOK)
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(to, rw); _ = to.Close() }()
		_, _ = io.Copy(c, to)
	}))
}

func TestUpgradeIsRefusedForResponsesAndTunnelledElsewhere(t *testing.T) {
	noLeaks(t)
	ws := []string{"Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: k"}
	r := newRig(t, "-- GET /v1/realtime --\nexpect-header Upgrade: websocket\nstatus 101 Switching Protocols\nheader Upgrade: websocket\nheader Connection: Upgrade\nupgrade\n"+
		"-- GET /v1/none --\nstatus 404 Not Found\nbody no\n")
	if resp, body := r.dial().send(get("/v1/responses?x=1", ws...)).answer("GET"); resp.StatusCode != 426 ||
		!strings.Contains(body, "over HTTP") {
		t.Errorf("got %s %s", resp.Status, body)
	}
	r.event()
	if resp, _ := r.dial().send(get("/v1/none", ws...)).answer("GET"); resp.StatusCode != 404 {
		t.Errorf("got %s", resp.Status)
	}
	r.event()
	c := r.dial().send(get("/v1/realtime", ws...)).expect("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
	for _, s := range []string{"ping", strings.Repeat("x", 100_000)} {
		go c.send(s)
		c.expect(s)
	}
	_ = c.CloseWrite()
	c.expectEOF()
	if e := r.event(); e.Status != 101 || e.Fault != event.None || e.ResponseBytes != 100_004 {
		t.Errorf("event %+v", e)
	}
}

func TestSilentTunnelEnds(t *testing.T) {
	r := newRig(t, "-- GET /ws --\nstatus 101 Switching Protocols\nheader Upgrade: x\nheader Connection: Upgrade\nupgrade\n", func(s *Settings) {
		s.ReadIdle = unit.Duration(100 * time.Millisecond)
	})
	c := r.dial().send(get("/ws", "Connection: Upgrade", "Upgrade: x"))
	_, _ = io.ReadAll(c.br)
	r.await("gone 1")
}

func TestShutdownLetsStreamsFinish(t *testing.T) {
	noLeaks(t)
	r := newRig(t, "-- GET /s --\nstatus 200 OK\nchunk a\nawait go\nchunk b\nend\n")
	c := r.dial().send(get("/s"))
	idle := r.dial().send(get("/-/x"))
	idle.answer("GET")
	waiting := r.dial().send(get("/-/wait"))
	waiting.expect("HTTP/1.1 200 OK\r\n")
	r.await("waiting 1 go")
	done := make(chan struct{})
	go func() { r.proxy.Shutdown(); close(done) }()
	_, _ = io.ReadAll(waiting.br) // epitome's own streams end at once
	for !r.proxy.Stopping() {
		time.Sleep(time.Millisecond)
	}
	r.upstream.Release("go")
	if _, body := c.answer("GET"); body != "ab" {
		t.Errorf("the stream got %q", body)
	}
	<-done
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("after the shutdown a connection was accepted")
	}
}

func TestShutdownCutsWhatOutlastsTheGrace(t *testing.T) {
	noLeaks(t)
	r := newRig(t, "-- GET /s --\nstatus 200 OK\nchunk a\nawait-close\n", func(s *Settings) { s.ShutdownGrace = unit.Duration(50 * time.Millisecond) })
	c := r.dial().send(get("/s"))
	r.await("waiting 1 close")
	r.proxy.Shutdown()
	got, _ := io.ReadAll(c.br)
	if strings.HasSuffix(string(got), "0\r\n\r\n") {
		t.Errorf("a cut stream was completed: %q", got)
	}
	r.await("gone 1")
	if e := r.event(); e.Fault != event.Stopped {
		t.Errorf("event %+v, want fault stopped", e)
	}
}
