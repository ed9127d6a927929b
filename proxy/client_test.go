package proxy

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
)

// The keys of two clients, of whom alice has an old one as well.
const (
	alices    = "sk-epitome-ALICE"
	alicesOld = "sk-epitome-ALICEOLD"
	bobs      = "sk-epitome-BOB"
)

// keyed asks for the keys of alice and bob, and gives the upstream a credential of its own.
func keyed(s *Settings) {
	s.Clients = map[string]ClientConfig{
		"alice": {Keys: []string{HashOfKey(alices), HashOfKey(alicesOld)}},
		"bob":   {Keys: []string{HashOfKey(bobs)}, Upstreams: []string{"other"}},
	}
	up := s.Upstreams["test"]
	up.Headers = map[string]string{"Authorization": "Bearer provider"}
	s.Upstreams["test"] = up
	s.Upstreams["other"] = UpstreamConfig{URL: up.URL}
}

func TestKeyIsTakenOffAndTheUpstreamsCredentialSet(t *testing.T) {
	t.Parallel()
	r := on(t, taking, keyed)
	f := func(want string, lines ...string) {
		t.Helper()
		target := chatTarget
		if strings.HasPrefix(want, "other") {
			target = "/u/other" + target
		}
		if resp, body := r.dial().send(post(target, long, lines...)).answer("POST"); resp.StatusCode != 200 || body != "a" {
			t.Errorf("%q: got %s %q", lines, resp.Status, body)
		}
		head, _ := r.got()
		_, rest, _ := strings.Cut(head, "Host: HOST\r\n")
		rest = strings.Replace(rest, fmt.Sprintf("Content-Length: %d\r\n", len(long)), "", 1)
		if rest != strings.TrimPrefix(want, "other ")+"\r\n" {
			t.Errorf("%q: the upstream got %q, want %q", lines, rest, want)
		}
		e := r.event()
		text := fmt.Sprintf("%+v", e)
		if e.Client == "" || strings.Contains(text, "sk-epitome") || strings.Contains(text, "provider") {
			t.Errorf("%q: the event says %s", lines, text)
		}
	}
	ours := "Authorization: Bearer provider\r\n"
	f("A: 1\r\n"+ours, "Authorization: Bearer "+alices, "A: 1")
	f("A: 1\r\n"+ours, "A: 1", "x-api-key: "+alicesOld)
	f(ours, "api-key: "+alices, "x-api-key: "+bobs) // of two known keys none goes on
	f("other ", "Authorization: Bearer "+alices)    // this upstream adds nothing
	f("other A: 1\r\n", "X-Epitome-Key: "+bobs, "A: 1")
	f("other Authorization: Bearer theirs\r\n", "Authorization: Bearer theirs", "x-epitome-key: "+bobs)
}

