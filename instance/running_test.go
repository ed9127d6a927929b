package instance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/console"
	"epitome/proxy/route"
	"epitome/rewrite/limits"
	"epitome/summarize"
)

func TestWanted(t *testing.T) {
	conf := config.Config{Upstream: "here", Upstreams: map[string]route.UpstreamConfig{
		"here": {URL: "http://here.example/v1/"}, "anthropic": {URL: "https://anthropic.example"},
	}}
	named := false
	f := func(openai, base, anthropic, want string) {
		t.Helper()
		env := map[string]string{"OPENAI_BASE_URL": openai, "OPENAI_API_BASE": base, "ANTHROPIC_BASE_URL": anthropic}
		var got []string
		for _, w := range TargetsOf(conf, func(name string) string { return env[name] }, named) {
			got = append(got, fmt.Sprintf("%s %v %s", w.name, w.v1, w.URL))
		}
		if line := strings.Join(got, ", "); line != want {
			t.Errorf("with %v\n got %s\nwant %s", env, line, want)
		}
	}
	f("", "", "", "run-openai true http://here.example/v1, run-anthropic false https://anthropic.example")
	f("http://a.example/v1", "", "", "run-openai false http://a.example/v1, run-anthropic false https://anthropic.example")
	f("", "http://b.example/", "", "run-openai false http://b.example, run-anthropic false https://anthropic.example")
	f("http://a.example", "http://b.example", "", "run-openai false http://a.example, run-anthropic false https://anthropic.example")
	f("", "", "http://c.example//", "run-openai true http://here.example/v1, run-anthropic false http://c.example")
	named = true
	f("", "", "", "run-openai true http://here.example/v1, run-anthropic false http://here.example/v1")
	f("", "", "http://c.example", "run-openai true http://here.example/v1, run-anthropic false http://c.example")
}

func TestServes(t *testing.T) {
	r := &Running{address: "http://127.0.0.1:7070", upstreams: map[string]string{"a": "http://a.example/v1/", "b": "http://b.example"}}
	f := func(want bool, urls ...string) {
		t.Helper()
		var targets []Target
		for _, u := range urls {
			targets = append(targets, Target{URL: u})
		}
		if got := r.serves(targets); got != want {
			t.Errorf("serves %v: %v, want %v", urls, got, want)
		}
	}
	f(true, "http://a.example/v1", "http://b.example")
	f(true, "http://127.0.0.1:7070", "http://127.0.0.1:7070/u/a/v1")
	f(false, "http://a.example/v1", "http://c.example")
	f(false, "http://a.example")
	f(false, "http://a.example/v1/more")
	f(false, "https://b.example")
	f(false, "http://b.example.evil.example")
	f(false, "http://127.0.0.1:70700")
	f(false, "http://127.0.0.1:7070@evil.example")
}

// last is what a program finds in its environment, where a later entry stands above an earlier one.
func last(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return "(none)"
}

func TestEnviron(t *testing.T) {
	r := &Running{address: "http://127.0.0.1:7070", upstreams: map[string]string{
		"bare": "http://bare.example", "slash": "http://slash.example/v1/", "anthropic": "https://anthropic.example",
		"loop": "http://127.0.0.1:7070/v1",
	}, Card: &Card{path: "/home/x/epitome/running.json"}}
	f := func(url string, v1 bool, want string) {
		t.Helper()
		given := []string{"OPENAI_BASE_URL=before", "KEEP=as it is"}
		env := r.Environ(given, []Target{
			{vars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, URL: url, v1: v1},
			{vars: []string{"ANTHROPIC_BASE_URL"}, URL: "https://anthropic.example"},
		})
		for name, value := range map[string]string{"OPENAI_BASE_URL": want, "OPENAI_API_BASE": want, "KEEP": "as it is",
			"ANTHROPIC_BASE_URL": "http://127.0.0.1:7070/u/anthropic", "NO_PROXY": "(none)",
			RunVariable: "127.0.0.1:7070", FolderVariable: "/home/x/epitome"} {
			if got := last(env, name); got != value {
				t.Errorf("for %s (v1 %v), %s is %s, want %s", url, v1, name, got, value)
			}
		}
		if given[0] != "OPENAI_BASE_URL=before" || len(given) != 2 {
			t.Errorf("the caller's environment was changed to %v", given)
		}
	}
	f("http://bare.example", false, "http://127.0.0.1:7070/u/bare")
	f("http://bare.example", true, "http://127.0.0.1:7070/u/bare/v1")
	f("http://slash.example/v1", false, "http://127.0.0.1:7070/u/slash/v1")
	f("http://slash.example/v1", true, "http://127.0.0.1:7070/u/slash/v1")
	f("http://127.0.0.1:7070/u/bare", false, "http://127.0.0.1:7070/u/bare")
	f("http://127.0.0.1:7070/v1", false, "http://127.0.0.1:7070/v1")
}

