package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGuardKnowsItsHosts(t *testing.T) {
	f := func(listen, host string, want int) {
		t.Helper()
		o := New(Config{Hosts: []string{"Epitome.Example"}, Token: "secret"}, listening(listen))
		w := ask(o, "GET", "/-/metrics", "Host: "+host, "Authorization: Bearer secret")
		if w.Code != want {
			t.Errorf("on %s, Host %q: got %d, want %d", listen, host, w.Code, want)
		}
		if want == http.StatusForbidden {
			wantRefusal(t, w, want)
		}
	}
	for _, listen := range []string{"127.0.0.1:7070", "localhost:7070", "[::1]:7070", "127.8.8.8:1"} {
		for _, host := range []string{
			"localhost", "localhost:7070", "localhost:1", "LocalHost:7070", "127.0.0.1", "127.0.0.1:7070", "127.9.9.9",
			"[::1]", "[::1]:7070", "::1", "[0:0::1]:1", "epitome.example", "EPITOME.example:443",
		} {
			f(listen, host, 200)
		}
		for _, host := range []string{ // a rebound name, names that only look local, addresses that are not
			"", ":7070", "evil.example", "evil.example:7070", "localhost.evil.example", "127.0.0.1.evil.example",
			"127.0.0.1.nip.io:7070",
			"sub.epitome.example", "127.1", "2130706433", "0x7f.1", "0.0.0.0:7070", "[::]:7070", "192.168.0.7",
			"[fe80::1]:7070", "localhost@evil.example",
		} {
			f(listen, host, 403)
		}
	}
	for _, listen := range []string{"0.0.0.0:7070", "[::]:7070", ":7070", "192.168.0.7:7070"} {
		for _, host := range []string{"localhost:7070", "127.0.0.1", "192.168.0.7:7070", "10.0.0.1", "[fe80::1]:7070",
			"epitome.example"} {
			f(listen, host, 200)
		}
		for _, host := range []string{"evil.example:7070", "192.168.0.7.nip.io", "localhost.evil.example"} {
			f(listen, host, 403)
		}
	}
	f("box.example:7070", "box.example:7070", 200)
	f("box.example:7070", "other.example:7070", 403)
}

func TestGuardKeepsOtherSitesOut(t *testing.T) {
	o := New(Config{}, listening("127.0.0.1:7070"))
	f := func(want int, lines ...string) {
		t.Helper()
		for _, target := range []string{"/-/health", "/-/metrics", "/-/ready", "/-/nothing"} {
			w := ask(o, "GET", target, lines...)
			let := w.Code != http.StatusForbidden
			if let != (want == 200) {
				t.Errorf("%s with %q: got %d", target, lines, w.Code)
			}
			if !let {
				wantRefusal(t, w, want)
			}
		}
	}
	f(200)
	f(200, "Origin: http://localhost:7070")
	f(200, "Origin: http://LOCALHOST:7070")
	f(200, "Host: 127.0.0.1:7070", "Origin: http://127.0.0.1:7070")
	f(200, "Host: [::1]:7070", "Origin: http://[::1]:7070")
	f(403, "Origin: http://evil.example")
	f(403, "Origin: http://evil.example:7070")
	f(403, "Origin: http://localhost:7071") // another program's page on this machine
	f(403, "Origin: http://localhost")
	f(403, "Origin: http://127.0.0.1:7070") // by another name it is another origin
	f(403, "Origin: null")
	f(403, "Origin: %zz")
	f(403, "Origin: localhost:7070")
	f(200, "Sec-Fetch-Site: none")
	f(200, "Sec-Fetch-Site: same-origin")
	f(403, "Sec-Fetch-Site: cross-site")
	f(403, "Sec-Fetch-Site: same-site")
	f(403, "Sec-Fetch-Site: cross-site", "Origin: http://localhost:7070")
	f(403, "Sec-Fetch-Site: same-origin", "Origin: http://evil.example")
}

func TestAdminToken(t *testing.T) {
	f := func(listen, token, target, authorization string, want int) {
		t.Helper()
		o := New(Config{Token: token}, listening(listen))
		lines := []string{"Host: 127.0.0.1:7070"}
		if authorization != "" {
			lines = append(lines, "Authorization: "+authorization)
		}
		w := ask(o, "GET", target, lines...)
		if w.Code != want {
			t.Errorf("on %s with token %q, %s, Authorization %q: got %d, want %d",
				listen, token, target, authorization, w.Code, want)
		}
		if want == 401 || want == 403 {
			wantRefusal(t, w, want)
		}
		if token != "" && strings.Contains(w.Body.String(), token) {
			t.Errorf("%s shows the token: %q", target, w.Body)
		}
	}
	for _, listen := range []string{"0.0.0.0:7070", ":7070", "[::]:7070", "192.168.0.7:7070"} {
		f(listen, "", "/-/metrics", "", 403)
		f(listen, "", "/-/metrics", "Bearer ", 403)
		f(listen, "", "/-/nothing", "", 403)
		f(listen, "", "/-/health", "", 200)
		f(listen, "", "/-/ready", "", 200)
	}
	for _, listen := range []string{"0.0.0.0:7070", "127.0.0.1:7070"} { // a token that is set is asked for anywhere
		f(listen, "se cret", "/-/metrics", "", 401)
		f(listen, "se cret", "/-/metrics", "Bearer wrong", 401)
		f(listen, "se cret", "/-/metrics", "Bearer se cret2", 401)
		f(listen, "se cret", "/-/metrics", "Bearer ", 401)
		f(listen, "se cret", "/-/metrics", "Basic c2UgY3JldA==", 401)
		f(listen, "se cret", "/-/status", "Bearer wrong", 401)
		f(listen, "se cret", "/-/nothing", "Bearer wrong", 401)
		f(listen, "se cret", "/-/health/", "", 401)
		f(listen, "se cret", "/-/metrics", "Bearer se cret", 200)
		f(listen, "se cret", "/-/nothing", "Bearer se cret", 404)
		f(listen, "se cret", "/-/health", "", 200)
		f(listen, "se cret", "/-/ready", "", 200)
	}
	f("127.0.0.1:7070", "", "/-/metrics", "", 200)
	f("127.0.0.1:7070", "", "/-/metrics", "Bearer whatever", 200)
}

