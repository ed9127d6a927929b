package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/summarize"
)

func TestCredentialsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	const secret = "sk-secret"
	c := r.credential(chatTarget+"?key="+secret, "Authorization: Bearer "+secret, "x-api-key: "+secret)
	q := summarize.Request{Upstream: "test", Credential: c}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		_, _ = fmt.Fprintf(&out, verb+verb, q, &c)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Error("m", "q", q, "c", c)
	for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprint([]byte(secret))} {
		if strings.Contains(out.String(), form) {
			t.Errorf("%q was printed in %s", form, out.String())
		}
	}
}

// Promise 9: what an exchange waits for while it is shaped ends with its client, and nothing goes upstream.
func TestClientGoneEndsWaitingWithinTheShaper(t *testing.T) {
	f := func(leave func(r *rig, c *testClient), want event.Fault) {
		t.Helper()
		noLeaks(t)
		r := on(t, taking)
		r.dial().send(post(chatTarget, long)).answer("POST") // leaves a connection that could be used
		r.event()
		waits := make(chan struct{})
		var cause error
		r.shapes(func(a rewrite.Input) rewrite.Output {
			life := a.Client.Context()
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
		if n := len(r.upstream.Requests()); n != 1 {
			t.Errorf("the upstream got %d requests after the first", n-1)
		}
	}
	f(func(_ *rig, c *testClient) { c.vanish("FIN") }, event.ClientGone)
	f(func(_ *rig, c *testClient) { c.vanish("RST") }, event.ClientGone)
	f(func(r *rig, _ *testClient) { r.proxy.Cut() }, event.Stopped)
}
