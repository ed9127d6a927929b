package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
)

func TestCredentialsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	r := on(t, taking)
	const secret = "sk-secret"
	c := r.credential(chatTarget+"?key="+secret, "Authorization: Bearer "+secret, "x-api-key: "+secret)
	q := Question{Upstream: "test", Credential: c}
	hidden := struct {
		c Credential
		q *Question
		a any
	}{c, &q, c}
	var out bytes.Buffer
	for _, v := range []any{c, &c, q, &q, Question{Body: []byte(secret)}, []Credential{c}, map[string]any{"c": c}, hidden,
		&hidden, struct{ C any }{c}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			_, _ = fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewJSONHandler(&out, nil)).Error("m", "v", v)
		slog.New(slog.NewTextHandler(&out, nil)).Error("m", "v", v)
	}
	if err := json.NewEncoder(&out).Encode(map[string]any{"c": c}); err != nil {
		t.Error(err)
	}
	for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret),
		fmt.Sprint([]byte(secret))} {
		if i := strings.Index(out.String(), form); i >= 0 {
			t.Errorf("%q was printed: %s", form, out.String()[max(0, i-100):i+len(form)])
		}
	}
	if got := fmt.Sprintf("%v %+v", c, q); got != "a client's credential a question to an upstream" {
		t.Errorf("they print as %q", got)
	}
}

// Promise 9: what an exchange waits for while it is shaped ends with its client, and nothing goes upstream.
func TestClientGoneEndsWaitingWithinTheShaper(t *testing.T) {
	f := func(leave func(r *rig, c *client), want event.Fault) {
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
	f(func(_ *rig, c *client) { c.vanish("FIN") }, event.ClientGone)
	f(func(_ *rig, c *client) { c.vanish("RST") }, event.ClientGone)
	f(func(r *rig, _ *client) { r.proxy.Cut() }, event.Stopped)
}