func TestClientsThatAddTheVersionGetNone(t *testing.T) {
	r := &Running{address: "http://127.0.0.1:7070", upstreams: map[string]string{
		"bare": "http://bare.example", "slash": "http://slash.example/v1/"}}
	f := func(url, want string) {
		t.Helper()
		if got := r.Base(Target{URL: url, bare: true}); got != want {
			t.Errorf("for %s got %s, want %s", url, got, want)
		}
	}
	f("http://bare.example", "http://127.0.0.1:7070/u/bare")
	f("http://slash.example/v1", "http://127.0.0.1:7070/u/slash")
	f("http://127.0.0.1:7070/v1", "http://127.0.0.1:7070")
}

func TestAround(t *testing.T) {
	f := func(upper, lower string, env ...string) {
		t.Helper()
		more := around(env, "http://127.0.0.1:7070")
		if got := last(more, "NO_PROXY"); got != upper {
			t.Errorf("with %v, NO_PROXY is %s, want %s", env, got, upper)
		}
		if got := last(more, "no_proxy"); got != lower {
			t.Errorf("with %v, no_proxy is %s, want %s", env, got, lower)
		}
	}
	f("(none)", "(none)")
	f("(none)", "(none)", "NO_PROXY=corp.example")
	f("(none)", "(none)", "HTTP_PROXY=", "HTTPS_PROXY=http://p.example") // only http goes to epitome
	f("127.0.0.1", "127.0.0.1", "HTTP_PROXY=http://p.example")
	f("127.0.0.1", "127.0.0.1", "all_proxy=socks5://p.example")
	f("corp.example,127.0.0.1", "corp.example,127.0.0.1", "http_proxy=http://p.example", "NO_PROXY=corp.example")
	f("a.example,127.0.0.1", "b.example,127.0.0.1", "http_proxy=http://p.example", "NO_PROXY=a.example", "no_proxy=b.example")
	f("*", "*", "http_proxy=http://p.example", "no_proxy=*")
}

func TestFoldersOfRunsAreByUpstreams(t *testing.T) {
	a, b := Target{URL: "http://a.example"}, Target{URL: "http://b.example"}
	keys := map[string]bool{keyOf([]Target{a}): true, keyOf([]Target{b}): true, keyOf([]Target{a, b}): true,
		keyOf([]Target{b, a}): true}
	if again := []Target{{URL: "http://a.example", name: "another"}}; len(keys) != 4 || !keys[keyOf(again)] {
		t.Errorf("got %v", keys)
	}
}

