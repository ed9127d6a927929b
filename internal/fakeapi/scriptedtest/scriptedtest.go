// Package scriptedtest starts scripted upstreams for tests.
//
// It promises that an upstream ends with its test and that a problem it met
// fails the test. It stands apart from package scripted so that a program which
// plays scripts does not link package testing.
package scriptedtest

import (
	"testing"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/messages"
	"epitome/internal/fakeapi/responses"
)

// Start plays archive until tb ends; problems then fail tb. Sections that were
// not played are no problem; a test that minds asks Unplayed.
func Start(tb testing.TB, archive string) *fakeapi.Upstream {
	tb.Helper()
	u, err := fakeapi.Start(parse(tb, archive))
	return closeWith(tb, u, err)
}

// StartTLS is Start over TLS; it also returns the authority as PEM.
func StartTLS(tb testing.TB, archive string) (u *fakeapi.Upstream, caPEM []byte) {
	tb.Helper()
	u, caPEM, err := fakeapi.StartTLS(parse(tb, archive))
	return closeWith(tb, u, err), caPEM
}

// StartMessages plays a strict server of the Messages API until tb ends. What it refuses is no problem: a client may
// heal. A test that minds asks Refusals.
func StartMessages(tb testing.TB, o messages.Options) *messages.Server {
	tb.Helper()
	s, err := messages.Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Close()
		if tb.Failed() {
			tb.Logf("server of messages refused: %v", s.Refusals())
		}
	})
	return s
}

// StartResponses plays a strict server of the Responses API until tb ends, as StartMessages does its own.
func StartResponses(tb testing.TB, o responses.Options) *responses.Server {
	tb.Helper()
	s, err := responses.Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Close()
		if tb.Failed() {
			tb.Logf("server of responses refused: %v", s.Refusals())
		}
	})
	return s
}

func parse(tb testing.TB, archive string) *fakeapi.Script {
	tb.Helper()
	s, err := fakeapi.Parse([]byte(archive))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func closeWith(tb testing.TB, u *fakeapi.Upstream, err error) *fakeapi.Upstream {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		u.Close()
		for _, p := range u.Problems() {
			tb.Errorf("scripted upstream: %s", p)
		}
		if tb.Failed() {
			tb.Logf("scripted upstream's trace: %q", u.Trace())
		}
	})
	return u
}
