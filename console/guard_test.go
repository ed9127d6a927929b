package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A page under a name that was bound anew to this machine gets nothing.
func TestGuardKnowsItsHosts(t *testing.T) {
	f := func(want int, listen string, hosts ...string) {
		t.Helper()
		o := show(Config{Hosts: []string{"Epitome.Example"}, Token: "secret"}, listening(listen))
		for _, host := range hosts {
			if w := ask(o, "GET", "/-/metrics", "Host: "+host, "Authorization: Bearer secret"); w.Code != want {
				t.Errorf("on %s, Host %q: got %d, want %d", listen, host, w.Code, want)
			}
		}
	}
	for _, listen := range []string{"127.0.0.1:7070", "localhost:7070", "[::1]:7070"} {
		f(200, listen, "localhost", "LocalHost:7070", "127.0.0.1:7070", "127.9.9.9", "[::1]:7070", "[0:0::1]:1",
			"EPITOME.example:443")
		f(403, listen, "", ":7070", "evil.example:7070", "localhost.evil.example", "127.0.0.1.nip.io:7070",
			"sub.epitome.example",
			"127.1", "2130706433", "0.0.0.0:7070", "[::]:7070", "192.168.0.7", "localhost@evil.example")
	}
	for _, listen := range []string{"0.0.0.0:7070", ":7070", "192.168.0.7:7070"} {
		f(200, listen, "localhost:7070", "192.168.0.7:7070", "10.0.0.1", "[fe80::1]:7070", "epitome.example")
		f(403, listen, "evil.example:7070", "192.168.0.7.nip.io", "localhost.evil.example")
	}
	f(200, "box.example:7070", "box.example:7070")
	f(403, "box.example:7070", "other.example:7070")
}

func TestAdminToken(t *testing.T) {
	f := func(want int, listen, token, target string, lines ...string) {
		t.Helper()
		p := listening(listen)
		w := ask(show(Config{Token: token}, p), "GET", target, lines...)
		if w.Code != want || token != "" && strings.Contains(w.Body.String(), token) {
			t.Errorf("on %s, token %q, %s, %q: got %d %s, want %d", listen, token, target, lines, w.Code, w.Body, want)
		}
		if want == 401 || want == 403 {
			wantRefusal(t, w, want)
		}
	}
	const beyond, loopback = "0.0.0.0:7070", "127.0.0.1:7070"
	f(403, beyond, "", "/-/metrics")
	f(403, beyond, "", "/-/metrics", "Authorization: Bearer ")
	f(200, loopback, "", "/-/metrics")
	for _, listen := range []string{beyond, loopback} { // a token that is set is asked for everywhere
		for _, target := range []string{"/-/metrics", "/-/status", "/-/nothing"} {
			f(401, listen, "secret", target)
			f(401, listen, "secret", target, "Authorization: Bearer secret2")
			f(401, listen, "secret", target, "Authorization: Basic c2VjcmV0")
			f(401, listen, "secret", target, OwnerHeader+": other")
		}
		f(200, listen, "secret", "/-/metrics", "Authorization: Bearer secret")
		f(200, listen, "secret", "/-/health")
		f(200, listen, "secret", "/-/ready")
		// The token of the data folder stands in for it, but not in a page's request.
		f(200, listen, "secret", "/-/metrics", proof)
		f(403, listen, "secret", "/-/metrics", proof, "Origin: http://evil.example")
		f(403, listen, "secret", "/-/metrics", proof, "Sec-Fetch-Site: cross-site")
	}
}

// A page of another site, or under another name, or one in a frame gets nothing, even with the cookie of a login.
func TestStrangersGetNothing(t *testing.T) {
	o := withPages(t, Config{}, "127.0.0.1:7070")
	cookie := loggedIn(t, o, codeOf(t, o, `{}`))
	f := func(lines ...string) {
		t.Helper()
		for _, target := range []string{"/-/", "/-/conversations/1", "/-/api/memory", "/-/events", "/-/session"} {
			wantRefusal(t, ask(o, "GET", target, append(lines, cookie)...), http.StatusForbidden)
		}
		for _, target := range []string{"/-/login", "/-/login/code"} {
			wantRefusal(t, send(o, target, `{}`, append(lines, cookie, proof)...), http.StatusForbidden)
		}
	}
	for _, site := range []string{"cross-site", "same-site"} {
		site = "Sec-Fetch-Site: " + site
		f(site, "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty") // fetch, EventSource
		f(site, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image")
		f(site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe")
		f(site, "Sec-Fetch-Mode: navigate")
		f(site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Origin: http://evil.example")
	}
	f("Host: evil.example:7070", "Origin: http://evil.example:7070", "Sec-Fetch-Site: same-origin")
	f("Origin: null")
	f("Origin: http://localhost:7071") // a page of another program on this machine
	f("Origin: http://127.0.0.1:7070") // another name is another origin
	sees(t, o, true, cookie, "Sec-Fetch-Site: same-origin", "Origin: http://LOCALHOST:7070")
}

// A link from elsewhere shows a page, and nothing but a page.
func TestOtherSitesMayLinkToPages(t *testing.T) {
	o := withPages(t, Config{}, "127.0.0.1:7070")
	f := func(status int, method string, targets ...string) {
		t.Helper()
		for _, target := range targets {
			w := ask(o, method, target, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
				"Sec-Fetch-Dest: document")
			if w.Code != status {
				t.Errorf("%s %s: got %d %q, want %d", method, target, w.Code, w.Body, status)
			}
		}
	}
	f(200, "GET", "/-/", "/-/conversations/1", "/-/login")
	f(403, "POST", "/-/", "/-/login")
	f(403, "GET", "/-/api/memory", "/-/events", "/-/metrics", "/-/ready", "/-/status", "/-/session", "/-/artifacts/abc",
		"/-/nothing", "/-/assets/pages.css")
}

func TestEveryAnswerSaysWhatABrowserMayDo(t *testing.T) {
	o := withPages(t, Config{}, "127.0.0.1:7070")
	f := func(w *httptest.ResponseRecorder) {
		t.Helper()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
				"require-trusted-types-for 'script'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	for _, target := range []string{"/-/", "/-/conversations/1", "/-/health", "/-/nothing", "/-/login"} {
		f(ask(o, "GET", target))
		f(ask(o, "GET", target, "Host: evil.example"))
		f(ask(o, "DELETE", target))
	}
	f(send(o, "/-/login", secret(codeOf(t, o, `{}`))))
}
