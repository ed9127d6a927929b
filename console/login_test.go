package console

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"epitome/inject"
	"epitome/store"
)

// secretName stands for the name of an artifact.
const secretName = "mzxw6ytboi2gk43umzxw6ytboi"

// withPages is a console that knows a conversation 1 and a project, which both have the name in their texts.
func withPages(t *testing.T, c Config, listen string) *Console {
	p := listening(listen)
	p.Book = newBook()
	t.Cleanup(p.Book.Close)
	e := conversed()
	e.Conversation, e.Title, e.Start = "1", secretName, time.Now()
	p.Book.RecordExchange(new(e))
	p.Memory = memoryOf(inject.Owner{Project: secretName})
	return show(c, p)
}

// memoryOf returns a memory with a fact about a project.
func memoryOf(o inject.Owner) *inject.Memory {
	m := inject.NewMemory(store.NewMemory(1<<20), inject.MemoryConfig{Enabled: true}, 100*time.Hour, time.Now)
	err := m.Learn(o, "- fact: The port is 8080.")
	if err != nil {
		panic(err)
	}
	return m
}

// send posts JSON as a page of epitome's own does.
func send(o *Console, target, body string, lines ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	return request(o, r, append([]string{"Content-Type: application/json"}, lines...))
}

// The command that lets a browser in has the form by which epitome was started, unless strangers may read it.
func TestLoginPageNamesTheCommand(t *testing.T) {
	defer func(self string) { Self = self }(Self)
	Self = "/home/me/epitome"
	for listen, want := range map[string]string{"127.0.0.1:7070": Self, "0.0.0.0:7070": "epitome"} {
		page := request(show(Config{}, listening(listen)), httptest.NewRequest("GET", "/-/login", nil), nil).Body.String()
		if !strings.Contains(page, "<code>"+want+" open</code>") {
			t.Errorf("on %s: %s", listen, page)
		}
	}
}

const proof = OwnerHeader + ": proof"

// codeOf gets a code as "epitome open" does.
func codeOf(t *testing.T, o *Console, body string) string {
	t.Helper()
	w := send(o, "/-/login/code", body, proof)
	code, _ := object(t, w)["code"].(string)
	if w.Code != 200 || len(code) < 26 {
		t.Fatalf("got %d %q", w.Code, w.Body)
	}
	return code
}

func secret(of string) string { return fmt.Sprintf(`{"secret":%q}`, of) }

// loggedIn returns the cookie of a login with what a browser shows, as a header line.
func loggedIn(t *testing.T, o *Console, shows string, lines ...string) string {
	t.Helper()
	w := send(o, "/-/login", secret(shows), lines...)
	if w.Code != 200 || len(w.Result().Cookies()) != 1 {
		t.Fatalf("got %d %q", w.Code, w.Body)
	}
	c := w.Result().Cookies()[0]
	return "Cookie: " + c.Name + "=" + c.Value
}

// sees asks for what tells the owner a name, and wants it told or not.
func sees(t *testing.T, o *Console, want bool, lines ...string) {
	t.Helper()
	for _, target := range []string{"/-/", "/-/conversations/1", "/-/api/memory"} {
		w := ask(o, "GET", target, lines...)
		told := strings.Contains(w.Body.String(), secretName)
		if told != want || want && w.Code != 200 {
			t.Errorf("%s with %q: got %d %q; the name is to be told: %v", target, lines, w.Code, w.Body, want)
		}
	}
}

func TestCodeLogsIn(t *testing.T) {
	o := withPages(t, Config{}, "127.0.0.1:7070")
	sees(t, o, false)
	code := codeOf(t, o, `{}`)
	sees(t, o, false, "Cookie: epitome-7070="+code)
	cookie := loggedIn(t, o, code)
	sees(t, o, true, cookie)
	sees(t, o, true, "Host: 127.0.0.1:7070", cookie)
	other := loggedIn(t, o, codeOf(t, o, `{"seconds":7200}`))

	send(o, "/-/login", secret(code), cookie)
	sees(t, o, true, cookie) // the owner's browser may load the page again

	again := codeOf(t, o, `{}`)
	stolen := loggedIn(t, o, again)
	wantRefusal(t, send(o, "/-/login", secret(again)), http.StatusUnauthorized) // it works once
	sees(t, o, false, stolen)
	sees(t, o, true, other)
}

func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := withPages(t, Config{}, "127.0.0.1:7070")
		stale, code := codeOf(t, o, `{}`), codeOf(t, o, `{"seconds":61}`)
		time.Sleep(CodeLife + 1)
		wantRefusal(t, send(o, "/-/login", secret(stale)), http.StatusUnauthorized)
		cookie := loggedIn(t, o, code)
		time.Sleep(SessionLife - 1)
		sees(t, o, true, cookie)
		time.Sleep(2 * time.Nanosecond)
		sees(t, o, false, cookie)
	})
}

func TestCookieIsForNobodyElse(t *testing.T) {
	o := withPages(t, Config{Hosts: []string{"epitome.example"}}, "127.0.0.1:7070")
	f := func(secure string, lines ...string) {
		t.Helper()
		got := send(o, "/-/login", secret(codeOf(t, o, `{}`)), lines...).Header().Get("Set-Cookie")
		_, attributes, _ := strings.Cut(got, ";")
		if want := " Path=/-/; Max-Age=43200; HttpOnly;" + secure + " SameSite=Strict"; attributes != want {
			t.Errorf("with %q the cookie is %q", lines, got)
		}
	}
	f("", "Origin: http://localhost:7070")
	f(" Secure;", "Host: epitome.example", "Origin: https://epitome.example")
}

