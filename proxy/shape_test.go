package proxy

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"epitome/event"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

const (
	chatTarget = "/v1/chat/completions"
	long       = `{"model":"m","messages":[{"role":"user","content":"a very long story"}]}`
	short      = `{"model":"m","messages":[{"role":"user","content":"a story"}]}`
)

// taking answers any number of conversations.
const taking = "-- POST * --\nrepeat\nstatus 200 OK\nbody a\n"

// on is a rig in mode on.
func on(tb testing.TB, script string, change ...func(*Settings)) *rig {
	tb.Helper()
	return newRig(tb, script, append([]func(*Settings){func(s *Settings) { s.Mode = event.ModeOn }}, change...)...)
}

// shapes lets f shape conversations from now on.
func (r *rig) shapes(f shaper) { r.shape.Store(&f) }

// shortened sends short in place of everything, with a report on it.
func shortened(rewrite.Input) rewrite.Output {
	return rewrite.Output{Body: []byte(short), Changed: true, Report: rewrite.Report{
		Action: string(ledger.StepClear), Shaping: event.Shaping{Conversation: "c1", Model: "m", Window: 1000,
			TokensBefore: event.Tokens{System: 1, User: 20, Results: 300},
			TokensAfter:  event.Tokens{System: 1, User: 20, Results: 4}, Reason: "why not more"},
	}}
}

// refusing fails the test when anything is to be shaped.
func refusing(t *testing.T) shaper {
	return func(a rewrite.Input) rewrite.Output {
		t.Errorf("%q was to be shaped", a.Body)
		return whole(a)
	}
}

// got is the last request that the upstream received.
func (r *rig) got() (head, body string) {
	all := r.upstream.Requests()
	q := all[len(all)-1]
	return strings.ReplaceAll(string(q.RawHead), r.upstream.Addr(), "HOST"), string(q.Body)
}

func TestShapedConversationIsSentInPlaceOfTheOriginal(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	r.shapes(shortened)
	f := func(in, want string) {
		t.Helper()
		r.dial().send(in).expect("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" +
			"x-epitome-action: clear\r\nx-epitome-tokens: 321>25\r\nx-epitome-conversation: c1\r\n\r\na")
		if head, body := r.got(); head != want || body != short {
			t.Errorf("of %q the upstream got\n%q, want\n%q; and the body %q", in, head, want, body)
		}
	}
	start := "POST " + chatTarget + " HTTP/1.1\r\nHost: x\r\n"
	sent := "POST " + chatTarget + " HTTP/1.1\r\nHost: HOST\r\n"
	f(start+"X: 1\r\ncontent-LENGTH: "+fmt.Sprint(len(long))+"\r\nAuthorization: Bearer k\r\n\r\n"+long,
		sent+"X: 1\r\ncontent-LENGTH: "+fmt.Sprint(len(short))+"\r\nAuthorization: Bearer k\r\n\r\n")
	f(start+"Transfer-Encoding: chunked\r\nX: 1\r\n\r\n"+fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(long), long),
		sent+"Content-Length: "+fmt.Sprint(len(short))+"\r\nX: 1\r\n\r\n")
	// What speaks of the bytes of the original stays behind.
	f(post(chatTarget, long, "Content-MD5: x", "A: 1", "Digest: sha-256=x", "content-digest: sha-256=:x:", "Repr-Digest: sha-256=:x:",
		"Content-Encoding: identity", "Want-Digest: x"),
		sent+"A: 1\r\nWant-Digest: x\r\nContent-Length: "+fmt.Sprint(len(short))+"\r\n\r\n")
	// Only the way's end counts, and the query comes behind it.
	f(post(chatTarget+"?a=/b", long), "POST "+chatTarget+"?a=/b HTTP/1.1\r\nHost: HOST\r\nContent-Length: "+fmt.Sprint(len(short))+"\r\n\r\n")
	f(post("/u/test"+chatTarget, long), sent+"Content-Length: "+fmt.Sprint(len(short))+"\r\n\r\n")
}

func TestUnchangedConversationGoesOnAsItCame(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	r.shapes(func(a rewrite.Input) rewrite.Output {
		return rewrite.Output{Body: a.Body, Report: rewrite.Report{Action: event.ActionNone, Shaping: event.Shaping{
			TokensBefore: event.Tokens{User: 5}, TokensAfter: event.Tokens{User: 5}}}}
	})
	sums := []string{"Content-MD5: x", "Digest: sha-256=x", "Content-Encoding: identity"}
	r.dial().send(post(chatTarget, long, sums...)).expect("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nx-epitome-action: none\r\nx-epitome-tokens: 5>5\r\n\r\na")
	want := strings.Replace(post(chatTarget, long, sums...), "Host: x", "Host: HOST", 1)
	if head, body := r.got(); head+body != want {
		t.Errorf("the upstream got\n%q, want\n%q", head+body, want)
	}
}

