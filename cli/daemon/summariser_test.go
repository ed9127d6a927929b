package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/console"
	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/summarize"
	"epitome/summarize/prose"
)

// asking is a proxy with all that it keeps, in front of a scripted upstream with the name "up".
type asking struct {
	*shapers
	t     *testing.T
	up    *fakeapi.Upstream
	log   *scriptedtest.Diary
	url   string
	shape func(rewrite.Input) rewrite.Output // of the next request
	end   func()                             // closes all of it, once
}

// Shape is what shapes the next request.
func (r *asking) Shape(a rewrite.Input) rewrite.Output { return r.shape(a) }

// askingWith opens what is kept in a folder. change changes the defaults.
func askingWith(t *testing.T, folder string, change func(*config.Config), script string) *asking {
	t.Helper()
	r := &asking{t: t, up: scriptedtest.Start(t, script), log: &scriptedtest.Diary{}}
	conf := config.Defaults(configtest.Text())
	conf.Upstream, conf.Upstreams["up"] = "up", proxy.UpstreamConfig{URL: r.up.URL()}
	change(&conf)
	if err := conf.Validate(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	kept, err := openStorage(conf, folder, "127.0.0.1:7070", log)
	if err != nil {
		t.Fatal(err)
	}
	upstreams := upstreamsOf(conf)
	r.shapers = newShapers(conf, kept, upstreams, console.NewLog(log))
	plugs := r.plug(proxy.Deps{
		Own: http.NotFoundHandler(), Record: func(event.Exchange) {}, Log: log, Dialects: []proxy.Dialect{chat.Dialect{}},
	})
	plugs.Shaper = r
	p := proxy.New(upstreams, plugs)
	ln, err := config.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.Serve(ln) }()
	r.url = "http://" + ln.Addr().String()
	r.end = sync.OnceFunc(func() {
		p.Shutdown()
		r.close()
	})
	t.Cleanup(r.end)
	return r
}

const (
	clientsKey  = "Bearer sk-client"
	clientsBody = `{"model":"m","messages":[{"role":"user","content":"fix it"},{"role":"assistant","content":"done"},{"role":"user","content":"go on"}],"stream":true}`
)

// chats sends a conversation through the proxy, which is shaped by shape.
func (r *asking) chats(shape func(rewrite.Input)) {
	r.t.Helper()
	r.shape = func(a rewrite.Input) rewrite.Output {
		shape(a)
		return rewrite.Output{Body: a.Body}
	}
	req, err := http.NewRequest(http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(clientsBody))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", clientsKey)
	resp, err := scriptedtest.Direct().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); string(text) != "hello" || err != nil {
		r.t.Fatalf("the client got %q, %v", text, err)
	}
}

// credential is the client's.
func (r *asking) credential() (c any) {
	r.t.Helper()
	r.chats(func(a rewrite.Input) { c = a.Client.Credential() })
	return c
}

// chatting answers the client's own request.
const chatting = "-- POST /v1/chat/completions --\nexpect-header Authorization: " + clientsKey + "\nstatus 200 OK\nbody hello\n"

// aSummary is what a model should answer.
func aSummary() string {
	var b strings.Builder
	for _, heading := range []string{"Goal", "Constraints", "Progress", "Key Decisions", "Failed Approaches",
		"Open Issues", "Next Steps", "Critical Values"} {
		fmt.Fprintf(&b, "## %s\nabout %s\n", heading, strings.ToLower(heading))
	}
	return b.String()
}

// summarizing answers a question that comes with the key, after the lines that are played before.
func summarizing(key string, before ...string) string {
	text, err := json.Marshal(aSummary())
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("-- POST /v1/chat/completions --\nexpect-header Authorization: %s\n%sstatus 200 OK\nheader Content-Type: application/json\nbody %q\n",
		key, strings.Join(append(before, ""), "\n"), `{"choices":[{"index":0,"message":{"role":"assistant","content":`+string(text)+
			`},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":80,"prompt_tokens_details":{"cached_tokens":900}}}`)
}

