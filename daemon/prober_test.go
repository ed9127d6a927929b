package daemon

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/proxy/route"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/scripted/scriptedtest"
	"epitome/unit"
	"epitome/window"
)

// hands are a clock that is set by hand.
type hands struct {
	mu sync.Mutex
	at time.Time
}

func (h *hands) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hands) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// probing is a rig in which conversations are shaped as they are when epitome serves.
type probing struct {
	*asking
	clock *hands

	mu       sync.Mutex
	believed int // tokens, by which the last conversation was shaped
}

// talks takes any number of conversations, and silent says nothing of windows.
const (
	talks  = "-- POST /v1/chat/completions --\nrepeat\nstatus 200 OK\nbody hello\n"
	silent = "-- GET * --\nrepeat\nstatus 404 Not Found\nbody no\n"
)

func probingWith(t *testing.T, change func(*config.Config), script string) *probing {
	t.Helper()
	r := &probing{asking: askingWith(t, t.TempDir(), change, script+talks), clock: &hands{at: time.Now()}}
	r.prober.now = r.clock.now
	r.shape = func(a rewrite.Input) rewrite.Output {
		s := r.live.Shape(a)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.believed = s.Report.Window
		return s
	}
	return r
}

// converse sends a conversation with the model, which is to be shaped by a window of so many tokens.
func (r *probing) converse(model string, want int, lines ...string) {
	r.t.Helper()
	body := strings.Replace(clientsBody, `"m"`, fmt.Sprintf("%q", model), 1)
	req, err := http.NewRequest(http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", clientsKey)
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		req.Header.Set(name, value)
	}
	resp, err := scriptedtest.Direct().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); string(text) != "hello" || err != nil {
		r.t.Fatalf("the client got %q, %v", text, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.believed != want {
		r.t.Errorf("%s is believed to hold %d, want %d", model, r.believed, want)
	}
}

// looks are the requests that were no conversations, in order.
func (r *probing) looks() (all []string) {
	for _, q := range r.up.Requests() {
		if !strings.HasSuffix(q.Target, "/chat/completions") {
			all = append(all, q.Method+" "+q.Target)
		}
	}
	return all
}

// settled waits until nothing is being asked.
func (r *probing) settled() {
	r.t.Helper()
	if !scriptedtest.Eventually(func() bool {
		r.prober.mu.RLock()
		defer r.prober.mu.RUnlock()
		for _, s := range r.prober.servers {
			if s.working {
				return false
			}
		}
		return true
	}) {
		r.t.Fatal("it is asked forever")
	}
}

// says wants a line in the log.
func (r *probing) says(want bool, line string) {
	r.t.Helper()
	if regexp.MustCompile(line).MatchString(r.log.String()) != want {
		r.t.Errorf("a line %s in the log: want %v\n%s", line, want, r.log)
	}
}

// get is a section that answers a look with a body.
func get(target, body string) string {
	return fmt.Sprintf("-- GET %s --\nrepeat\nexpect-no-header Authorization\nexpect-header User-Agent: epitome\nstatus 200 OK\nbody %q\n", target, body)
}

func TestServersOfEachKindAreAsked(t *testing.T) {
	const v1, props, ps = "GET /v1/models", "GET /props?model=m%2Fx&autoload=false", "GET /api/ps"
	none, list := get("/v1/models", `{"data":[{"id":"m/x"},{"id":"n"}]}`), `{"data":[{"id":"m/x","%s":24576},{"id":"n","%[1]s":4096}]}`
	f := func(kind, script string, looks ...string) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := probingWith(t, asDefault, script+silent)
			r.converse("m/x", 128_000)
			r.settled()
			r.converse("m/x", 24_576)
			r.settled()
			if got := r.looks(); !slices.Equal(got, looks) {
				t.Errorf("it was asked %q, want %q", got, looks)
			}
			_, path, _ := strings.Cut(looks[len(looks)-1], " ")
			path, _, _ = strings.Cut(path, "?")
			r.says(true, `level=INFO msg="a server says how much a model holds" upstream=up model=m/x window=24576 path=`+path+` believed=128000 from=default\n`)
			r.end()
			if text := r.log.String(); strings.Contains(text, "sk-client") || strings.Contains(text, "level=WARN") {
				t.Errorf("logged: %s", text)
			}
		})
	}
	f("vLLM", get("/v1/models", fmt.Sprintf(list, "max_model_len")), v1)
	f("provider", get("/v1/models", fmt.Sprintf(list, "context_length")), v1)
	f("llama.cpp", none+get("/props*", `{"default_generation_settings":{"n_ctx":24576}}`), v1, props)
	f("Ollama", none+get("/api/ps", `{"models":[{"model":"m/x:latest","context_length":24576}]}`), v1, props, ps)
	f("Ollama before it has loaded", none+get("/api/ps", `{"models":[]}`)+"-- POST /api/show --\nexpect-no-header Authorization\n"+
		`expect-body {"model":"m/x"}`+"\nstatus 200 OK\n"+`body {"parameters":"num_ctx 24576"}`+"\n", v1, props, ps, "POST /api/show")
	f("LM Studio", none+get("/api/v0/models", `{"data":[{"id":"m/x","loaded_context_length":24576,"max_context_length":40960}]}`),
		v1, props, ps, "GET /api/v0/models")
	f("LM Studio later", none+get("/api/v1/models", `{"models":[{"key":"m/x","loaded_instances":[{"id":"m/x","config":{"context_length":24576}}]}]}`),
		v1, props, ps, "GET /api/v0/models", "GET /api/v1/models")
	f("of which one path is broken", "-- GET /v1/models --\nstatus 500 No\nbody no\n"+get("/props*", `{"default_generation_settings":{"n_ctx":24576}}`), v1, props)
}