func TestCompressedConversationsAreShaped(t *testing.T) {
	t.Parallel()
	// With routes the model is looked for as well.
	r := on(t, taking, func(s *Settings) { s.Routes = []RouteRule{{Model: "none", Upstream: "test"}} })
	f := func(coding string, encoded []byte, lines ...string) {
		t.Helper()
		var asked string
		r.shapes(func(a rewrite.Input) rewrite.Output {
			asked = string(a.Body)
			return whole(a)
		})
		r.dial().send(post(chatTarget, string(encoded), lines...)).answer("POST")
		if head, body := r.got(); asked != long || body != string(encoded) || !strings.Contains(head, lines[0]) {
			t.Errorf("%s, unchanged: %q was shaped, and the upstream got %q and %q", coding, asked, head, body)
		}
		r.shapes(shortened)
		r.dial().send(post(chatTarget, string(encoded), lines...)).answer("POST")
		if head, body := r.got(); body != short || strings.Contains(strings.ToLower(head), "encoding") ||
			!strings.Contains(head, fmt.Sprintf("Content-Length: %d\r\n", len(short))) {
			t.Errorf("%s, changed: the upstream got %q and %q", coding, head, body)
		}
	}
	for _, c := range codings {
		f(c.name, encode(t, []byte(long), c.encode), "Content-Encoding: "+c.name)
	}
}

func TestConversationsThatCannotBeReadGoOnAsTheyCame(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) { s.MaxBody = 64 << 10 })
	r.shapes(refusing(t))
	f := func(why *rewrite.Report, body string, lines ...string) {
		t.Helper()
		r.dial().send(post(chatTarget, body, lines...)).expect("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nx-epitome-action: none\r\n\r\na")
		if _, got := r.got(); got != body {
			t.Errorf("the upstream got %q, want %q", got, body)
		}
		e := r.event()
		if e.Reason != why.Reason || e.Code != why.Code || e.Action != "none" || e.Inner != "" || e.Fault != event.None {
			t.Errorf("of %.20q the event says %+v, want the reason %q", body, e, why.Reason)
		}
	}
	for _, c := range codings {
		f(bomb, string(encode(t, make([]byte, 1<<20), c.encode)), "Content-Encoding: "+c.name)
		f(encoded, "{no "+c.name+"}", "Content-Encoding: "+c.name)
	}
	f(encoded, long, "Content-Encoding: secret")
	f(noObject, "[1]")
	f(noObject, "")
	f(noObject, " \r\n\t")
	f(noObject, string(encode(t, []byte("null"), codings[0].encode)), "Content-Encoding: gzip")
	f(signed, long, "x-amz-content-sha256: 1")
	f(signed, long, "X-Content-SHA256: 1")
	f(signed, long, "Authorization: AWS4-HMAC-SHA256 Credential=x")
	f(signed, long, `authorization: Signature version="1"`)
	f(signed, long, `Signature-Input: sig1=("content-digest")`, "Signature: sig1=:x:")
}

func TestOnlyConversationsAreShaped(t *testing.T) {
	t.Parallel()
	r := on(t, "-- * * --\nrepeat\nstatus 204 No Content\n")
	r.shapes(refusing(t))
	r.observe.Store(r.shape.Load())
	f := func(in, own string) {
		t.Helper()
		r.dial().send(in).expect("HTTP/1.1 204 No Content\r\n" + own + "\r\n")
		if e := r.event(); !reflect.DeepEqual(e.Shaping, event.Shaping{}) {
			t.Errorf("of %q the event says %+v", in, e)
		}
		want := in[strings.Index(in, "\r\n\r\n"):]
		if head, body := r.got(); "\r\n\r\n"+body != want || strings.Contains(head, "epitome") {
			t.Errorf("of %q the upstream got %q and %q", in, head, body)
		}
	}
	none := "x-epitome-action: none\r\n"
	f(post(chatTarget, long, "x-epitome-mode: off"), "")
	f(post(chatTarget, long, "x-epitome-mode: off", "x-epitome-set: rent=no number"), "")
	f(post("/v1/completions", long), none)
	f(post("/v1/embeddings", long, "x-epitome-set: rent=no number"), none)
	f(post("/v1/chat/completions/x", long), none)
	f(post("/v1/chat/Completions", long), none)
	f(post("/v1/x?/chat/completions", long), none)
	f(request("PUT", chatTarget, long, fmt.Sprintf("Content-Length: %d", len(long))), none)
	f(get(chatTarget), none)
}

func TestObserveSendsTheOriginal(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	r.shapes(refusing(t))
	shadow := shaper(shortened)
	r.observe.Store(&shadow)
	zipped := string(encode(t, []byte(long), codings[0].encode))
	for _, in := range []string{post(chatTarget, long, "x-epitome-mode: observe"),
		post(chatTarget, zipped, "Content-Encoding: gzip", "X-Epitome-Mode: Observe")} {
		r.dial().send(in).expect("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" +
			"x-epitome-action: clear\r\nx-epitome-tokens: 321>25\r\nx-epitome-conversation: c1\r\n\r\na")
		if _, body := r.got(); !strings.HasSuffix(in, "\r\n\r\n"+body) {
			t.Errorf("the upstream got %q of %q", body, in)
		}
		if e := r.event(); e.Mode != event.ModeObserve || e.Action != "clear" || e.TokensAfter.Total() != 25 {
			t.Errorf("event %+v", e)
		}
	}
}

