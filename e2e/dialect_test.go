//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"epitome/e2e/sdktest"
	"epitome/internal/fakeapi/messages"
	"epitome/internal/fakeapi/responses"
)

// asked is a request as a strict server of whatever dialect took it.
type asked struct {
	method, target string
	header         http.Header
	body           []byte
	refusal        error // nil where it was answered
	tooLong        bool  // that is why
}

// server is a strict one of some dialect.
type server struct {
	URL   string // base URL as the SDK wants it
	taken func() []asked
}

func inMessages(s *messages.Server) server {
	return server{s.URL(), func() []asked {
		var all []asked
		for _, r := range s.Received() {
			one := asked{method: r.Method, target: r.Target, header: r.Header, body: r.Body}
			if r.Refusal != nil {
				one.refusal, one.tooLong = r.Refusal, strings.HasPrefix(r.Refusal.Message, "prompt is too long")
			}
			all = append(all, one)
		}
		return all
	}}
}

func inResponses(s *responses.Server) server {
	return server{s.URL() + "/v1", func() []asked {
		var all []asked
		for _, r := range s.Received() {
			one := asked{method: r.Method, target: r.Target, header: r.Header, body: r.Body}
			if r.Refusal != nil {
				one.refusal, one.tooLong = r.Refusal, r.Refusal.Code == "context_length_exceeded"
			}
			all = append(all, one)
		}
		return all
	}}
}

// posted are the requests but for those by which epitome itself asks how large a window is.
func (s server) posted() []asked {
	return slices.DeleteFunc(s.taken(), func(r asked) bool { return r.method != http.MethodPost })
}

// onWire is a request as the provider got it, without what is of the single connection.
func onWire(r asked) string {
	var head bytes.Buffer
	_ = r.header.WriteSubset(&head, map[string]bool{"Connection": true, "Keep-Alive": true}) // sorted
	return fmt.Sprintf("%s %s\n%s\n%s", r.method, r.target, &head, r.body)
}

// path is what base URLs of s end in.
func (s server) path() string {
	if strings.HasSuffix(s.URL, "/v1") {
		return "/v1"
	}
	return ""
}

// everydayThrough runs p against one server and through the proxy against its twin, and compares both of p's sides.
func everydayThrough(t *testing.T, p program, binary string, direct, through server) {
	t.Helper()
	proxy := sdktest.Serve(t, binary, "--upstream", through.URL) + through.path()
	want := run(t, p, direct.URL)
	if got := run(t, p, proxy); got != want {
		t.Errorf("the SDK printed, through epitome:\n%s\nwithout:\n%s", got, want)
	}
	asked, seen := direct.posted(), through.posted()
	if len(seen) != len(asked) || strings.Count(want, `"ok":`) < 5 || len(asked) < 7 {
		t.Fatalf("the provider saw %d requests through epitome, %d without, want 7 at least of 5 scenarios:\n%s",
			len(seen), len(asked), want)
	}
	for i := range asked {
		if got, want := onWire(seen[i]), onWire(asked[i]); got != want {
			t.Errorf("request %d, through epitome:\n%s\nwithout:\n%s", i, got, want)
		}
	}
}

// rounds is how often a session calls its tool. A page has some 5 000 tokens, so that most of it does not fit.
const rounds = 30

// outgrow plays two sessions beyond what the window holds, one in whole answers and one in streams.
func outgrow(t *testing.T, p program, binary string, provider server) {
	t.Helper()
	out := run(t, p, sdktest.Serve(t, binary, "--upstream", provider.URL)+provider.path())
	if n := strings.Count(out, fmt.Sprintf(`"rounds":%d`, rounds+1)); n != 2 {
		t.Errorf("%d sessions of two came to their end:\n%s", n, out)
	}
	answered, refused := 0, 0
	for _, r := range provider.posted() {
		switch {
		case r.refusal == nil:
			answered++
		case r.tooLong:
			refused++
		default:
			t.Errorf("the provider refused a request: %v", r.refusal)
		}
	}
	if answered < 2*(rounds+1) || refused > 1 {
		t.Errorf("%d requests were answered and %d were too long, want %d and at most one, by which the window is learned",
			answered, refused, 2*(rounds+1))
	}
}
