package proxy

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"epitome/summarize"
)

// Promise 9: a cut stream stays cut.
func TestReplyThatBreaksOffIsAnError(t *testing.T) {
	for _, script := range []string{
		"status 200 OK\nheader Content-Length: 9\nbody abc\nhangup\n",
		"status 200 OK\nchunk abc\nhangup\n",
		"status 200 OK\nchunk abc\nraw \"oops\\r\\n\"\nawait-close\n",
	} {
		r := newRig(t, "-- POST * --\n"+script)
		if a, err := r.asks(t.Context()); err == nil {
			t.Errorf("of %q came %+v", script, a)
		}
	}
}

// The order of events: whoever asked leaves, and then the upstream's connection ends, although nobody reads or closes
// anything.
func TestEndOfTheContextEndsTheCall(t *testing.T) {
	for name, script := range map[string]string{
		"before the first byte": "-- POST * --\nawait-close\n",
		"within the answer":     "-- POST * --\nstatus 200 OK\nchunk a\nawait-close\n",
		"in an unread body":     "-- POST * --\nstop-reading\nawait-close\n",
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			r := newRig(t, script)
			why := errors.New("nobody waits any more")
			ctx, cancel := context.WithCancelCause(context.Background())
			q := summarize.Request{Upstream: "test", Path: chatTarget, Body: bytes.Repeat([]byte("x"), 32<<20)}
			if !strings.Contains(script, "stop-reading") {
				q.Body = []byte(question)
			}
			failed := make(chan error, 1)
			go func() {
				_, err := r.proxy.upstreams.Send(ctx, q)
				failed <- err
			}()
			r.await("waiting 1 close")
			cancel(why)
			r.await("gone 1")
			if err := <-failed; !errors.Is(err, why) {
				t.Errorf("got %v", err)
			}
			if _, err := r.proxy.upstreams.Send(ctx, q); !errors.Is(err, why) {
				t.Errorf("afterwards got %v", err)
			}
			if n := len(r.upstream.Requests()); n != 1 {
				t.Errorf("%d were sent", n)
			}
		})
	}
}