func TestProxiesAreToldApartByWhatTheyDo(t *testing.T) {
	seen := map[string]string{}
	f := func(what string, conf config.Config, env ...string) {
		t.Helper()
		getenv := func(name string) string { return strings.Replace(last(env, name), "(none)", "", 1) }
		key := SettingsOf(conf) + BuildOf(getenv)
		if twin, taken := seen[key]; taken {
			t.Errorf("%s would share a proxy with %s", what, twin)
		}
		seen[key] = what
	}
	keyed := func(name, key string) config.Config {
		return config.Config{Upstreams: map[string]route.UpstreamConfig{name: {Headers: map[string]string{"Authorization": key}}}}
	}
	f("nothing", config.Config{Upstreams: map[string]route.UpstreamConfig{}})
	f("a credential", keyed("u", "alice"))
	f("another credential", keyed("u", "bob"))
	f("a number", config.Config{Rewrite: limits.Limits{Rent: 1}})
	t.Setenv("EPITOME_TEST_KEY", "alice")
	summarized := config.Config{Summarize: summarize.Config{KeyEnv: "EPITOME_TEST_KEY"}}
	f("a key for summaries", summarized)
	t.Setenv("EPITOME_TEST_KEY", "bob")
	f("another key for summaries", summarized)
	f("a forward proxy", config.Config{}, "HTTPS_PROXY=http://p.example")

	none := SettingsOf(config.Config{Upstreams: map[string]route.UpstreamConfig{}})
	for what, conf := range map[string]config.Config{
		"its mode, which is told apart": {Mode: "off", Upstreams: map[string]route.UpstreamConfig{}},
		"its place":                     {Listen: "x", Data: "x", Upstream: "x", Upstreams: map[string]route.UpstreamConfig{}},
		"an upstream of its own":        keyed(RunOpenAI, "x"),
		"an upstream of a flag":         keyed(config.URLUpstream, "x"),
	} {
		if SettingsOf(conf) != none {
			t.Errorf("a proxy would not be shared for %s", what)
		}
	}
}

func TestMarksTellNothingWithoutTheCard(t *testing.T) {
	one, other := pinned(t, t.TempDir(), "127.0.0.1:1"), pinned(t, t.TempDir(), "127.0.0.1:1")
	if a, b := one.Mark("sk-secret"), other.Mark("sk-secret"); a == b || a != one.Mark("sk-secret") ||
		a == one.Mark("sk-other") || strings.Contains(a, "secret") {
		t.Errorf("got %s and %s", a, b)
	}
}

func TestTallyIsToldInOneLine(t *testing.T) {
	f := func(got Tally, want string) {
		t.Helper()
		if got.String() != want {
			t.Errorf("%+v is told as %q, want %q", got, got, want)
		}
	}
	f(Tally{Exchanges: 40}, "nothing that it can shorten was seen (40 requests passed through)")
	f(Tally{}, "no request came: "+Unreached)
	f(Tally{Exchanges: 2, TokensBefore: 1000, TokensAfter: 1120, Added: 120},
		"2 requests, 1000 tokens; nothing was to be shortened; 120 tokens name context files")
	f(Tally{Exchanges: 2, TokensBefore: 1000, TokensAfter: 1120, Added: 120, Memory: 100},
		"2 requests, 1000 tokens; nothing was to be shortened; 20 tokens name context files, 100 tokens are what earlier sessions have learned")
	f(Tally{Exchanges: 2, TokensBefore: 1000, TokensAfter: 1120, Added: 120, Memory: 120},
		"2 requests, 1000 tokens; nothing was to be shortened; 120 tokens are what earlier sessions have learned")
	f(Tally{Exchanges: 1}, "nothing that it can shorten was seen (1 request passed through)")
	told := func(before, after int64, observed bool) Tally {
		return Tally{Exchanges: 40, TokensBefore: before, TokensAfter: after, Observed: observed}
	}
	f(told(6_720_000, 1_500_000, false), "40 requests, 6.7 M tokens became 1.5 M (78 % less)")
	f(told(12_345, 9_876, false), "40 requests, 12 k tokens became 9876 (20 % less)")
	f(told(1000, 980, false), "40 requests, 1000 tokens became 980 (2.0 % less)")
	f(told(1000, 1010, false), "40 requests, 1000 tokens became 1010")
	f(told(500, 500, false), "40 requests, 500 tokens; nothing was to be shortened")
	f(told(500, 400, true), "40 requests, 500 tokens would have become 400 (20 % less)")
	large := told(6_720_000, 1_500_000, false)
	large.LargestBefore, large.LargestAfter = 311_000, 41_000
	f(large, "40 requests, 6.7 M tokens became 1.5 M (78 % less); the largest request had 311 k and was sent as 41 k")
	large.Observed = true
	f(large, "40 requests, 6.7 M tokens would have become 1.5 M (78 % less); "+
		"the largest request had 311 k and would have been sent as 41 k")
}