// kept is what was asked of a shaper, for longer than the request: the proxy uses the room of its body again.
func kept(a rewrite.Input) rewrite.Input {
	a.Body = bytes.Clone(a.Body)
	return a
}

// scopeOf is the scope that the shaper sees of a request with the lines, under a setting.
func (r *rig) scopeOf(setting string, lines ...string) string {
	r.tb.Helper()
	s := r.proxy.settings.Load().conf
	s.Scope, s.Mode = setting, event.ModeOn
	if err := r.proxy.Reload(s); err != nil {
		r.tb.Fatal(err)
	}
	var asked rewrite.Input
	r.shapes(func(a rewrite.Input) rewrite.Output {
		asked = kept(a)
		return whole(a)
	})
	r.dial().send(post(chatTarget, long, lines...)).answer("POST")
	if asked.Upstream != "test" || string(asked.Body) != long {
		r.tb.Errorf("asked was %+v", asked)
	}
	if text := fmt.Sprintf("%+v", r.event()); strings.Contains(text, "theirs") {
		r.tb.Errorf("the event holds a credential: %s", text)
	}
	return asked.Scope
}

func TestScopesKeepCredentialsApart(t *testing.T) {
	t.Parallel()
	const theirs = "Authorization: theirs"
	up := scriptedtest.Start(t, taking).URL()
	r := startRig(t, up, func(s *Settings) { // what the upstream gets does not matter
		s.Upstreams["test"] = UpstreamConfig{URL: up, Headers: map[string]string{"Authorization": "ours"}}
	})
	for _, setting := range []string{"auto", "shared"} {
		if a, b := r.scopeOf(setting, theirs), r.scopeOf(setting); a != "" || b != "" {
			t.Errorf("%s on loopback: got the scopes %q and %q, want one", setting, a, b)
		}
	}
	seen := map[string]string{}
	for _, lines := range [][]string{{}, {theirs}, {"Authorization: theirs2"}, {"X-Api-Key: theirs"}, {"api-key: theirs"},
		{theirs, "x-api-key: theirs"}, {theirs, "x-api-key: theirs2"}, {theirs, theirs}} {
		name := strings.Join(lines, ", ")
		s := r.scopeOf("credential", lines...)
		if other, ok := seen[s]; ok || !strings.HasPrefix(s, "credential=") {
			t.Errorf("%q has the scope %q of %q", name, s, other)
		}
		seen[s] = name
	}
	if a, b := r.scopeOf("credential", theirs, "A: 1"), r.scopeOf("credential", "A: 2", "authorization:   theirs  "); a != b {
		t.Errorf("one credential has the scopes %q and %q", a, b)
	}
	for want, lines := range map[string][]string{"header:x-team=red": {"X-TEAM: red", theirs}, "header:x-team=": {theirs},
		"header:x-team=a, b": {"x-team: a", "x-team: b"}} {
		if got := r.scopeOf("header:X-Team", lines...); got != want {
			t.Errorf("%q has the scope %q, want %q", lines, got, want)
		}
	}
	beyond := startRigAt(t, "0.0.0.0:0", up)
	if a, b := beyond.scopeOf("auto", theirs), beyond.scopeOf("credential", theirs); a != b || a == "" {
		t.Errorf("beyond loopback auto is %q, and credential %q", a, b)
	}
	if s := beyond.scopeOf("shared", theirs); s != "" {
		t.Errorf("beyond loopback shared is %q", s)
	}
}

func TestHeadersOverrideNumbersOfTheLadder(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) {
		s.Limits.Offload, s.Limits.ClearAt, s.Limits.CompactAt, s.Limits.Rent = 8000, 0.8, 0.9, 2
	})
	var asked ladder.Limits
	r.shapes(func(a rewrite.Input) rewrite.Output {
		asked = *a.Limits
		return whole(a)
	})
	r.dial().send(post(chatTarget, long, "X-Epitome-Set: Offload-Tokens=4000, clear_at = 0.7,")).answer("POST")
	if asked.Offload != 4000 || asked.ClearAt != 0.7 || asked.Rent != 2 {
		t.Errorf("the limits were %+v", asked)
	}
	if head, _ := r.got(); strings.Contains(strings.ToLower(head), "epitome") {
		t.Errorf("the upstream got %q", head)
	}
	r.event()
	r.dial().send(post(chatTarget, long)).answer("POST")
	if asked.Offload != 8000 || asked.ClearAt != 0.8 {
		t.Errorf("for the next request the limits were %+v", asked)
	}
}
