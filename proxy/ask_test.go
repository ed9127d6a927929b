package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/dialect/chat"
	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/summarize"
)

const question = `{"model":"m"}`

// send asks upstream test on behalf of a client.
func (r *rig) send(c *credential, change ...func(*summarize.Model)) (status int, answer []byte, err error) {
	m := summarize.Model{Upstream: "test", Dialect: chat.Dialect{}, Credential: c}
	for _, f := range change {
		f(&m)
	}
	status, answer, _, err = r.upstreams.Send(r.tb.Context(), m, []byte(question))
	return status, answer, err
}

// credential is what the shaper gets of a request with the lines.
func (r *rig) credential(target string, lines ...string) *credential {
	r.tb.Helper()
	var asked rewrite.Input
	r.shapes(notes(&asked))
	r.ask(post(target, long, lines...))
	r.event()
	return asked.Credential().(*credential)
}

// asked is the head of a question as it is sent to target, with the lines between.
func asked(target string, lines ...string) string {
	head := "POST " + target + " HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, " +
		"text/event-stream\r\nAccept-Encoding: identity\r\n"
	for _, l := range lines {
		head += l + "\r\n"
	}
	return head + fmt.Sprintf("Host: HOST\r\nContent-Length: %d\r\n\r\n", len(question))
}

// A question for a summary shows the client's credentials, and nothing else of its request.
func TestQuestionSpeaksForTheClientAndSaysNothingElseOfItsRequest(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	carried := []string{
		"AUTHORIZATION: Bearer one", "authorization: Bearer two", "X-Api-Key: k", "api-key: l",
		"OpenAI-Organization: o", "openai-project: p",
		"HTTP-Referer: r", "X-Title: t", "anthropic-version: 2023-06-01", "cf-aig-authorization: a",
		"x-goog-api-key: g", "User-Agent: agent/1",
	}
	c := r.credential("/u/test"+chatTarget+"?api-version=1", slices.Concat(carried, []string{
		"Connection: keep-alive, x-portkey-api-key", "x-portkey-api-key: named by Connection",
		"Proxy-Authorization: hop", "TE: trailers",
		"x-epitome-set: rent=1", "Idempotency-Key: i", "X-Request-Id: i", "Accept: text/html",
		"Accept-Encoding: gzip", "Content-Type: text/plain",
		"Content-MD5: m", "Cookie: c", "If-None-Match: e", "X-Stainless-Retry-Count: 1",
	})...)
	status, answer, err := r.send(c)
	if err != nil {
		t.Fatal(err)
	}
	if string(answer) != "a" || status != 200 {
		t.Errorf("got %d %q", status, answer)
	}
	if head, body := r.got(); head != asked(chatTarget+"?api-version=1", carried...) || body != question {
		t.Errorf("the upstream got\n%q and the body %q", head, body)
	}
}

func TestRefusedQuestionSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	r := on(t, answers(reply("429 Too Many Requests", "x", "Retry-After: 7")))
	_, _, wait, err := r.upstreams.Send(t.Context(), summarize.Model{Upstream: "test", Dialect: chat.Dialect{}}, nil)
	if err != nil || wait != 7*time.Second {
		t.Errorf("wait %v, %v", wait, err)
	}
}

func TestQuestionGoesWhereTheConversationWent(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	f := func(base, target, want string) {
		t.Helper()
		r.reload(func(s *Settings) { s.Upstreams = map[string]UpstreamConfig{"test": {URL: r.up.url() + base}} })
		var c *credential
		if target != "" {
			c = r.credential(target)
		}
		if _, _, err := r.send(c); err != nil {
			t.Fatal(err)
		}
		if head, _ := r.got(); !strings.HasPrefix(head, "POST "+want+" HTTP/1.1\r\n") {
			t.Errorf("with the base %q, of %q the upstream got %q, want %q", base, target, head, want)
		}
	}
	f("", "/v1/chat/completions", "/v1/chat/completions")
	f("/openai/v1", "/v1/chat/completions?a=b", "/openai/v1/chat/completions?a=b")
	f("/openai/deployments/d", "/chat/completions?api-version=2",
		"/openai/deployments/d/chat/completions?api-version=2")
	f("/x", "/u/test/y/chat/completions", "/x/y/chat/completions")
	// Where no request has shown the way:
	f("", "", "/v1/chat/completions")
	f("/v1", "", "/v1/chat/completions")
	f("/api", "", "/api/v1/chat/completions")
	f("/v1beta/openai", "", "/v1beta/openai/chat/completions")
}

