package console

import (
	"testing"
)

// shelved returns a console with one artifact, under the name abc.
func shelved(c Config, listen, text string) *Console {
	p := listening(listen)
	p.Service = &source{contents: map[string]string{"abc": text}}
	return show(c, p)
}

func TestArtifactIsGivenToWhoHasItsName(t *testing.T) {
	f := func(method, target, body, length string) {
		t.Helper()
		w := ask(shelved(Config{}, "127.0.0.1:7070", "one\ntwo\n"), method, target)
		if w.Code != 200 || w.Body.String() != body || w.Header().Get("Content-Length") != length {
			t.Errorf("%s %s: got %d %q, length %q", method, target, w.Code, w.Body, w.Header().Get("Content-Length"))
		}
		for name, want := range map[string]string{
			"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", method, target, name, got, want)
			}
		}
	}
	f("GET", "/-/artifacts/abc", "one\ntwo\n", "8")
	f("HEAD", "/-/artifacts/abc", "", "8")
	f("GET", "/-/artifacts/abc?lines=1", "one\n", "4")
	f("GET", "/-/artifacts/abc?grep=on", "1:one\n", "6")
	f("GET", "/-/artifacts/abc.txt", "one\ntwo\n", "8")
}

// The name is the right to read; pages of other sites and names that were rebound are kept out all the same.
func TestArtifactNeedsItsNameAndNoToken(t *testing.T) {
	f := func(o *Console, status int, target string, lines ...string) {
		t.Helper()
		if w := ask(o, "GET", target, lines...); w.Code != status {
			t.Errorf("%s %q: got %d %s, want %d", target, lines, w.Code, w.Body, status)
		}
	}
	beyond := shelved(Config{}, "0.0.0.0:7070", "one\n")
	f(beyond, 200, "/-/artifacts/abc")
	f(beyond, 404, "/-/artifacts/abd")
	f(beyond, 403, "/-/artifacts/")
	f(beyond, 404, "/-/artifacts/..%2fmetrics")
	f(beyond, 403, "/-/artifacts/abc", "Host: evil.example")
	f(beyond, 403, "/-/artifacts/abc", "Origin: http://evil.example")
	f(beyond, 403, "/-/artifacts/abc", "Sec-Fetch-Site: cross-site")
	guarded := shelved(Config{Token: "secret", Hosts: []string{"epitome.example.com"}}, "127.0.0.1:7070", "one\n")
	f(guarded, 200, "/-/artifacts/abc")
	f(guarded, 200, "/-/artifacts/abc", "Host: epitome.example.com")
	f(guarded, 401, "/-/metrics")
}
