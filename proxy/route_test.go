package proxy

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/fakeapi"
)

// twoRigs is a proxy with the upstreams test and other; each answers with its name.
func twoRigs(t *testing.T) (r *rig, other *provider) {
	t.Helper()
	other = startProvider(t, answers(ok("other")))
	return newRig(t, answers(ok("test")), func(s *Settings) {
		s.Upstreams["other"] = UpstreamConfig{URL: other.url() + "/base/v1"}
		s.Routes = []RouteRule{{Model: "claude-*", Upstream: "other"}}
	}), other
}

func TestRequestsFindTheirUpstream(t *testing.T) {
	t.Parallel()
	r, other := twoRigs(t)
	f := func(request, want, target string) {
		t.Helper()
		_, got := r.ask(request)
		from := r.up
		if got == "other" {
			from = other
		}
		if q := from.requests(); got != want || q[len(q)-1].target != target {
			t.Errorf("%.80q went to %s as %s, want %s as %s", request, got, q[len(q)-1].target, want, target)
		}
	}
	f(get("/v1/models"), "test", "/v1/models")
	f(get("/u/other/v1/models?a=b"), "other", "/base/v1/models?a=b")
	f(get("/u/other?x=1"), "other", "/base/v1/?x=1")
	f(get("/u/test//x%2Fy"), "test", "//x%2Fy")
	f(post(chatTarget, `{"messages":[],"model":"Claude-1"}`), "other", "/base/v1/chat/completions")
	f(post(chatTarget, `{"model":"gpt-5"}`), "test", chatTarget)
	f(post("/u/test"+chatTarget, `{"model":"claude-1"}`), "test", chatTarget)
	f(post(chatTarget, `not json`), "test", chatTarget)
	packed := string(encode(t, []byte(`{"model":"claude-9"}`), codings[0].encode))
	f(post(chatTarget, packed, "Content-Encoding: gzip"), "other", "/base/v1/chat/completions")
	f(post(chatTarget, "not gzip", "Content-Encoding: gzip"), "test", chatTarget)
}

func TestUpstreamHeadersReplaceTheClients(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(noContent))
	r.reload(func(s *Settings) {
		s.Upstreams["test"] = UpstreamConfig{URL: r.up.url(),
			Headers: map[string]string{"Authorization": "Bearer ours", "X-New": "1", "X-Off": ""}}
	})
	r.ask(get("/a", "authorization: Bearer theirs", "X-Other: 2", "x-off: theirs"))
	got, _ := r.got()
	lines := strings.Split(strings.TrimSpace(got), "\r\n")[1:]
	slices.Sort(lines)
	if strings.Join(lines, ", ") != "Authorization: Bearer ours, Host: HOST, X-New: 1, X-Other: 2" {
		t.Errorf("the upstream got %q", got)
	}
}

