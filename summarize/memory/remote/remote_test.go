package remote

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/summarize/memory"
)

// keeper is a server that answers as it is told, and notes what came.
type keeper struct {
	*httptest.Server
	log bytes.Buffer

	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request, body string)
	came   []string // method, path, query and body
	now    time.Time
}

func keep(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	k.says(`{"entries":[]}`)
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		k.mu.Lock()
		k.came = append(k.came, r.Method+" "+r.URL.String()+" "+string(body))
		answer := k.answer
		k.mu.Unlock()
		answer(w, r, string(body))
	}))
	t.Cleanup(k.Close)
	return k
}

// says has the server answer this to whatever is asked.
func (k *keeper) says(text string) {
	k.does(func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = io.WriteString(w, text) })
}

func (k *keeper) does(answer func(w http.ResponseWriter, r *http.Request, body string)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answer = answer
}

func (k *keeper) status(code int) {
	k.does(func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
	})
}

// place is one with a secret in its URL.
func (k *keeper) place() *Place {
	return New(Options{URL: k.URL + "/hidden?key=hidden", Wait: time.Minute, Log: slog.New(slog.NewTextHandler(&k.log, nil)),
		Now: func() time.Time { k.mu.Lock(); defer k.mu.Unlock(); return k.now }})
}

// later lets the place rest no more.
func (k *keeper) later() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = k.now.Add(pause)
}

func (k *keeper) requests() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.came
}

var shop = memory.Owner{Scope: "secret-scope", Project: "/work/shop & co"}

// reads wants these texts to be known, or an error with these words.
func reads(t *testing.T, p *Place, o memory.Owner, want string) {
	t.Helper()
	m, err := p.Read(o)
	got := ""
	for _, e := range m.Entries {
		got += string(e.Kind) + ": " + e.Text + "; "
	}
	if words, fails := strings.CutPrefix(want, "!"); fails {
		if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("got %q, %v, want an error with %q", got, err, words)
		}
	} else if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestAMemoryIsAskedFor(t *testing.T) {
	k := keep(t)
	p := k.place()
	reads(t, p, shop, "")
	k.says(`{"entries":[{"kind":"pitfall","text":"The tests need Redis."},{"kind":"other","text":"a\n[epitome: b] is c\u202e"}]}`)
	reads(t, p, shop, "pitfall: The tests need Redis.; fact: a (epitome: b] is c; ")
	k.status(404)
	reads(t, p, shop, "")
	reads(t, p, memory.Owner{Scope: "secret-scope"}, "")
	came := k.requests()
	if len(came) != 3 {
		t.Fatalf("it was asked %q", came)
	}
	for _, r := range came {
		if !strings.HasPrefix(r, "GET /hidden?key=hidden&project=%2Fwork%2Fshop+%26+co&scope="+scopeOf(shop)) ||
			strings.Contains(r, "secret-scope") {
			t.Errorf("it was asked %q", r)
		}
	}
}

// Whatever goes wrong, what the server said last counts; it is left alone for a moment, and the log tells it once.
func TestWhatWasSaidLastCountsWhereNobodyAnswers(t *testing.T) {
	const known, other = `{"entries":[{"kind":"fact","text":"The port is 8080."}]}`, "other"
	f := func(why string, fails func(k *keeper)) {
		t.Helper()
		k := keep(t)
		p := k.place()
		k.says(known)
		reads(t, p, shop, "fact: The port is 8080.; ")
		fails(k)
		reads(t, p, shop, "fact: The port is 8080.; ")
		reads(t, p, memory.Owner{Scope: other, Project: shop.Project}, "!"+why)
		if n := len(k.requests()); n > 2 {
			t.Errorf("%s: while it rests, %d requests came", why, n)
		}
		k.later()
		reads(t, p, shop, "fact: The port is 8080.; ")
		got := k.log.String()
		if strings.Count(got, "\n") != 1 || !strings.Contains(got, why) || strings.Contains(got, "hidden") {
			t.Errorf("the log says %s", got)
		}
	}
	f("it answered 500", func(k *keeper) { k.status(500) })
	f("it answered 302", func(k *keeper) { k.status(302) })
	f("it did not answer {", func(k *keeper) { k.says("no JSON") })
	f("its answer has more than 65536 bytes", func(k *keeper) { k.says(`{"entries":[]}` + strings.Repeat(" ", mostAnswer)) })
	f("refused", func(k *keeper) { k.Close() })
}