// A stranger gets one sentence in a form that clients of all dialects read, and nothing reaches an upstream.
func TestStrangersGetNothingFromUpstreams(t *testing.T) {
	t.Parallel()
	r := on(t, taking, keyed)
	r.shapes(refusing(t))
	for _, in := range []string{
		post(chatTarget, long), post("/v1/messages", long, "x-api-key: sk-epitome-OTHER", "anthropic-version: 2023-06-01"),
		post("/v1/responses", long, "Authorization: Bearer "+strings.ToLower(alices)), get("/v1/models"), get("/u/none/x"),
		post(chatTarget, long, "Cookie: "+alices), post(chatTarget, long, "x-epitome-mode: off"), request("CONNECT", "x:1", ""),
		request("POST", chatTarget, "3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
		get("/v1/responses", "Connection: Upgrade", "Upgrade: websocket"),
	} {
		resp, body := r.dial().send(in).answer("POST")
		if resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != "Bearer" || !strings.Contains(body,
			`"message":"the request has no key that this epitome knows: send yours as `) {
			t.Errorf("%.60q: got %s %s", in, resp.Status, body)
		}
		if e := r.event(); e.Fault != event.Refused || e.Status != 401 || e.Client != "" || e.Path == "" {
			t.Errorf("%.60q: event %+v", in, e)
		}
	}
	if n := len(r.upstream.Requests()); n > 0 {
		t.Errorf("the upstream got %d requests", n)
	}
}

// A stranger's body takes no memory: the answer comes before it.
func TestBodiesOfStrangersAreNotRead(t *testing.T) {
	r := on(t, taking, keyed)
	resp, _ := r.dial().send("POST " + chatTarget + " HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\nx").answer("POST")
	if e := r.event(); resp.StatusCode != 401 || e.RequestBytes != 0 || e.Path != chatTarget {
		t.Errorf("got %s and the event %+v", resp.Status, e)
	}
	if !r.isFree() {
		t.Error("room is held")
	}
}

// Where a stranger may come, under /-/, it sends little, and holds no room that clients need.
func TestStrangersTakeNoRoomUnderOwnPages(t *testing.T) {
	r := on(t, taking, keyed)
	resp, _ := r.dial().send("POST /-/x HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\nx").answer("POST")
	if resp.StatusCode != 413 || !r.isFree() {
		t.Errorf("a large body gets %s, or room is held", resp.Status)
	}
	c := r.dial().send("POST /-/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n")
	if _, body := c.send("small\r\n0\r\n\r\n").answer("POST"); body != "own POST /-/x" {
		t.Errorf("without a length got %q", body)
	}
}

func TestClientsAreHeldToTheirUpstreams(t *testing.T) {
	t.Parallel()
	r := on(t, taking, keyed)
	f := func(status int, code, target, key string) {
		t.Helper()
		resp, body := r.dial().send(post(target, long, "x-api-key: "+key)).answer("POST")
		e := r.event()
		if resp.StatusCode != status || code != "" && !strings.Contains(body, `"code":"`+code+`"`) || e.Client == "" ||
			(e.Fault == event.Refused) != (status > 400) {
			t.Errorf("%s of %s: %s %s, event %+v", target, key, resp.Status, body, e)
		}
	}
	f(403, "upstream_forbidden", chatTarget, bobs)
	f(200, "", "/u/other"+chatTarget, bobs)
	f(404, "unknown_upstream", "/u/none"+chatTarget, bobs)
	if n := len(r.upstream.Requests()); n != 1 {
		t.Errorf("the upstream got %d requests, want 1", n)
	}
}

// Promise 7: what one client's key remembers, no other one's sees; a new key of the same client keeps it.
func TestScopeIsTheClients(t *testing.T) {
	t.Parallel()
	r := on(t, taking, keyed, func(s *Settings) {
		s.Clients["bob"] = ClientConfig{Keys: []string{HashOfKey(bobs)}}
	})
	of := func(setting string, lines ...string) string { return r.scopeOf(setting, lines...) }
	for _, setting := range []string{"auto", "credential"} {
		a, b := of(setting, "api-key: "+alices), of(setting, "api-key: "+bobs)
		old := of(setting, "Authorization: Bearer "+alicesOld, "api-key: theirs")
		if a != "client=alice" || old != a || b != "client=bob" {
			t.Errorf("%s: alice %q, with her old key %q, bob %q", setting, a, old, b)
		}
	}
	if a, b := of("header:x-team", "x-team: red", "api-key: "+alices), of("header:x-team", "x-team: red", "api-key: "+bobs); a == b {
		t.Errorf("by a header that both write, both have the scope %q", a)
	}
	if a, b := of("shared", "api-key: "+alices), of("shared", "api-key: "+bobs); a != "" || b != "" {
		t.Errorf("shared: %q and %q", a, b)
	}
}

// Who puts the key itself where its hash belongs is told so, without the key.
func TestHashesThatAreNoneAreRefused(t *testing.T) {
	f := func(text string) {
		t.Helper()
		_, err := newClients(map[string]ClientConfig{"alice": {Keys: []string{text}}})
		if err == nil || !strings.Contains(err.Error(), "client alice") || len(text) > 4 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", NewKey(), "sha1:00", HashOfKey("x")[:70], HashOfKey("x") + "00", strings.ToUpper(HashOfKey("x")),
		strings.TrimPrefix(HashOfKey("x"), "sha256:")} {
		f(text)
	}
	twice := map[string]ClientConfig{"a": {Keys: []string{HashOfKey("x")}}, "b": {Keys: []string{HashOfKey("y"), HashOfKey("x")}}}
	_, err := newClients(twice)
	if err == nil || !strings.Contains(err.Error(), "client b: it is one of client a already") {
		t.Errorf("a key of two clients: %v", err)
	}
}