func TestKeyEnvIsTheKeyOfQuestions(t *testing.T) {
	t.Setenv("EPITOME_TEST_KEY", " sk-ours\n")
	t.Setenv("EPITOME_TEST_BAD", "sk\r\nX-Forged: 1")
	r := on(t, taking)
	c := r.credential(chatTarget, "Authorization: Bearer theirs", "x-api-key: theirs")
	ask := func(name string) error {
		_, _, err := r.send(c, func(m *summarize.Model) { m.KeyEnv = name })
		return err
	}
	if err := ask("EPITOME_TEST_KEY"); err != nil {
		t.Fatal(err)
	}
	if head, _ := r.got(); head != asked("/v1/chat/completions", "Authorization: Bearer sk-ours",
		"User-Agent: epitome") {
		t.Errorf("the upstream got %q", head)
	}
	for _, name := range []string{"EPITOME_TEST_BAD", "EPITOME_TEST_NONE"} {
		if err := ask(name); err == nil || !strings.Contains(err.Error(),
			"the environment variable "+name+" holds no key") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	r.wantRequests(2)
}

// Promise 7, of credentials: a name that comes to stand for another provider does not take them along.
func TestCredentialGoesToItsOwnUpstreamAlone(t *testing.T) {
	t.Parallel()
	r, other := on(t, taking), startProvider(t, taking)
	c := r.credential(chatTarget, "Authorization: Bearer theirs")
	r.reload(func(s *Settings) { s.Upstreams = map[string]UpstreamConfig{"test": {URL: other.url()}} })
	if _, _, err := r.send(c); err == nil || strings.Contains(err.Error(), "theirs") || len(other.requests()) > 0 {
		t.Errorf("got %v, and the other upstream %d requests", err, len(other.requests()))
	}
}

// A server is asked for its models without any credential but the configured ones.
func TestGetGoesToTheServerAndSpeaksForNobody(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	r.credential(chatTarget, "Authorization: Bearer theirs")
	f := func(base, path, want string) {
		t.Helper()
		r.reload(func(s *Settings) {
			s.Upstreams = map[string]UpstreamConfig{"test": {URL: r.up.url() + base,
				Headers: map[string]string{"X-Team": "ours"}}}
		})
		status, text, err := r.upstreams.Get(t.Context(), "test", path)
		if string(text) != "a" || err != nil || status != 200 {
			t.Errorf("got %d %q %v", status, text, err)
		}
		want = "GET " + want + " HTTP/1.1\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n" +
			"User-Agent: epitome\r\nHost: HOST\r\nX-Team: ours\r\n\r\n"
		if head, _ := r.got(); head != want {
			t.Errorf("with the base %q, the upstream got\n%q, want\n%q", base, head, want)
		}
	}
	f("/v1", "/v1/models", "/v1/models")
	f("/api", "/v1/models", "/api/v1/models")
	f("/v1beta/openai", "/v1/models", "/v1beta/openai/models")
	f("/v1", "/props?model=m", "/props?model=m")
	f("/gpu", "/props?model=m", "/gpu/props?model=m")
}

// Promise 9: a wait of the shaper ends with its client, and nothing goes upstream.
func TestClientGoneEndsWaitingWithinTheShaper(t *testing.T) {
	for want, leave := range map[event.Fault]func(*rig, *testClient){
		event.ClientGone: func(_ *rig, c *testClient) { c.vanish("FIN") }, event.Stopped: func(r *rig,
			_ *testClient) {
			r.proxy.Cut()
		},
	} {
		noLeaks(t)
		r := on(t, taking)
		waits := make(chan struct{})
		var cause error
		r.shapes(func(a rewrite.Input) rewrite.Output {
			life := a.Client
			close(waits)
			<-life.Done()
			cause = context.Cause(life)
			return whole(a)
		})
		c := r.dial().send(post(chatTarget, long))
		<-waits
		leave(r, c)
		if e := r.event(); e.Fault != want || !errors.Is(cause, wire.ErrGone) {
			t.Errorf("event %+v, and the context ended with %v", e, cause)
		}
		r.wantRequests(0)
	}
}

// Promise 9: a cut answer to a question is an error, and a question ends with the context of whoever asks.
func TestQuestionsEndWithTheirContext(t *testing.T) {
	for _, begin := range []string{ok("123456789")[:42], chunkedHead + chunks("abc"), chunkedHead + chunks("abc") +
		"oops\r\n"} {
		r := newRig(t, func(c *call) {
			c.send(begin)
			c.hangUp()
		})
		if _, a, err := r.send(nil); err == nil {
			t.Errorf("of %q came %+v", begin, a)
		}
	}
	for _, begin := range []string{"", chunkedHead + chunks("a")} {
		noLeaks(t)
		reached := make(chan struct{})
		r := newRig(t, func(c *call) {
			c.send(begin)
			close(reached)
			c.awaitEnd()
		})
		why := errors.New("nobody waits any more")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, _, _, err := r.upstreams.Send(ctx, summarize.Model{Upstream: "test", Dialect: chat.Dialect{}}, []byte(question))
			failed <- err
		}()
		<-reached
		cancel(why)
		r.awaitGone()
		if err := <-failed; !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		r.wantRequests(1)
	}
}
