package proxy

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite"
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
	s.Upstreams["other"] = up
	up.Headers = map[string]string{"Authorization": "Bearer provider"}
	s.Upstreams["test"] = up
}

func TestKeyIsTakenOffAndTheUpstreamsCredentialSet(t *testing.T) {
	t.Parallel()
	r := on(t, taking, keyed)
	var asked rewrite.Input
	r.shapes(notes(&asked))
	f := func(target, want string, lines ...string) {
		t.Helper()
		if resp, body := r.ask(post(target, long, lines...)); resp.StatusCode != 200 || body != "a" {
			t.Errorf("%q: got %s %q", lines, resp.Status, body)
		}
		head, _ := r.got()
		_, rest, _ := strings.Cut(head, "Host: HOST\r\n")
		if rest = strings.Replace(rest, fmt.Sprintf("Content-Length: %d\r\n", len(long)), "", 1); rest != want+"\r\n" {
			t.Errorf("%q: the upstream got %q, want %q", lines, rest, want)
		}
		e := r.event()
		if text := fmt.Sprintf("%+v", e); e.Client == "" || asked.Turn != e.Client || strings.Contains(text, "sk-epitome") ||
			strings.Contains(text, "provider") {
			t.Errorf("%q: the event says %s", lines, text)
		}
	}
	const ours = "Authorization: Bearer provider\r\n"
	f(chatTarget, "A: 1\r\n"+ours, "Authorization: Bearer "+alices, "A: 1")
	f(chatTarget, "A: 1\r\n"+ours, "A: 1", "x-api-key: "+alicesOld)
	f(chatTarget, ours, "api-key: "+alices, "x-api-key: "+bobs) // of two known keys none goes on
	const other = "/u/other" + chatTarget                       // this upstream adds nothing
	f(other, "", "Authorization: Bearer "+alices)
	f(other, "A: 1\r\n", "X-Epitome-Key: "+bobs, "A: 1")
	for _, line := range []string{"x-api-key: ", "Authorization: Bearer ", "authorization: "} {
		f(other, "A: 1\r\n", "api-key: "+bobs, line+"sk-epitome-OLD", "A: 1") // a key that was taken away
	}
	const theirs = "Authorization: Bearer sk-epitome-THEIRS" // of another epitome
	f(other, theirs+"\r\n", theirs, "x-epitome-key: "+bobs)
	f(other, "Authorization: Bearer theirs\r\n", "Authorization: Bearer theirs", "x-epitome-key: "+bobs)
}

// A stranger gets one sentence in a form that clients of all dialects read; nothing reaches an upstream, and its body
// takes no memory.
func TestStrangersGetNothingFromUpstreams(t *testing.T) {
	t.Parallel()
	r := on(t, taking, keyed)
	r.shapes(refusing(t))
	for _, in := range []string{
		post(chatTarget, long), post("/v1/messages", long, "x-api-key: sk-epitome-OTHER",
			"anthropic-version: 2023-06-01"),
		post("/v1/responses", long, "Authorization: Bearer "+strings.ToLower(alices)), get("/u/none/x"),
		post(chatTarget, long, "Cookie: "+alices), post(chatTarget, long, "x-epitome-mode: off"),
		request("CONNECT", "x:1", ""),
		request("POST", chatTarget, chunks("abc")+lastChunk, "Transfer-Encoding: chunked"),
		get("/v1/responses", "Connection: Upgrade", "Upgrade: websocket"),
		request("POST", chatTarget, "x", "Content-Length: 50000000"),
	} {
		c := r.dial()
		resp, body := c.send(in).answer("POST")
		if resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != "Bearer" || !strings.Contains(body,
			`"message":"the request has no key that this epitome knows: send yours as `) {
			t.Errorf("%.60q: got %s %s", in, resp.Status, body)
		}
		if e := r.event(); e.Fault != event.Refused || e.Status != 401 || e.Client != "" || e.Path == "" ||
			e.RequestBytes != 0 || e.Remote != c.LocalAddr().String() {
			t.Errorf("%.60q: event %+v", in, e)
		}
		c.expectEOF() // nor do they keep a connection
	}
	r.wantRequests(0)
	if resp, _ := r.ask(request("POST", "/-/x", "x", "Content-Length: 50000000")); resp.StatusCode != 413 ||
		!r.isFree() {
		t.Errorf("a large body under /-/ gets %s, or room is held", resp.Status)
	}
}

func TestClientsAreHeldToUpstreamsModesAndDays(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) {
		keyed(s)
		s.Clients["carl"] = ClientConfig{Keys: []string{HashOfKey("sk-epitome-CARL")}, Expires: "2026-01-01"}
		s.Clients["dora"] = ClientConfig{Keys: []string{HashOfKey("sk-epitome-DORA")}, Expires: "2126-01-01",
			Modes: []string{event.ModeOn}}
	})
	f := func(status int, code, target, key string, lines ...string) {
		t.Helper()
		resp, body := r.ask(post(target, long, append(lines, "x-api-key: "+key)...))
		e := r.event()
		if resp.StatusCode != status || code != "" && !strings.Contains(body, `"code":"`+code+`"`) || e.Client == "" != (status == 401) ||
			(e.Fault == event.Refused) != (status > 400) {
			t.Errorf("%s of %s: %s %s, event %+v", target, key, resp.Status, body, e)
		}
	}
	f(403, "upstream_forbidden", chatTarget, bobs)
	f(200, "", "/u/other"+chatTarget, bobs)
	f(404, "unknown_upstream", "/u/none"+chatTarget, bobs)
	f(403, "mode_forbidden", chatTarget, "sk-epitome-DORA", "x-epitome-mode: off")
	f(200, "", chatTarget, "sk-epitome-DORA")
	f(401, "key_expired", chatTarget, "sk-epitome-CARL")
	r.wantRequests(2)
}
