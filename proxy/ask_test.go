package proxy

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"epitome/internal/fakeapi/scriptedtest"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/summarize"
)

const question = `{"model":"m"}`

// asks asks the rig's upstream with nothing but the body.
func (r *rig) asks(ctx context.Context) (summarize.Response, error) {
	return r.proxy.upstreams.Send(ctx, summarize.Request{Upstream: "test", Path: chatTarget, Body: []byte(question)})
}

// replied asks q and wants an answer.
func (r *rig) replied(ctx context.Context, q summarize.Request) summarize.Response {
	r.tb.Helper()
	a, err := r.proxy.upstreams.Send(ctx, q)
	if err != nil {
		r.tb.Fatal(err)
	}
	return a
}

// credential is what the shaper gets of a request with the lines.
func (r *rig) credential(target string, lines ...string) (c Credential) {
	r.tb.Helper()
	r.shapes(func(a rewrite.Input) rewrite.Output {
		c = a.Client.Credential().(Credential)
		return whole(a)
	})
	r.dial().send(post(target, long, lines...)).answer("POST")
	r.event()
	return c
}

// asked is the head of a question as it is sent to target, with the lines between.
func asked(target string, lines ...string) string {
	head := "POST " + target + " HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAccept-Encoding: identity\r\n"
	for _, l := range lines {
		head += l + "\r\n"
	}
	return head + fmt.Sprintf("Host: HOST\r\nContent-Length: %d\r\n", len(question))
}

func TestQuestionSpeaksForTheClientAndSaysNothingElseOfItsRequest(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	carried := []string{
		"AUTHORIZATION: Bearer one", "authorization: Bearer two", "X-Api-Key: k", "api-key: l", "OpenAI-Organization: o", "openai-project: p",
		"HTTP-Referer: r", "X-Title: t", "anthropic-version: 2023-06-01", "cf-aig-authorization: a", "x-goog-api-key: g", "User-Agent: agent/1",
	}
	c := r.credential("/u/test"+chatTarget+"?api-version=1", slices.Concat(carried, []string{
		"Connection: keep-alive, x-portkey-api-key", "x-portkey-api-key: named by Connection", "Proxy-Authorization: hop", "TE: trailers", "Keep-Alive: 5",
		"x-epitome-set: rent=1", "Idempotency-Key: i", "X-Request-Id: i", "Accept: text/html", "Accept-Encoding: gzip",
		"Content-Type: text/plain", "Content-MD5: m", "Cookie: c", "If-None-Match: e", "X-Stainless-Retry-Count: 1",
	})...)
	a := r.replied(t.Context(), summarize.Request{Upstream: "test", Path: chatTarget, Body: []byte(question), Credential: c})
	if text, err := io.ReadAll(a.Body); string(text) != "a" || err != nil || a.Status != 200 {
		t.Errorf("got %d %q %v", a.Status, text, err)
	}
	head, body := r.got()
	if want := asked(chatTarget+"?api-version=1", carried...) + "\r\n"; head != want || body != question {
		t.Errorf("the upstream got\n%q, want\n%q; and the body %q", head, want, body)
	}
}

func TestQuestionGoesWhereTheConversationWent(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	f := func(base, target, want string) {
		t.Helper()
		s := r.proxy.settings.Load().conf
		s.Upstreams = map[string]UpstreamConfig{"test": {URL: r.upstream.URL() + base}}
		if err := r.proxy.Reload(s); err != nil {
			t.Fatal(err)
		}
		var c Credential
		if target != "" {
			c = r.credential(target)
		}
		q := summarize.Request{Upstream: "test", Path: chatTarget, Body: []byte(question), Credential: c}
		r.replied(t.Context(), q)
		if head, _ := r.got(); !strings.HasPrefix(head, "POST "+want+" HTTP/1.1\r\n") {
			t.Errorf("with the base %q, of %q the upstream got %q, want %q", base, target, head, want)
		}
	}
	f("", "/v1/chat/completions", "/v1/chat/completions")
	f("/v1", "/v1/chat/completions", "/v1/chat/completions")
	f("/openai/v1", "/v1/chat/completions?a=b", "/openai/v1/chat/completions?a=b")
	f("/openai/deployments/d", "/chat/completions?api-version=2", "/openai/deployments/d/chat/completions?api-version=2")
	f("/x", "/u/test/y/chat/completions", "/x/y/chat/completions")
	// Where no request has shown the way:
	f("", "", "/v1/chat/completions")
	f("/v1", "", "/v1/chat/completions")
	f("/api", "", "/api/v1/chat/completions")
	f("/openai/v1", "", "/openai/v1/chat/completions")
	f("/v1beta/openai", "", "/v1beta/openai/chat/completions")
	f("/vault", "", "/vault/v1/chat/completions")
}

