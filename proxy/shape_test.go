package proxy

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/view"
)

const (
	chatTarget = "/v1/chat/completions"
	long       = `{"model":"m","messages":[{"role":"user","content":"a very long story"}]}`
	short      = `{"model":"m","messages":[{"role":"user","content":"a story"}]}`
)

// taking answers any number of conversations.
var taking = answers(ok("a"))

// shapes lets f shape conversations from now on.
func (r *rig) shapes(f shaper) { r.shape.Store(&f) }

// shortened sends short in place of everything, with a report on it.
func shortened(rewrite.Input) rewrite.Output {
	return rewrite.Output{Body: []byte(short), Changed: true, Report: rewrite.Report{
		Action: string(view.StepClear), Shaping: event.Shaping{Conversation: "c1", Model: "m", Window: 1000,
			TokensBefore: event.Tokens{System: 1, User: 20, Results: 300},
			TokensAfter:  event.Tokens{System: 1, User: 20, Results: 4}, Reason: "why not more"},
	}}
}

// isShortened is the answer to a request that shortened has shaped.
var isShortened = ok("a")[:len(ok("a"))-3] +
	"x-epitome-action: clear\r\nx-epitome-tokens: 321>25\r\nx-epitome-conversation: c1\r\n\r\na"

// refusing fails the test when anything is to be shaped.
func refusing(t *testing.T) shaper {
	return func(a rewrite.Input) rewrite.Output {
		t.Errorf("%q was to be shaped", a.Body)
		return whole(a)
	}
}

// notes keeps the last input in to. The proxy uses the room of its body again.
func notes(to *rewrite.Input) shaper {
	return func(a rewrite.Input) rewrite.Output {
		*to = a
		to.Body = bytes.Clone(a.Body)
		return whole(a)
	}
}

func TestShapedConversationIsSentInPlaceOfTheOriginal(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	r.shapes(shortened)
	f := func(in, want string) {
		t.Helper()
		r.dial().send(in).expect(isShortened)
		if head, body := r.got(); head != want || body != short {
			t.Errorf("of %q the upstream got\n%q, want\n%q; and the body %q", in, head, want, body)
		}
	}
	start := "POST " + chatTarget + " HTTP/1.1\r\nHost: x\r\n"
	sent := "POST " + chatTarget + " HTTP/1.1\r\nHost: HOST\r\n"
	size := fmt.Sprintf("Content-Length: %d\r\n", len(short))
	f(start+"X: 1\r\ncontent-LENGTH: "+fmt.Sprint(len(long))+"\r\nAuthorization: Bearer k\r\n\r\n"+long,
		sent+"X: 1\r\ncontent-LENGTH: "+fmt.Sprint(len(short))+"\r\nAuthorization: Bearer k\r\n\r\n")
	f(start+"Transfer-Encoding: chunked\r\nX: 1\r\n\r\n"+chunks(long)+lastChunk, sent+size+"X: 1\r\n\r\n")
	// Lines about the bytes of the original stay behind.
	f(post(chatTarget, long, "Content-MD5: x", "A: 1", "Digest: sha-256=x", "content-digest: sha-256=:x:",
		"Repr-Digest: sha-256=:x:", "Content-Encoding: identity", "Want-Digest: x"),
		sent+"A: 1\r\nWant-Digest: x\r\n"+size+"\r\n")
	// Only the end of the path counts, and the query comes behind it.
	f(post(chatTarget+"?a=/b", long), "POST "+chatTarget+"?a=/b HTTP/1.1\r\nHost: HOST\r\n"+size+"\r\n")
	f(post("/u/test"+chatTarget, long), sent+size+"\r\n")
}

// Claude Code asks for the million tokens of claude-sonnet-4-5[1m] by a beta, and names the model without the suffix.
func TestABetaAsksForALargerWindow(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	f := func(want int, lines ...string) {
		t.Helper()
		r.shapes(func(in rewrite.Input) rewrite.Output {
			if got := r.windows.Of(in.Upstream, "claude-sonnet-4-5"+in.Variant); got.Tokens != want {
				t.Errorf("with %q the window is %+v, want %d", lines, got, want)
			}
			return whole(in)
		})
		r.ask(post("/v1/messages", long, lines...))
	}
	f(200_000, "anthropic-beta: claude-code-20250219")
	f(1_000_000, "anthropic-beta: claude-code-20250219,context-1m-2025-08-07", "x-epitome-mode: on")
}