func TestASilentAgentIsNoticed(t *testing.T) {
	f := func(body string, left bool, want bool) {
		t.Helper()
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, body)
		}))
		defer s.Close()
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		long := time.Millisecond
		if left {
			long = time.Hour
			leave()
		}
		r := &Running{Card: pinned(t, t.TempDir(), strings.TrimPrefix(s.URL, "http://"))}
		if got := r.IsUnasked(ctx, long); got != want {
			t.Errorf("%s, left %v: unasked %v", body, left, got)
		}
	}
	f(`{"exchanges":0}`, false, true)
	f(`{"exchanges":0}`, true, false) // the agent ended before
	f(`{"exchanges":1}`, false, false)
	f(`{"exchanges":0,"in_flight":1}`, false, false)
	f(`no totals`, false, false)
}

// What tells the end of a run is an error where an older epitome, which has no totals, is asked: then nothing is told.
func TestTotalsAreReadFromARunningEpitome(t *testing.T) {
	f := func(status int, body string, want Tally, failed bool) {
		t.Helper()
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/-/totals" || r.Header.Get(console.OwnerHeader) == "" {
				t.Errorf("asked was %s with %q", r.URL, r.Header)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		defer s.Close()
		r := &Running{Card: pinned(t, t.TempDir(), strings.TrimPrefix(s.URL, "http://"))}
		if got, err := r.AwaitTally(); got != want || (err != nil) != failed {
			t.Errorf("%d %s gives %+v, %v", status, body, got, err)
		}
	}
	f(200, `{"exchanges":4,"in_flight":0,"tokens_before":3,"tokens_after":2,"observed":true,"more":1}`, Tally{Exchanges: 4, TokensBefore: 3, TokensAfter: 2, Observed: true}, false)
	f(404, `{"type":"error","error":{"message":"epitome has nothing at /-/totals"}}`, Tally{}, true)
	f(200, "numbers", Tally{}, true)
}

// Who runs goes on to be found when another epitome has begun and ended over the same folder.
func TestWhoStillRunsIsFoundAgain(t *testing.T) {
	var first *Card
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"proof":%q}`, first.Proof(r.URL.Query().Get("nonce")))
	}))
	folder := t.TempDir()
	first = pinned(t, folder, s.Listener.Addr().String())
	second := pinned(t, folder, "127.0.0.1:1")
	f := func(want *Card) {
		t.Helper()
		got, err := Read(folder)
		if want == nil && !os.IsNotExist(err) || want != nil && (err != nil || got.Secret != want.Secret) {
			t.Fatalf("there is %+v, %v; want %+v", got, err, want)
		}
	}
	f(second)
	second.Unpin()
	f(first)
	second = pinned(t, folder, "127.0.0.1:1")
	s.Close()
	second.Unpin()
	f(nil)
}

// A run uses no epitome of which it has no key, or whose certificate its agent does not trust.
func TestKeyedAndSecureEpitomesAreNotUsedByRuns(t *testing.T) {
	f := func(keys string, secure, used bool) {
		t.Helper()
		var c *Card
		var err error
		own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"proof":%q,"upstreams":{"a":"http://a.example"},"running":{"keys":%q}}`,
				c.Proof(r.URL.Query().Get("nonce")), keys)
		})
		start := httptest.NewServer
		if secure {
			start = httptest.NewTLSServer
		}
		s := start(own)
		defer s.Close()
		folder := t.TempDir()
		c, err = Pin(folder, s.Listener.Addr().String(), secure)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Ask(); err != nil {
			t.Fatal(err)
		}
		if got := lookup(folder, []Target{{URL: "http://a.example"}}); (got != nil) != used {
			t.Errorf("keys %q, TLS %v: used %v", keys, secure, got != nil)
		}
	}
	f("", false, true)
	f("true", false, false)
	f("", true, false)
}