func TestNobodyWaitsForAProbe(t *testing.T) {
	r := probingWith(t, asDefault, "-- GET /v1/models --\nrepeat\nawait more\nstatus 200 OK\n"+
		`body {"data":[{"id":"m","max_model_len":24576},{"id":"n","max_model_len":32768}]}`+"\n")
	for range 3 {
		r.converse("m", 128_000)
		r.converse("n", 128_000)
	}
	if n := len(r.looks()); n > 1 {
		t.Errorf("it is asked %d things at a time", n)
	}
	r.up.Release("more")
	r.settled()
	r.converse("m", 24_576)
	r.converse("n", 32_768)
	if n := len(r.looks()); n != 2 {
		t.Errorf("it was asked %d times, want once for each model", n)
	}
}

func TestWhatAServerSaidHoldsForAnHour(t *testing.T) {
	of := func(tokens int) string {
		return fmt.Sprintf("-- GET /v1/models --\nstatus 200 OK\nbody {\"data\":[{\"id\":\"m\",\"max_model_len\":%d}]}\n", tokens)
	}
	r := probingWith(t, asDefault, of(24_576)+of(24_576)+of(65_536)+silent)
	f := func(pass time.Duration, before, after, asked int) {
		t.Helper()
		r.clock.pass(pass)
		r.converse("m", before)
		r.settled()
		r.converse("m", after)
		r.settled()
		if n := len(r.looks()); n != asked {
			t.Errorf("after %v more it was asked %d times, want %d: %q", pass, n, asked, r.looks())
		}
	}
	f(0, 128_000, 24_576, 1)
	f(time.Hour-time.Second, 24_576, 24_576, 1)
	f(time.Second, 24_576, 24_576, 2)
	r.says(true, `level=DEBUG msg="a server says again `)
	f(time.Hour, 24_576, 65_536, 3)
	r.says(true, `level=INFO .* window=65536 path=/v1/models believed=24576 from=probed`)

	// What it does not say any more is not forgotten at once: it may be loading the model.
	f(time.Hour, 65_536, 65_536, 8)
	f(29*time.Second, 65_536, 65_536, 8)
	f(time.Second, 65_536, 128_000, 13)
	f(5*time.Minute-time.Second, 128_000, 128_000, 13)
	f(time.Second, 128_000, 128_000, 18)
}

func TestServerThatCannotBeAskedIsLeftAlone(t *testing.T) {
	f := func(answer string, looks int, says string) {
		t.Helper()
		r := probingWith(t, asDefault, "-- GET * --\nrepeat\n"+answer)
		r.lessons.Probe("up", "m", 65_536)
		for _, pass := range []time.Duration{0, time.Second, 29 * time.Second, 5*time.Minute - time.Second} {
			r.clock.pass(pass)
			r.converse("m", 65_536)
			r.settled()
		}
		if n := len(r.looks()); n != 2*looks {
			t.Errorf("%s: it was asked %d times, want twice %d", answer, n, looks)
		}
		r.says(true, `level=DEBUG msg="a server could not be asked how much a model holds" upstream=up model=m error="`+says)
	}
	f("status 401 No\nbody no\n", 1, "it answered with status 401")
	f("status 429 No\nbody no\n", 1, "it answered with status 429")
	f("status 503 No\nbody no\n", 5, "it answered with status 503")
	f("hangup\n", 1, "cannot ask upstream up: ")
	f("status 200 OK\nheader Content-Length: 100\nbody {}\nhangup\n", 1, "cannot read the answer to its end")
}