// Requests as browsers send them, and as programs do, for upstreams to which the configuration adds a credential. A page
// of evil.example sends Origin or Sec-Fetch-Site, or its name in Host, which a page cannot choose.
func TestWebPagesSpendNoConfiguredCredential(t *testing.T) {
	t.Parallel()
	files := certificate(t)
	_, trust := issue(t, files, "epitome.test")
	keyed := func(s *Settings) {
		u := s.Upstreams["test"]
		s.Upstreams["plain"] = u
		s.Upstreams["shown"] = UpstreamConfig{URL: "https://127.0.0.1:1", TLS: Trust{
			Certificate: Certificate{CertFile: files.CertFile, KeyFile: files.KeyFile}}}
		u.Headers = map[string]string{"Authorization": "Bearer ours"}
		s.Upstreams["test"], s.Upstreams["keyed"] = u, u
		s.Routes = []RouteRule{{Model: "m*", Upstream: "keyed"}}
	}
	up := startProvider(t, answers(ok("a")))
	secured, err := files.Listen(listen(t, "127.0.0.1:0"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	loopback := startRigOn(t, listen(t, "127.0.0.1:0"), up.url(), keyed)
	secure := startRigOn(t, secured, up.url(), keyed)
	beyond := startRigOn(t, listen(t, "0.0.0.0:0"), up.url(), keyed)
	send := func(r *rig, method, target string, lines ...string) (status int, answer string) {
		t.Helper()
		c := net.Conn(r.dial().TCPConn)
		if r == secure {
			c = tls.Client(c, &tls.Config{RootCAs: trust, ServerName: "epitome.test"})
		}
		_, _ = io.WriteString(c, method+" "+target+" HTTP/1.1\r\n"+strings.Join(lines, "\r\n")+
			"\r\nContent-Length: 13\r\n\r\n"+`{"model":"m"}`)
		resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	spent := func() (n int) {
		for _, q := range up.requests() {
			n += strings.Count(q.head, "Authorization: Bearer ours")
		}
		return n
	}
	f := func(status int, rigs []*rig, lines ...string) {
		t.Helper()
		for _, r := range rigs {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				for _, target := range []string{"/u/keyed/v1/files", "/v1/messages/count_tokens"} {
					before := spent()
					got, _ := send(r, method, target, lines...)
					if isSpent := spent() > before; got != status || isSpent != (status == 200) {
						t.Errorf("%s %s with %q at %s: got %d, want %d; the credential is spent: %v",
							method, target, lines, r.addr, got, status, isSpent)
					}
				}
			}
		}
	}
	all, local := []*rig{loopback, secure, beyond}, []*rig{loopback, secure}
	const us, evil, evilOrigin = "Host: 127.0.0.1:7070", "Host: evil.example:7070", "Origin: http://evil.example:7070"
	f(200, all, us)
	f(200, all, us, "Origin: app://desktop")
	f(200, all, us, "Sec-Fetch-Site: none")
	f(200, all, us, "Origin: http://127.0.0.1:7070", "Sec-Fetch-Site: same-origin")
	f(403, all, us, evilOrigin)
	f(403, all, us, "origin: null")
	f(403, all, us, "Sec-Fetch-Site: cross-site")
	f(403, all, us, "Sec-Fetch-Site: same-site")
	f(403, all, us, evilOrigin, "Connection: Upgrade", "Upgrade: websocket")
	// Its name leads to this machine, or to a server before epitome that writes a Host of its own.
	f(403, local, evil)
	f(403, all, evil, evilOrigin)
	f(403, all, evil, evilOrigin, "Sec-Fetch-Site: same-origin")
	f(403, all, evil, "Sec-Fetch-Site: same-origin")
	f(403, all, us, evilOrigin, "Sec-Fetch-Site: same-origin")
	f(200, []*rig{beyond}, "Host: epitome.svc") // where other machines give it names

	for _, target := range []string{"/u/plain/a", "/u/shown/a"} {
		got, answer := send(loopback, "GET", target, evil)
		if want := map[string]int{"/u/plain/a": 200, "/u/shown/a": 403}[target]; got != want {
			t.Errorf("%s: got %d %s, want %d", target, got, answer, want)
		}
	}
	if _, answer := send(loopback, "GET", "/a", evil); !strings.Contains(answer, "console.hosts") {
		t.Errorf("the refusal does not say what to do: %s", answer)
	}
	loopback.reload(func(s *Settings) {
		s.Clients = map[string]ClientConfig{"alice": {Keys: []string{HashOfKey(alices)}}}
	})
	f(401, []*rig{loopback}, evil)
	f(200, []*rig{loopback}, evil, "x-api-key: "+alices) // no page has a key
}

// A path with a credential of the configuration, or below a base URL, leads nowhere else.
func TestDotSegmentsAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, taking, func(s *Settings) {
		at := s.Upstreams["test"].URL
		s.Upstreams["keyed"] = UpstreamConfig{URL: at, Headers: map[string]string{"Authorization": "Bearer ours"}}
		s.Upstreams["below"] = UpstreamConfig{URL: at + "/team-a/v1"}
	})
	f := func(status int, paths ...string) {
		t.Helper()
		for _, path := range paths {
			for _, upstream := range []string{"keyed", "below"} {
				resp, body := r.ask(post("/u/"+upstream+path, "{}"))
				if resp.StatusCode != status || status == 400 && !strings.Contains(body, `"code":"bad_request"`) {
					t.Errorf("%s%s: got %s %s, want %d", upstream, path, resp.Status, body, status)
				}
			}
			if resp, _ := r.ask(post("/u/test"+path, "{}")); resp.StatusCode != 200 {
				t.Errorf("%s: got %s where there is nothing to leave", path, resp.Status)
			}
		}
	}
	f(400, "/../admin", "/v1/../../admin/keys", "/a/..", "/a/.", "/./a", "/..", "/../?a=b")
	f(400, "/%2e%2e/a", "/%2E%2e/a", "/.%2E/a", "/%2e./a", "/a/%2e", "/%252e%252e/a")
	f(400, "/a%2f..%2fb", "/a%2F%2e%2E/b", `/a\..\b`, "/a%5c..%5Cb", "/..%2fa", "/..%5ca", "/..;/a", "/..;x=1/a", "/..%3b/a")
	f(200, "/...", "/a..b/c", "/..a", "/a..", "/.well-known/x", "/models/gpt-4.1", "/a%2fb", "/a?x=/../b", "//a", "/%2e%2ea")
}

func TestReloadServesNewExchanges(t *testing.T) {
	t.Parallel()
	r, _ := twoRigs(t)
	c := r.dial()
	c.send(get("/a")).answer("GET")
	r.reload(func(s *Settings) { s.Upstream = "other" })
	c.wantBody(get("/b"), "other")
	s := r.proxy.settings.Load().conf
	s.Upstream = "nobody"
	if err := r.proxy.Reload(s); err == nil || !strings.Contains(err.Error(), "other, test") {
		t.Errorf("a reload to an unknown upstream gave %v", err)
	}
	c.wantBody(get("/d"), "other")
}

