package probing

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/event"
	"epitome/proxy"
	"epitome/proxy/route"
	"epitome/scripted"
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

// silent says nothing of windows.
const silent = "-- GET * --\nrepeat\nstatus 404 Not Found\nbody no\n"

// rig is a prober that asks a scripted upstream with the name "up".
type rig struct {
	*Prober
	t       *testing.T
	up      *scripted.Upstream
	through *proxy.Proxy
	log     *scriptedtest.Diary
	clock   *hands
}

func asDefault(*config.Config) {}

// newRig starts one. change changes the defaults.
func newRig(t *testing.T, change func(*config.Config), script string) *rig {
	t.Helper()
	r := &rig{t: t, up: scriptedtest.Start(t, script), log: &scriptedtest.Diary{}, clock: &hands{at: time.Now()}}
	conf := r.conf(change)
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o := Options{Windows: &atomic.Pointer[window.Windows]{}, Lessons: window.NewLessons(nil, time.Now), Log: log,
		Now: r.clock.now}
	o.Windows.Store(window.New(conf.Window, o.Lessons))
	var err error
	r.through, err = proxy.New(conf.Settings(), proxy.Plugs{
		Own: http.NotFoundHandler(), Record: func(event.Exchange) {}, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Prober = New(conf, o)
	r.AskThrough(r.through)
	t.Cleanup(func() {
		r.through.Shutdown()
		r.Close()
	})
	return r
}

// conf are the defaults with the upstream, as change leaves them.
func (r *rig) conf(change func(*config.Config)) config.Config {
	r.t.Helper()
	conf := config.Defaults(configtest.Text())
	conf.Upstream, conf.Upstreams["up"] = "up", route.UpstreamConfig{URL: r.up.URL()}
	change(&conf)
	if err := conf.Validate(); err != nil {
		r.t.Fatal(err)
	}
	return conf
}

// reload puts the defaults in force again, as change leaves them.
func (r *rig) reload(change func(*config.Config)) {
	r.t.Helper()
	conf := r.conf(change)
	if err := r.through.Reload(conf.Settings()); err != nil {
		r.t.Fatal(err)
	}
	r.Windows.Store(window.New(conf.Window, r.Lessons))
	r.Configure(conf)
}

// converse has a conversation with the model, which is to be believed to hold so many tokens.
func (r *rig) converse(model string, want int) {
	r.t.Helper()
	of := r.Watching(func(upstream, model string, _ int) (tokens, usable int) {
		return r.Windows.Load().Of(upstream, model).Tokens, 0
	})
	if got, _ := of("up", model, 0); got != want {
		r.t.Errorf("%s is believed to hold %d, want %d", model, got, want)
	}
}

// looks are the requests to the upstream, in order.
func (r *rig) looks() (all []string) {
	for _, q := range r.up.Requests() {
		all = append(all, q.Method+" "+q.Target)
	}
	return all
}

// settled waits until nothing is being asked.
func (r *rig) settled() {
	r.t.Helper()
	if !scriptedtest.Eventually(func() bool {
		r.mu.RLock()
		defer r.mu.RUnlock()
		for _, s := range r.servers {
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
func (r *rig) says(want bool, line string) {
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
			r := newRig(t, asDefault, script+silent)
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
			r.says(false, "level=WARN")
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
	r := newRig(t, asDefault, "-- GET /v1/models --\nrepeat\nawait more\nstatus 200 OK\n"+
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
	r := newRig(t, asDefault, of(24_576)+of(24_576)+of(65_536)+silent)
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
		r := newRig(t, asDefault, "-- GET * --\nrepeat\n"+answer)
		r.Lessons.Probe("up", "m", 65_536)
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
	r := newRig(t, configured(100_000), list)
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

	r = newRig(t, configured(16_384), list)
	r.converse("m", 16_384)
	r.settled()
	r.converse("m", 16_384)
	r.says(false, "level=WARN")
	r.says(true, `level=INFO msg="a server says how much a model holds" .* believed=16384 from=configured`)
}

func TestReloadSaysWhoIsAsked(t *testing.T) {
	r := newRig(t, asDefault, get("/v1/models", `{"data":[{"id":"m","max_model_len":24576}]}`))
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
	r.reload(asDefault)
	f(24_576, 24_576, 2) // the server may be another one, too
	r.reload(func(c *config.Config) { c.Window.Probe = false })
	f(128_000, 128_000, 2)
	r.reload(asDefault)
	f(128_000, 24_576, 3)
	r.reload(func(c *config.Config) { c.Upstreams["up"] = route.UpstreamConfig{URL: r.up.URL() + "/v1"} })
	f(128_000, 24_576, 4)
}

func TestWhatIsNotToBeAskedIsNot(t *testing.T) {
	f := func(what string, change func(*config.Config), do func(r *rig)) {
		t.Helper()
		r := newRig(t, change, silent)
		do(r)
		r.settled()
		if got := r.looks(); len(got) > 0 || len(r.findings) > 0 {
			t.Errorf("%s: asked %q", what, got)
		}
	}
	f("switched off", func(c *config.Config) { c.Window.Probe = false }, func(r *rig) { r.converse("m", 128_000) })
	f("a long name", asDefault, func(r *rig) { r.converse(strings.Repeat("m", mostName+1), 128_000) })
	f("before there is a proxy", asDefault, func(r *rig) {
		r.AskThrough(nil)
		r.converse("m", 128_000)
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
	r := newRig(t, asDefault, "-- GET /v1/models --\nawait-close\n")
	r.converse("m", 128_000)
	waits := func(line string) bool { return strings.HasPrefix(line, "waiting ") } // on whichever connection
	if !scriptedtest.Eventually(func() bool { return slices.ContainsFunc(r.up.Trace(), waits) }) {
		t.Fatal("it is not asked")
	}
	r.Close() // while the proxy still serves
	r.mu.RLock()
	if r.servers["up"].working {
		t.Error("it is still being asked")
	}
	r.mu.RUnlock()
	if got := r.Windows.Load().Of("up", "m"); got.Source != window.Default {
		t.Errorf("the window is %v", got)
	}
	r.noteUse("up", "m")
	r.noteUse("up", "n")
	r.settled()
	if n := len(r.looks()); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	r.says(false, "level=(WARN|ERROR)")
}

func TestProbesAreBounded(t *testing.T) {
	r := newRig(t, asDefault, "-- GET /v1/models --\nawait more\nstatus 401 No\nbody no\n-- GET /v1/models --\nrepeat\nstatus 401 No\nbody no\n")
	p := r.Prober
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
	r := newRig(t, asDefault, silent)
	r.converse("m", 128_000)
	r.settled()
	for _, upstream := range []string{"up", "openai"} {
		if n := testing.AllocsPerRun(100, func() { r.noteUse(upstream, "m") }); n > 0 {
			t.Errorf("%s: %v allocations", upstream, n)
		}
	}
}