// inQuestion is a question about the client's conversation.
func inQuestion(key string, credential any) prose.Question {
	return prose.Question{
		Key: key, Conversation: "c1", Upstream: "up", Model: "m", Credential: credential,
		Continue: []byte(clientsBody),
		Transcript: []prose.Entry{
			{Group: 1, Kind: prose.User, Text: "fix it"},
			{Group: 2, Kind: prose.Result, Tool: "bash", State: "exit code 2", Text: "no"},
		},
		SpanTokens: 10_000, Room: 2_000, Usable: 100_000,
	}
}

func asDefault(*config.Config) {}

// looked wants prose under the key, or none that is being made or not.
func looked(t *testing.T, s rewrite.Summarizer, key string, want, making bool) prose.Prose {
	t.Helper()
	p, found, pending := s.Look(key)
	if found != want || pending != making || want && p.Text != aSummary() || !want && p != (prose.Prose{}) {
		t.Fatalf("%s: %+v, found %v, pending %v", key, p, found, pending)
	}
	return p
}

func TestSummaryIsAskedForTheClientAndOutlivesTheProcess(t *testing.T) {
	folder := t.TempDir()
	r := askingWith(t, folder, asDefault, summarizing(clientsKey)+chatting)
	looked(t, r.summarizer, "key", false, false)
	var made prose.Prose
	r.chats(func(a rewrite.Input) {
		q := inQuestion("key", a.Client.Credential())
		q.Continue = bytes.Clone(a.Body)
		var err error
		if made, err = r.summarizer.Ask(a.Client.Context(), q); err != nil {
			t.Error(err)
		}
	})
	if made.Text != aSummary() || made.Requests != 1 ||
		made.InputTokens != 1000 || made.CachedTokens != 900 || made.OutputTokens != 80 || made.Took <= 0 {
		t.Errorf("got %+v", made)
	}
	sent := r.up.Requests()
	head, rest, _ := strings.Cut(clientsBody, `],"stream"`)
	asked := string(sent[0].Body)
	if len(sent) != 2 || string(sent[1].Body) != clientsBody || rest == "" || !strings.HasPrefix(asked, head+`,{"role":"user","content":"This is not the user`) ||
		!strings.HasSuffix(asked, `}],"max_tokens":8000}`) {
		t.Errorf("of %d requests the first one asks %s", len(sent), asked)
	}
	if p := looked(t, r.summarizer, "key", true, false); p != made {
		t.Errorf("found %+v, made %+v", p, made)
	}
	r.end()

	k := keptIn(t, folder, io.Discard) // nobody can be asked there
	defer k.close()
	if p := looked(t, k.summarizer, "key", true, false); p != made {
		t.Errorf("after a restart %+v, before %+v", p, made)
	}
	if p, err := k.summarizer.Ask(t.Context(), inQuestion("key", nil)); p != made || err != nil {
		t.Errorf("it is asked for again: %+v, %v", p, err)
	}
}

func TestAnotherUpstreamIsAskedWithItsOwnKey(t *testing.T) {
	t.Setenv("EPITOME_TEST_KEY", "sk-ours")
	other := scriptedtest.Start(t, summarizing("Bearer sk-ours"))
	r := askingWith(t, t.TempDir(), func(c *config.Config) {
		c.Upstreams["other"] = proxy.UpstreamConfig{URL: other.URL()}
		c.Summarize.Model, c.Summarize.Upstream, c.Summarize.KeyEnv = "small", "other", "EPITOME_TEST_KEY"
		c.Window.Models = map[string]unit.Tokens{"small": 8192}
	}, chatting)
	p, err := r.summarizer.Ask(t.Context(), inQuestion("key", r.credential()))
	if err != nil || p.Text != aSummary() {
		t.Fatalf("got %+v, %v", p, err)
	}
	asked := other.Requests()[0]
	body := string(asked.Body)
	if !strings.HasPrefix(body, `{"model":"small","messages":[{"role":"system"`) || !strings.HasSuffix(body, `}],"max_tokens":1024}`) ||
		!strings.Contains(body, ` result bash, exit code 2]\nno\n`) || strings.Contains(string(asked.RawHead)+body, "sk-client") {
		t.Errorf("the other upstream got %s%s", asked.RawHead, body)
	}
	if n := len(r.up.Requests()); n != 1 {
		t.Errorf("the conversation's own upstream got %d requests", n)
	}
}