func TestReloadChangesTheGuard(t *testing.T) {
	o := New(Config{Hosts: []string{"old.example"}}, listening("127.0.0.1:7070"))
	f := func(want int, lines ...string) {
		t.Helper()
		if w := ask(o, "GET", "/-/metrics", lines...); w.Code != want {
			t.Errorf("with %q: got %d, want %d", lines, w.Code, want)
		}
	}
	f(200, "Host: old.example")
	f(403, "Host: new.example")
	o.Reload(Config{Hosts: []string{"new.example"}, Token: "secret"})
	f(403, "Host: old.example", "Authorization: Bearer secret")
	f(200, "Host: new.example", "Authorization: Bearer secret")
	f(401, "Host: new.example")
	o.Reload(Config{})
	f(200)
	f(403, "Host: new.example")
}

// The token of the data folder stands in for the token, and for nothing else: a page's request stays out.
func TestOwnerNeedsNoToken(t *testing.T) {
	f := func(token, target string, want int, lines ...string) {
		t.Helper()
		p := listening("0.0.0.0:7070")
		p.Owner = func(token string) bool { return token == "proof" }
		if w := ask(New(Config{Token: token}, p), "GET", target, lines...); w.Code != want {
			t.Errorf("token %q, %s with %q: got %d, want %d", token, target, lines, w.Code, want)
		}
	}
	owner := OwnerHeader + ": proof"
	f("", "/-/metrics", 200, owner)
	f("secret", "/-/metrics", 200, owner)
	f("secret", "/-/metrics", 200, owner, "Authorization: Bearer wrong")
	f("secret", "/-/metrics", 401, OwnerHeader+": other")
	f("secret", "/-/metrics", 401)
	f("", "/-/metrics", 403)
	f("secret", "/-/metrics", 403, owner, "Host: evil.example")
	f("secret", "/-/metrics", 403, owner, "Origin: http://evil.example")
	f("secret", "/-/metrics", 403, owner, "Sec-Fetch-Site: cross-site")
}

// Whatever is asked by a page of another site, under another name, or into a frame, gets nothing: not even where the
// browser sends the cookie along.
func TestStrangersGetNothing(t *testing.T) {
	o := withPages(t, Config{}, "127.0.0.1:7070")
	cookie := loggedIn(t, o, codeOf(t, o, `{}`))
	f := func(lines ...string) {
		t.Helper()
		for _, target := range []string{"/-/", "/-/conversations/1", "/-/api/memory", "/-/events", "/-/login", "/-/session"} {
			wantRefusal(t, ask(o, "GET", target, append(lines, cookie)...), http.StatusForbidden)
		}
		for _, target := range []string{"/-/login", "/-/logout", "/-/login/code"} {
			wantRefusal(t, send(o, target, `{}`, append(lines, cookie, proof)...), http.StatusForbidden)
		}
	}
	for _, site := range []string{"cross-site", "same-site"} {
		site = "Sec-Fetch-Site: " + site
		f(site, "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty") // fetch, EventSource
		f(site, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image")
		f(site, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: document")
		f(site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe")
		f(site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: frame")
		f(site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: embed")
		f(site, "Sec-Fetch-Mode: navigate")
		f(site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Origin: http://evil.example")
	}
	f("Host: evil.example:7070", "Origin: http://evil.example:7070", "Sec-Fetch-Site: same-origin")
	f("Origin: null")
	sees(t, o, true, cookie, "Sec-Fetch-Site: same-origin")
}

// A link from elsewhere shows a page, and nothing but a page.
func TestOtherSitesMayLinkToPages(t *testing.T) {
	o := withPages(t, Config{}, "127.0.0.1:7070")
	f := func(status int, method, target string) {
		t.Helper()
		w := ask(o, method, target, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
		if w.Code != status {
			t.Errorf("%s %s: got %d %q, want %d", method, target, w.Code, w.Body, status)
		}
	}
	f(200, "GET", "/-/")
	f(200, "HEAD", "/-/")
	f(200, "GET", "/-/conversations/1")
	f(200, "GET", "/-/login")
	f(403, "POST", "/-/login")
	f(403, "POST", "/-/")
	for _, target := range []string{"/-/api/memory", "/-/events", "/-/metrics", "/-/ready", "/-/status",
		"/-/session", "/-/artifacts/abc", "/-/nothing", "/-/assets/pages.css"} {
		f(403, "GET", target)
	}
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
	for _, target := range []string{"/-/", "/-/conversations/1", "/-/api/memory", "/-/health", "/-/metrics", "/-/nothing",
		"/-/login", "/-/session", "/-/ready"} {
		f(ask(o, "GET", target))
		f(ask(o, "GET", target, "Host: evil.example"))
		f(ask(o, "DELETE", target))
	}
	f(send(o, "/-/login", `{}`))
	f(send(o, "/-/login", secret(codeOf(t, o, `{}`))))
}