// Promise 1.
func TestUnchangedConversationGoesOnAsItCame(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	in := post(chatTarget, long, "Content-MD5: x", "Digest: sha-256=x", "Content-Encoding: identity")
	r.dial().send(in).expect(ok("a")[:len(ok("a"))-3] + "x-epitome-action: none\r\n\r\na")
	if head, body := r.got(); head+body != strings.Replace(in, "Host: x", "Host: HOST", 1) {
		t.Errorf("the upstream got\n%q", head+body)
	}
}

func TestCompressedConversationsAreShaped(t *testing.T) {
	t.Parallel()
	// With routes the model is looked for as well.
	r := on(t, taking, func(s *Settings) { s.Routes = []RouteRule{{Model: "none", Upstream: "test"}} })
	for _, c := range codings {
		packed, line := string(encode(t, []byte(long), c.encode)), "Content-Encoding: "+c.name
		var asked rewrite.Input
		r.shapes(notes(&asked))
		r.ask(post(chatTarget, packed, line))
		if head, body := r.got(); string(asked.Body) != long || body != packed || !strings.Contains(head, line) {
			t.Errorf("%s, unchanged: %q was shaped, and the upstream got %q and %q", c.name, asked.Body, head, body)
		}
		r.shapes(shortened)
		r.ask(post(chatTarget, packed, line))
		if head, body := r.got(); body != short || strings.Contains(strings.ToLower(head), "encoding") ||
			!strings.Contains(head, fmt.Sprintf("Content-Length: %d\r\n", len(short))) {
			t.Errorf("%s, changed: the upstream got %q and %q", c.name, head, body)
		}
	}
}

func TestConversationsThatCannotBeReadGoOnAsTheyCame(t *testing.T) {
	t.Parallel()
	r := on(t, taking, func(s *Settings) { s.MaxBody = 64 << 10 })
	r.shapes(refusing(t))
	f := func(why event.Code, body string, lines ...string) {
		t.Helper()
		if resp, _ := r.ask(post(chatTarget, body, lines...)); resp.Header.Get("x-epitome-action") != "none" {
			t.Errorf("of %.20q the client got %+v", body, resp)
		}
		if _, got := r.got(); got != body {
			t.Errorf("the upstream got %q, want %q", got, body)
		}
		if e := r.event(); e.Reason != why.Clause() || e.Code != why || e.Inner != "" || e.Fault != event.None {
			t.Errorf("of %.20q the event says %+v, want the code %q", body, e, why)
		}
	}
	for _, c := range codings {
		f(event.CodeEncoded, string(encode(t, make([]byte, 1<<20), c.encode)), "Content-Encoding: "+c.name)
		f(event.CodeEncoded, "{no "+c.name+"}", "Content-Encoding: "+c.name)
	}
	f(event.CodeEncoded, long, "Content-Encoding: secret")
	f(event.CodeNoObject, "[1]")
	f(event.CodeNoObject, "")
	f(event.CodeNoObject, string(encode(t, []byte("null"), codings[0].encode)), "Content-Encoding: gzip")
	f(event.CodeSigned, long, "X-Content-SHA256: 1")
	f(event.CodeSigned, long, "Authorization: AWS4-HMAC-SHA256 Credential=x")
	f(event.CodeSigned, long, `authorization: Signature version="1"`)
	f(event.CodeSigned, long, `Signature-Input: sig1=("content-digest")`, "Signature: sig1=:x:")
}

func TestOnlyConversationsAreShaped(t *testing.T) {
	t.Parallel()
	r := on(t, answers(noContent))
	r.shapes(refusing(t))
	r.observe.Store(r.shape.Load())
	f := func(in, own string) {
		t.Helper()
		r.dial().send(in).expect("HTTP/1.1 204 No Content\r\n" + own + "\r\n")
		if e := r.event(); !reflect.DeepEqual(e.Shaping, event.Shaping{}) {
			t.Errorf("of %q the event says %+v", in, e)
		}
		if head, body := r.got(); !strings.HasSuffix(in, "\r\n\r\n"+body) || strings.Contains(head, "epitome") {
			t.Errorf("of %q the upstream got %q and %q", in, head, body)
		}
	}
	none := "x-epitome-action: none\r\n"
	f(post(chatTarget, long, "x-epitome-mode: off", "x-epitome-set: rent=no number"), "")
	f(post("/v1/embeddings", long, "x-epitome-set: rent=no number"), none)
	f(post("/v1/completions", long), none)
	f(post("/v1/chat/completions/x", long), none)
	f(post("/v1/chat/Completions", long), none)
	f(post("/v1/x?/chat/completions", long), none)
	f(request("PUT", chatTarget, long, fmt.Sprintf("Content-Length: %d", len(long))), none)
	f(get(chatTarget), none)
}