func TestAServerThatAnswersAgainIsBelieved(t *testing.T) {
	k := keep(t)
	p := k.place()
	k.status(503)
	reads(t, p, shop, "!it answered 503")
	k.says(`{"entries":[{"kind":"fact","text":"The port is 8080."}]}`)
	reads(t, p, shop, "!it answered 503")
	k.later()
	reads(t, p, shop, "fact: The port is 8080.; ")
	if got := k.log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "answers again") {
		t.Errorf("the log says %s", got)
	}
}

// A server that does not answer in time is as good as none.
func TestASlowServerIsNotWaitedFor(t *testing.T) {
	k := keep(t)
	hold := make(chan struct{})
	k.does(func(http.ResponseWriter, *http.Request, string) { <-hold })
	defer close(hold)
	p := k.place()
	p.options.Wait = time.Nanosecond
	reads(t, p, shop, "!deadline exceeded")
}

func TestWhatIsLearnedIsSent(t *testing.T) {
	k := keep(t)
	p := k.place()
	k.says(`{"entries":[{"kind":"fact","text":"The port is 8080."}]}`)
	reads(t, p, shop, "fact: The port is 8080.; ")
	said := memory.Learned{Drop: []string{"0123abcd"}, Add: []memory.Entry{
		{Kind: memory.Pitfall, Text: "The tests\nneed Redis."}, {Kind: "odd", Text: "password = hunter2"}}}
	if err := p.Learn(shop, said); err != nil {
		t.Fatal(err)
	}
	came := k.requests()
	last, found := strings.CutPrefix(came[len(came)-1], "POST /hidden?key=hidden ")
	want := `{"scope":"` + scopeOf(shop) + `","project":"/work/shop \u0026 co","learned":{"add":[{"kind":"pitfall","text":` +
		`"The tests need Redis.","at":"2026-11-20T12:00:00Z"}],"drop":["0123abcd"]}}`
	if !found || last != want || !json.Valid([]byte(last)) {
		t.Errorf("got  %s\nwant %s", last, want)
	}
	k.status(500)
	reads(t, p, shop, "fact: The port is 8080.; pitfall: The tests need Redis.; ") // known, as it was taken
	if err := p.Learn(shop, said); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("what is refused is learned: %v", err)
	}
	if err := p.Learn(memory.Owner{Scope: "s"}, said); err != nil {
		t.Error(err)
	}
}

func TestOnlySoManyMemoriesAreRemembered(t *testing.T) {
	k := keep(t)
	p := k.place()
	for i := range mostKnown + 1 {
		reads(t, p, memory.Owner{Project: strings.Repeat("p", i+1)}, "")
	}
	if len(p.known) != 1 {
		t.Errorf("%d are remembered", len(p.known))
	}
}

// A server that fails one request while it answers another one is not left alone once the answer is there.
func TestAServerThatAnswersIsAskedAgain(t *testing.T) {
	k := keep(t)
	p := k.place()
	begun, fails := make(chan bool), make(chan bool)
	k.does(func(w http.ResponseWriter, _ *http.Request, _ string) {
		begun <- true
		<-fails
		_, _ = io.WriteString(w, `{"entries":[]}`)
	})
	answered := make(chan error)
	go func() {
		_, err := p.Read(memory.Owner{Project: "slow"})
		answered <- err
	}()
	<-begun
	k.status(http.StatusInternalServerError)
	if _, err := p.Read(shop); err == nil {
		t.Fatal("a server that fails is no error")
	}
	close(fails)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	k.says(`{"entries":[{"kind":"fact","text":"The port is 8080."}]}`)
	reads(t, p, shop, "fact: The port is 8080.; ")
}

// An answer that is no HTTP is told in few words on one line, whatever the server has sent.
func TestWhatIsNoHTTPIsToldInFewWords(t *testing.T) {
	k := keep(t)
	k.does(func(w http.ResponseWriter, _ *http.Request, _ string) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\x1b[31mred\u202e"+strings.Repeat("long ", 10_000)+"\r\n\r\n")
		_ = conn.Close()
	})
	_, err := k.place().Read(shop)
	if err == nil || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\x1b\r\n\u202e") {
		t.Errorf("the error is %.400q", err)
	}
}