func TestQuestionIsAskedWithAKeyOfTheEnvironment(t *testing.T) {
	t.Setenv("EPITOME_TEST_KEY", " sk-ours\n")
	t.Setenv("EPITOME_TEST_BAD", "sk\r\nX-Forged: 1")
	r := on(t, taking)
	c := r.credential(chatTarget, "Authorization: Bearer theirs", "x-api-key: theirs")
	q := summarize.Request{Upstream: "test", Path: chatTarget, Body: []byte(question), Credential: c, KeyEnv: "EPITOME_TEST_KEY"}
	q.Authorize = chat.Dialect{}.Authorize
	r.replied(t.Context(), q)
	if head, _ := r.got(); head != asked("/v1/chat/completions", "Authorization: Bearer sk-ours", "User-Agent: epitome")+"\r\n" {
		t.Errorf("the upstream got %q", head)
	}
	for _, name := range []string{"EPITOME_TEST_BAD", "EPITOME_TEST_NONE"} {
		q.KeyEnv = name
		if _, err := r.proxy.upstreams.Send(t.Context(), q); err == nil || err.Error() != "cannot ask upstream test: the environment variable "+name+" holds no key" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := len(r.upstream.Requests()); n != 2 {
		t.Errorf("%d requests were sent", n)
	}
}

// Promise 7, of credentials: a name that comes to stand for another provider does not take them along.
func TestCredentialGoesToItsOwnUpstreamAlone(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	other := scriptedtest.Start(t, taking)
	c := r.credential(chatTarget, "Authorization: Bearer theirs")
	s := r.proxy.settings.Load().conf
	s.Upstreams = map[string]UpstreamConfig{"test": {URL: other.URL()}, "old": {URL: r.upstream.URL()}}
	if err := r.proxy.Reload(s); err != nil {
		t.Fatal(err)
	}
	q := summarize.Request{Upstream: "test", Path: chatTarget, Body: []byte(question), Credential: c}
	if _, err := r.proxy.upstreams.Send(t.Context(), q); err == nil || strings.Contains(err.Error(), "theirs") {
		t.Errorf("got %v", err)
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("the other upstream got %d requests", n)
	}
	q.Upstream = "none"
	if _, err := r.proxy.upstreams.Send(t.Context(), q); err == nil || err.Error() != `epitome has no upstream "none"; known are old, test` {
		t.Errorf("got %v", err)
	}
}

func TestGetGoesToTheServerAndSpeaksForNobody(t *testing.T) {
	t.Parallel()
	r := on(t, "-- * * --\nrepeat\nstatus 200 OK\nbody a\n")
	r.credential(chatTarget, "Authorization: Bearer theirs")
	f := func(base, path, want string) {
		t.Helper()
		s := r.proxy.settings.Load().conf
		s.Upstreams = map[string]UpstreamConfig{"test": {URL: r.upstream.URL() + base,
			Headers: map[string]string{"X-Team": "ours"}}}
		if err := r.proxy.Reload(s); err != nil {
			t.Fatal(err)
		}
		status, text, err := r.proxy.upstreams.Get(t.Context(), "test", path)
		if string(text) != "a" || err != nil || status != 200 {
			t.Errorf("got %d %q %v", status, text, err)
		}
		want = "GET " + want + " HTTP/1.1\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n" +
			"User-Agent: epitome\r\nHost: HOST\r\nX-Team: ours\r\n\r\n"
		if head, body := r.got(); head != want || body != "" {
			t.Errorf("with the base %q, the upstream got\n%q, want\n%q; and %q", base, head, want, body)
		}
	}
	f("", "/v1/models", "/v1/models")
	f("/v1", "/v1/models", "/v1/models")
	f("/api", "/v1/models", "/api/v1/models")
	f("/v1beta/openai", "/v1/models", "/v1beta/openai/models")
	f("", "/props?model=m", "/props?model=m")
	f("/v1", "/props?model=m", "/props?model=m")
	f("/gpu", "/props?model=m", "/gpu/props?model=m")
	f("/v1", "/api/v1/models", "/api/v1/models")
	if _, _, err := r.proxy.upstreams.Get(t.Context(), "none", ""); err == nil || err.Error() != `epitome has no upstream "none"; known are test` {
		t.Errorf("got %v", err)
	}
}