func TestForwardProxyOfTheEnvironmentIsUsed(t *testing.T) {
	up, asked := startProvider(t, answers(ok("through"))), make(chan *http.Request, 1)
	hop := fakeapi.StartForwardProxy(t, up.addr(), func(r *http.Request) { asked <- r })
	t.Setenv("HTTP_PROXY", "http://user:pass@"+hop)
	r := startRig(t, "http://upstream.test")
	r.wantBody(get("/a"), "through")
	if q := <-asked; q.Host != "upstream.test:80" ||
		q.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("user:pass")) {
		t.Errorf("the forward proxy was asked for %s with %v", q.Host, q.Header)
	}
}

func TestUpgradeIsRefusedForResponsesAndTunnelledElsewhere(t *testing.T) {
	noLeaks(t)
	ws := []string{"Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: k"}
	const switched = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
	r := newRig(t, func(c *call) {
		if c.target == "/v1/none" || !strings.Contains(c.head, "Upgrade: websocket\r\n") {
			c.send(reply("404 Not Found", "no"))
			return
		}
		c.send(switched)
		_, _ = io.Copy(c, c.br) // echo
		c.hangUp()
	})
	if resp, body := r.ask(get("/v1/responses?x=1", ws...)); resp.StatusCode != 426 ||
		!strings.Contains(body, "over HTTP") {
		t.Errorf("got %s %s", resp.Status, body)
	}
	r.event()
	if resp, _ := r.ask(get("/v1/none", ws...)); resp.StatusCode != 404 {
		t.Errorf("got %s", resp.Status)
	}
	r.event()
	c := r.dial().send(get("/v1/realtime", ws...)).expect(switched)
	for _, s := range []string{"ping", strings.Repeat("x", 100_000)} {
		go c.send(s)
		c.expect(s)
	}
	_ = c.CloseWrite()
	c.expectEOF()
	if e := r.event(); e.Status != 101 || e.Fault != event.None || e.ResponseBytes != 100_004 {
		t.Errorf("event %+v", e)
	}
	r.reload(func(s *Settings) {
		brief := *s.limits
		brief.readIdle = 100 * time.Millisecond
		s.limits = &brief
	})
	c = r.dial().send(get("/v1/realtime", ws...)).expect(switched) // in which nobody says anything
	c.expectEOF()
}

// askLoop sends a conversation to a proxy and returns what it answers.
func askLoop(r *rig) (status int, body, again string) {
	resp, body := r.ask(post(chatTarget, `{"model":"m","messages":[{"role":"user","content":"hello"}]}`))
	return resp.StatusCode, body, resp.Header.Get("x-should-retry")
}

// A proxy sends to itself, or some in a circle: the client gets one sentence, after few rounds. A path in the url makes
// the target longer with each of them.
func TestCirclesAreRefused(t *testing.T) {
	t.Parallel()
	f := func(n int, path string) {
		t.Helper()
		all := make([]*rig, n)
		for i := range all {
			all[i] = startRig(t, "http://127.0.0.1:9")
		}
		for i, r := range all {
			r.reload(func(s *Settings) {
				s.Upstreams = map[string]UpstreamConfig{"test": {URL: "http://" + all[(i+1)%n].addr + path}}
			})
		}
		status, body, again := askLoop(all[0])
		if status != 508 || !strings.Contains(body, `"code":"loop"`) ||
			again != "false" {
			t.Errorf("%d, %q: answered %d, retry %q: %s", n, path, status, again, body)
		}
		if rounds := len(all[0].events); rounds > 3*unmarked {
			t.Errorf("%d, %q: it took %d rounds", n, path, rounds)
		}
	}
	f(1, "")
	f(1, "/u/test")
	f(3, "/v1")
}

// Epitomes in a row are no circle. A request alone carries no mark.
func TestChainsOfProxiesPass(t *testing.T) {
	t.Parallel()
	last := newRig(t, taking)
	first := startRig(t, "http://"+startRig(t, "http://"+last.addr).addr)
	status, body, _ := askLoop(first)
	if head, _ := last.got(); status != 200 || body != "a" || strings.Contains(head, viaHeader) {
		t.Errorf("answered %d: %s, and the upstream got %q", status, body, head)
	}
}

func TestNotFoundIsExplainedByTheBaseURL(t *testing.T) {
	t.Parallel()
	f := func(base, request, want string) {
		t.Helper()
		r := newRig(t, answers(reply("404 Not Found", "{}")), func(s *Settings) {
			s.Mode = event.ModeOn
			s.Upstreams["test"] = UpstreamConfig{URL: s.Upstreams["test"].URL + base}
		})
		r.ask(request)
		got := r.event()
		if !strings.Contains(got.Err, want) || (want == "") != (got.Err == "") {
			t.Errorf("%s%s: %q", base, got.Path, got.Err)
		}
	}
	f("/v1", post("/v1/v1/responses", "{}"), "twice")
	f("", post("/chat/completions?a=1", "{}"), "no /v1")
	f("/v1", post("/v1", "{}"), "ends with /v1")
	f("/v1", post("/v1/message", "{}"), "may not have this path")
	f("/api", post("/v1/messages", "{}"), "below /api")
	f("", get("/v1/models/none"), "")
	f("/openai/v1", post("/v1/responses", "{}"), "")
}