func TestLessThanIsConfiguredCountsWithAWarning(t *testing.T) {
	configured := func(tokens int) func(*config.Config) {
		return func(c *config.Config) { c.Window.Models = map[string]unit.Tokens{"m*": unit.Tokens(tokens)} }
	}
	list := get("/v1/models", `{"data":[{"id":"m","max_model_len":24576}]}`)
	r := probingWith(t, configured(100_000), list)
	r.converse("m", 100_000)
	r.settled()
	r.converse("m", 24_576)
	const warning = `level=WARN msg="a server says that a model holds less than is configured: what it says counts" upstream=up model=m window=24576 .*configured=100000 do=`
	r.says(true, warning)
	r.clock.pass(time.Hour)
	r.converse("m", 24_576)
	r.settled()
	if n := strings.Count(r.log.String(), "level=WARN"); n != 1 {
		t.Errorf("it warns %d times", n)
	}

	r = probingWith(t, configured(16_384), list)
	r.converse("m", 16_384)
	r.settled()
	r.converse("m", 16_384)
	r.says(false, "level=WARN")
	r.says(true, `level=INFO msg="a server says how much a model holds" .* believed=16384 from=configured`)
}

func TestReloadSaysWhoIsAsked(t *testing.T) {
	r := probingWith(t, asDefault, get("/v1/models", `{"data":[{"id":"m","max_model_len":24576}]}`))
	reload := func(change func(*config.Config)) {
		t.Helper()
		conf := config.Defaults(configtest.Text())
		conf.Upstream, conf.Upstreams["up"] = "up", route.UpstreamConfig{URL: r.up.URL()}
		change(&conf)
		if err := r.prober.proxy.Load().Reload(conf.Settings()); err != nil {
			t.Fatal(err)
		}
		r.configure(conf)
	}
	f := func(before, after, asked int) {
		t.Helper()
		r.converse("m", before)
		r.settled()
		r.converse("m", after)
		r.settled()
		if n := len(r.looks()); n != asked {
			t.Errorf("it was asked %d times, want %d", n, asked)
		}
	}
	f(128_000, 24_576, 1)
	reload(asDefault)
	f(24_576, 24_576, 2) // the server may be another one, too
	reload(func(c *config.Config) { c.Window.Probe = false })
	f(128_000, 128_000, 2)
	reload(asDefault)
	f(128_000, 24_576, 3)
	reload(func(c *config.Config) { c.Upstreams["up"] = route.UpstreamConfig{URL: r.up.URL() + "/v1"} })
	f(128_000, 24_576, 4)
}

func TestOnlyConversationsThatAreShapedHaveServersAsked(t *testing.T) {
	f := func(what string, change func(*config.Config), do func(r *probing)) {
		t.Helper()
		r := probingWith(t, change, silent)
		do(r)
		r.settled()
		if got := r.looks(); len(got) > 0 || len(r.prober.findings) > 0 {
			t.Errorf("%s: asked %q", what, got)
		}
	}
	asked := func(r *probing) rewrite.Input {
		limits := config.Defaults(configtest.Text()).Rewrite
		return rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(clientsBody), Upstream: "up", Limits: &limits}
	}
	f("switched off", func(c *config.Config) { c.Window.Probe = false }, func(r *probing) { r.converse("m", 128_000) })
	f("mode observe", asDefault, func(r *probing) { r.converse("m", 0, "x-epitome-mode: observe") })
	f("mode off", asDefault, func(r *probing) { r.converse("m", 0, "x-epitome-mode: off") })
	f("the shadow", asDefault, func(r *probing) { r.shadow.Shape(asked(r)) })
	f("by hand", asDefault, func(r *probing) { r.byHand().Shape(asked(r)) })
	f("a long name", asDefault, func(r *probing) { r.converse(strings.Repeat("m", mostName+1), 128_000) })
	f("before there is a proxy", asDefault, func(r *probing) {
		r.askThrough(nil)
		r.live.Shape(asked(r))
	})
}