// A cookie of another port of this host is sent here too.
func TestCookieOfAnotherPort(t *testing.T) {
	o, other := withPages(t, Config{}, "127.0.0.1:7070"), withPages(t, Config{}, "127.0.0.1:7071")
	cookie := loggedIn(t, other, codeOf(t, other, `{}`))
	sees(t, other, true, cookie)
	sees(t, o, false, cookie)
	sees(t, o, false, strings.Replace(cookie, "7071", "7070", 1))
	restarted := withPages(t, Config{}, "127.0.0.1:7071")
	sees(t, restarted, false, cookie)
}

func TestOnlyTheOwnerGetsACode(t *testing.T) {
	o := withPages(t, Config{Token: "token"}, "127.0.0.1:7070")
	f := func(status int, target, body string, lines ...string) {
		t.Helper()
		if w := send(o, target, body, lines...); w.Code != status {
			t.Errorf("%s %s with %q: got %d %q, want %d", target, body, lines, w.Code, w.Body, status)
		}
	}
	cookie := loggedIn(t, o, "token")
	f(200, "/-/login/code", `{}`, proof)
	f(401, "/-/login/code", `{}`)
	f(403, "/-/login/code", `{}`, cookie)
	f(403, "/-/login/code", `{}`, "Authorization: Bearer token")
	f(403, "/-/login/code", `{}`, proof, "Origin: http://evil.example")
	f(415, "/-/login/code", `{}`, proof, "Content-Type: text/plain")
	f(400, "/-/login/code", `{"seconds":-1}`, proof)
	f(400, "/-/login", `{"secret":"`+strings.Repeat("x", 16<<10)+`"}`)
}

func TestTokenLogsIn(t *testing.T) {
	f := func(listen string) {
		t.Helper()
		o := withPages(t, Config{Token: "token"}, listen)
		sees(t, o, false)
		sees(t, o, true, "Authorization: Bearer token")
		wantRefusal(t, send(o, "/-/login", secret("tokem")), http.StatusUnauthorized)
		cookie := loggedIn(t, o, " token\n")
		sees(t, o, true, cookie)
		now := Settings{Config: Config{Token: "token", Hosts: []string{"other.example"}}}
		o.program.Settings = func() Settings { return now }
		sees(t, o, true, cookie)
		now.Token = "another"
		sees(t, o, false, cookie)
	}
	f("127.0.0.1:7070")
	f("0.0.0.0:7070")
	for _, listen := range []string{"127.0.0.1:7070", "0.0.0.0:7070"} { // where none is set, none logs in
		wantRefusal(t, send(withPages(t, Config{}, listen), "/-/login", secret("")), http.StatusUnauthorized)
	}
	beyond := withPages(t, Config{}, "0.0.0.0:7070")
	sees(t, beyond, false)
	sees(t, beyond, true, loggedIn(t, beyond, codeOf(t, beyond, `{}`)))
}

// Whoever tries tokens keeps nobody out, also at the same address, and cannot fill the log, whatever way they take.
func TestWrongTokensLockNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := listening("0.0.0.0:7070")
		var text bytes.Buffer
		p.Log = slog.New(slog.NewJSONHandler(&text, nil))
		const right = "sixteen-or-more-letters"
		o := show(Config{Token: right}, p)
		from := func(address, token string, byHeader bool) int {
			r := httptest.NewRequest("POST", "/-/login", strings.NewReader(secret(token)))
			lines := []string{"Content-Type: application/json"}
			if byHeader {
				r, lines = httptest.NewRequest("GET", "/-/metrics", nil), []string{"Authorization: Bearer " + token}
			}
			r.RemoteAddr = address
			return request(o, r, lines).Code
		}
		const attacker, sameNetwork, other = "[2001:db8::1]:1000", "[2001:db8::2]:1000", "192.0.2.7:1000"
		for i := range 1000 {
			if got := from(attacker, fmt.Sprint("guess", i), i%2 == 0); got != http.StatusUnauthorized {
				t.Fatalf("guess %d got %d", i, got)
			}
		}
		lines := strings.Count(text.String(), `"remote":"`+attacker+`"`)
		if lines == 0 || strings.Contains(text.String(), "guess") {
			t.Errorf("of 1000 guesses %d are logged", lines)
		}
		for _, byHeader := range []bool{false, true} {
			for _, address := range []string{attacker, sameNetwork, other} {
				for range 100 { // of whoever scrapes the metrics
					if got := from(address, right, byHeader); got != http.StatusOK {
						t.Fatalf("the right token from %s got %d", address, got)
					}
				}
			}
		}
		for i := range 1000 { // addresses
			from(fmt.Sprintf("203.0.%d.%d:1", i/250, i%250), "guess", true)
		}
		if n := strings.Count(text.String(), "\n"); n > 60 {
			t.Errorf("the log has %d lines", n)
		}
		loggedIn(t, o, codeOf(t, o, `{}`))
	})
}
