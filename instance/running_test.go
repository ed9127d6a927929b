package instance

import (
	"epitome/config"
	"epitome/proxy"
	"epitome/rewrite/ladder"
	"epitome/summarize"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestWanted(t *testing.T) {
	conf := config.Config{Upstream: "here", Upstreams: map[string]proxy.UpstreamConfig{
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
	r := &Running{Card: &Card{Listen: "127.0.0.1:7070", folder: "/home/x/epitome"}, State: State{Upstreams: map[string]string{"a": "http://a.example/v1/", "b": "http://b.example"}}}
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
	r := &Running{Card: &Card{Listen: "127.0.0.1:7070", folder: "/home/x/epitome"}, State: State{Upstreams: map[string]string{
		"bare": "http://bare.example", "slash": "http://slash.example/v1/", "anthropic": "https://anthropic.example",
		"loop": "http://127.0.0.1:7070/v1",
	}}}
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
	r := &Running{Card: &Card{Listen: "127.0.0.1:7070", folder: "/home/x/epitome"}, State: State{Upstreams: map[string]string{
		"bare": "http://bare.example", "slash": "http://slash.example/v1/"}}}
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

func TestProxiesAreToldApartByWhatTheyDo(t *testing.T) {
	seen := map[string]string{}
	f := func(what string, conf config.Config, env ...string) {
		t.Helper()
		getenv := func(name string) string { return strings.Replace(last(env, name), "(none)", "", 1) }
		key := settingsOf(conf) + buildOf(getenv)
		if twin, taken := seen[key]; taken {
			t.Errorf("%s would share a proxy with %s", what, twin)
		}
		seen[key] = what
	}
	keyed := func(name, key string) config.Config {
		return config.Config{Upstreams: map[string]proxy.UpstreamConfig{name: {Headers: map[string]string{"Authorization": key}}}}
	}
	f("nothing", config.Config{Upstreams: map[string]proxy.UpstreamConfig{}})
	f("a credential", keyed("u", "alice"))
	f("another credential", keyed("u", "bob"))
	f("a number", config.Config{Rewrite: ladder.Limits{Rent: 1}})
	t.Setenv("EPITOME_TEST_KEY", "alice")
	summarized := config.Config{Summarize: summarize.Config{KeyEnv: "EPITOME_TEST_KEY"}}
	f("a key for summaries", summarized)
	t.Setenv("EPITOME_TEST_KEY", "bob")
	f("another key for summaries", summarized)
	f("a forward proxy", config.Config{}, "HTTPS_PROXY=http://p.example")

	none := settingsOf(config.Config{Upstreams: map[string]proxy.UpstreamConfig{}})
	for what, conf := range map[string]config.Config{
		"its mode, which is told apart": {Mode: "off", Upstreams: map[string]proxy.UpstreamConfig{}},
		"its place":                     {Listen: "x", Data: "x", Upstream: "x", Upstreams: map[string]proxy.UpstreamConfig{}},
		"an upstream of its own":        keyed(RunOpenAI, "x"),
		"an upstream of a flag":         keyed(config.URLUpstream, "x"),
	} {
		if settingsOf(conf) != none {
			t.Errorf("a proxy would not be shared for %s", what)
		}
	}
}