func TestPreparingIsOffForLocalUpstreams(t *testing.T) {
	k := keptIn(t, t.TempDir(), io.Discard)
	defer k.close()
	conf := config.Defaults(configtest.Text())
	conf.Upstreams["far"], conf.Upstreams["near"] = proxy.UpstreamConfig{URL: "https://api.example.com/v1"}, proxy.UpstreamConfig{}
	f := func(want bool, upstream string) {
		t.Helper()
		k.configure(conf)
		if got := k.summarizer.Prepares(upstream); got != want {
			t.Errorf("prepare %q, asking %q: prepares for %s (%s): %v", conf.Summarize.Prepare, conf.Summarize.Upstream, upstream, conf.Upstreams[upstream].URL, got)
		}
	}
	at := func(want bool, hosts ...string) {
		t.Helper()
		for _, host := range hosts {
			conf.Upstreams["near"] = proxy.UpstreamConfig{URL: "http://" + host + "/v1"}
			f(want, "near")
		}
	}
	at(false, "127.0.0.1:8000", "127.8.8.8", "[::1]:8000", "localhost", "LocalHost:11434", "localhost.", "10.0.0.5",
		"172.16.9.9", "192.168.1.2:8080",
		"169.254.1.1", "[fe80::1%25eth0]:80", "[fd00::1]", "[::ffff:192.168.1.2]", "0.0.0.0:8000", "gpu",
		"gpu:8000", "nas.local", "llm.corp.internal.",
		"a.localhost", "host.docker.internal:11434")
	at(true, "api.example.com", "8.8.8.8", "172.32.0.1", "[2001:db8::1]", "local.example.com", "internal.example",
		"x.notlocal", "mylocal.dev")
	f(true, "far")
	f(false, "nobody")

	at(false, "10.0.0.5")
	conf.Summarize.Prepare = "on"
	f(true, "near")
	conf.Summarize.Prepare = "off"
	f(false, "far")
	conf.Summarize.Prepare, conf.Summarize.Model, conf.Summarize.Upstream = "auto", "small", "near"
	f(true, "far") // the server nearby has no conversation of the agent's
	f(false, "near")
	conf.Summarize.Upstream = "far"
	f(true, "near")
}

// What is asked ends before the store does, so that nothing is lost that was paid for, and quickly.
func TestClosingEndsSummaries(t *testing.T) {
	once := strings.Replace(chatting, "status ", "keep-alive off\nstatus ", 1) // so that it is known on which connection the question comes
	r := askingWith(t, t.TempDir(), asDefault, once+"-- POST /v1/chat/completions --\nawait-close\n")
	credential := r.credential()
	failed := make(chan error)
	go func() {
		_, err := r.summarizer.Ask(context.Background(), inQuestion("key", credential))
		failed <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), scriptedtest.Patience)
	defer cancel()
	if err := r.up.Await(ctx, "waiting 2 close"); err != nil {
		t.Fatal(err)
	}
	r.close()
	if err := <-failed; !errors.Is(err, summarize.ErrClosed) {
		t.Errorf("an asker is told %v", err)
	}
	if err := r.up.Await(ctx, "gone 2"); err != nil {
		t.Error(err)
	}
	if err := r.storage.store.Put("a", []byte("b"), time.Hour); err == nil {
		t.Error("the store is open")
	}
	if strings.Contains(r.log.String(), "does not end") {
		t.Errorf("logged: %s", r.log)
	}
}