func TestOnlyServersThatTellAreAsked(t *testing.T) {
	f := func(base string, bare, keyed bool) {
		t.Helper()
		u := route.UpstreamConfig{URL: base}
		if s := serverOf("up", u); (s != nil) != bare {
			t.Errorf("%s is asked: %v", base, s != nil)
		}
		u.Headers = map[string]string{"authorization": "Bearer sk-ours"}
		if s := serverOf("up", u); (s != nil) != keyed || s != nil && s.own != config.IsLocal(base) {
			t.Errorf("%s with a key is asked: %v", base, s)
		}
		u.Headers = map[string]string{"Authorization": "", "X-Team": "ours"}
		if s := serverOf("up", u); (s != nil) != bare {
			t.Errorf("%s without a key is asked: %v", base, s != nil)
		}
	}
	for _, base := range []string{"http://127.0.0.1:8000/v1", "http://localhost:11434", "http://gpu:8000/v1",
		"http://192.168.1.7:1234/v1", "https://openrouter.ai/api/v1"} {
		f(base, true, true)
	}
	for _, base := range []string{"https://api.groq.com/openai/v1", "https://api.together.xyz/v1",
		"https://api.fireworks.ai/inference/v1", "https://API.mistral.ai/v1",
		"https://api.moonshot.ai/v1", "https://api.moonshot.cn/v1"} {
		f(base, false, true)
	}
	for _, base := range []string{"https://api.openai.com/v1", "https://api.anthropic.com", "https://api.x.ai/v1",
		"https://api.deepseek.com", "https://example.com/openrouter.ai",
		"https://openrouter.ai.example.com", "https://llm.example.com/v1", "::"} {
		f(base, false, false)
	}
}

// What is asked ends before the store does, and quickly; afterwards nothing is.
func TestClosingEndsProbes(t *testing.T) {
	r := probingWith(t, asDefault, "-- GET /v1/models --\nawait-close\n")
	r.converse("m", 128_000)
	waits := func(line string) bool { return strings.HasPrefix(line, "waiting ") } // on whichever connection
	if !scriptedtest.Eventually(func() bool { return slices.ContainsFunc(r.up.Trace(), waits) }) {
		t.Fatal("it is not asked")
	}
	r.close() // while the proxy still serves
	r.prober.mu.RLock()
	if r.prober.servers["up"].working {
		t.Error("it is still being asked")
	}
	r.prober.mu.RUnlock()
	if got := r.windows.Load().Of("up", "m"); got.Source != window.Default {
		t.Errorf("the window is %v", got)
	}
	r.prober.noteUse("up", "m")
	r.prober.noteUse("up", "n")
	r.settled()
	if n := len(r.looks()); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	r.says(false, "level=(WARN|ERROR)")
}

func TestProbesAreBounded(t *testing.T) {
	r := probingWith(t, asDefault, "-- GET /v1/models --\nawait more\nstatus 401 No\nbody no\n-- GET /v1/models --\nrepeat\nstatus 401 No\nbody no\n")
	p := r.prober
	for i := range 2 * mostQueued {
		p.noteUse("up", fmt.Sprintf("model-%d", i))
	}
	p.mu.RLock()
	if n := len(p.servers["up"].queue); n > mostQueued || len(p.findings) > mostQueued+1 {
		t.Errorf("%d wait, and %d are known", n, len(p.findings))
	}
	p.mu.RUnlock()
	r.up.Release("more")
	for i := range 2 * mostFindings {
		p.noteUse("up", fmt.Sprintf("model-%d", i))
		r.settled()
	}
	if n := len(p.findings); n != mostFindings {
		t.Errorf("%d are known, want %d", n, mostFindings)
	}
	n := len(r.looks())
	p.noteUse("up", "one more")
	r.settled()
	r.clock.pass(keepMissed) // now there is room
	p.noteUse("up", "one more")
	r.settled()
	if got := len(r.looks()); got != n+1 {
		t.Errorf("one more was asked about %d times", got-n)
	}

	body := []byte("name")
	p.noteUse("up", unsafe.String(&body[0], len(body)))
	r.settled()
	copy(body, "####")
	if _, known := p.findings[probed{"up", "name"}]; !known {
		t.Error("a name is kept as a part of the request")
	}
}

func TestWhatIsKnownCostsALookUp(t *testing.T) {
	r := probingWith(t, asDefault, silent)
	r.converse("m", 128_000)
	r.settled()
	for _, upstream := range []string{"up", "openai"} {
		if n := testing.AllocsPerRun(100, func() { r.prober.noteUse(upstream, "m") }); n > 0 {
			t.Errorf("%s: %v allocations", upstream, n)
		}
	}
}