func TestAPairWithoutANameIsRefused(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	for list, want := range map[string]int{"=": 400, "text_only=true, =1": 400, "text_only=true, ,": 200, "": 200} {
		resp, body := r.ask(post(chatTarget, long, "x-epitome-set: "+list))
		if resp.StatusCode != want || want == 400 && !strings.Contains(body, "write one of") {
			t.Errorf("%q: got %s %s", list, resp.Status, body)
		}
	}
}

// scopeOf is the scope that the shaper sees of a request with the lines, under a setting.
func (r *rig) scopeOf(setting string, lines ...string) string {
	r.tb.Helper()
	r.reload(func(s *Settings) { s.Scope, s.Mode = setting, event.ModeOn })
	var asked rewrite.Input
	r.shapes(notes(&asked))
	r.ask(post(chatTarget, long, lines...))
	if e := fmt.Sprintf("%+v", r.event()); asked.Upstream != "test" || string(asked.Body) != long ||
		strings.Contains(e, "theirs") {
		r.tb.Errorf("asked was %+v; the event is %s", asked, e)
	}
	if asked.Turn != cmp.Or(asked.Scope, "127.0.0.1") {
		r.tb.Errorf("the client's turn is that of %q, and its scope %q", asked.Turn, asked.Scope)
	}
	return asked.Scope
}

// Promise 7.
func TestScopesKeepCredentialsApart(t *testing.T) {
	t.Parallel()
	const theirs = "Authorization: theirs"
	up := startProvider(t, taking).url()
	r := startRig(t, up, func(s *Settings) { // what the upstream gets does not matter
		s.Upstreams["test"] = UpstreamConfig{URL: up, Headers: map[string]string{"Authorization": "ours"}}
	})
	for _, setting := range []string{"auto", "shared"} {
		if a, b := r.scopeOf(setting, theirs), r.scopeOf(setting); a != "" || b != "" {
			t.Errorf("%s on loopback: got the scopes %q and %q, want one", setting, a, b)
		}
	}
	seen := map[string]string{}
	for _, lines := range [][]string{{}, {theirs}, {"Authorization: theirs2"}, {"X-Api-Key: theirs"},
		{"api-key: theirs"},
		{theirs, "x-api-key: theirs"}, {theirs, "x-api-key: theirs2"}, {theirs, theirs}} {
		name := strings.Join(lines, ", ")
		s := r.scopeOf("credential", lines...)
		if other, ok := seen[s]; ok || !strings.HasPrefix(s, "credential=") {
			t.Errorf("%q has the scope %q of %q", name, s, other)
		}
		seen[s] = name
	}
	if a, b := r.scopeOf("credential", theirs, "A: 1"), r.scopeOf("credential", "A: 2",
		"authorization:   theirs  "); a != b {
		t.Errorf("one credential has the scopes %q and %q", a, b)
	}
	for want, lines := range map[string][]string{"header:x-team=red": {"X-TEAM: red", theirs},
		"header:x-team=":     {theirs},
		"header:x-team=a, b": {"x-team: a", "x-team: b"}} {
		if got := r.scopeOf("header:X-Team", lines...); got != want {
			t.Errorf("%q has the scope %q, want %q", lines, got, want)
		}
	}
	beyond := startRigOn(t, listen(t, "0.0.0.0:0"), up)
	if a, b, c := beyond.scopeOf("auto", theirs), beyond.scopeOf("credential", theirs),
		beyond.scopeOf("shared", theirs); a != b || a == "" || c != "" {
		t.Errorf("beyond loopback auto is %q, credential %q and shared %q", a, b, c)
	}
}
