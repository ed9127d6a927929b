package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/config"
	"epitome/proxy"
)

func TestTargets(t *testing.T) {
	conf := config.Config{Upstream: "here", Upstreams: map[string]proxy.UpstreamConfig{
		"here": {URL: "http://here.example/v1/"}, "anthropic": {URL: "https://anthropic.example"},
	}}
	f := func(openai, base, anthropic string, named bool, want string) {
		t.Helper()
		env := map[string]string{"OPENAI_BASE_URL": openai, "OPENAI_API_BASE": base, "ANTHROPIC_BASE_URL": anthropic}
		targets, err := Targets(conf, func(name string) string { return env[name] }, named)
		var got []string
		for _, w := range targets {
			got = append(got, fmt.Sprintf("%s %v %s", w.Name, w.v1, w.URL))
		}
		if err != nil {
			got = append(got, "error")
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("with %v\n got %s\nwant %s", env, text, want)
		}
	}
	f("", "", "", false, "run-openai true http://here.example/v1, run-anthropic false https://anthropic.example")
	f("http://a.example/v1", "", "", false, "run-openai false http://a.example/v1, run-anthropic false "+
		"https://anthropic.example")
	f("", "http://b.example/", "", false, "run-openai false http://b.example, run-anthropic false "+
		"https://anthropic.example")
	f("http://a.example", "http://a.example/", "", false, "run-openai false http://a.example, run-anthropic false "+
		"https://anthropic.example")
	f("http://a.example", "http://b.example", "", false, "error")
	f("", "", "http://c.example//", false, "run-openai true http://here.example/v1, run-anthropic false http://c.example")
	f("", "", "", true, "run-openai true http://here.example/v1, run-anthropic false http://here.example/v1")
	f("", "", "http://c.example", true, "run-openai true http://here.example/v1, run-anthropic false http://c.example")
	f("http://a.example", "", "", true, "error")
	f("ftp://a.example", "", "", false, "error")
}

// at is a proxy with these upstreams.
func at(upstreams map[string]string) *Proxy {
	return &Proxy{Listen: "127.0.0.1:7070", Upstreams: upstreams}
}

func TestServes(t *testing.T) {
	p := at(map[string]string{"a": "http://a.example/v1/", "b": "http://b.example"})
	f := func(want bool, urls ...string) {
		t.Helper()
		var targets []Target
		for _, u := range urls {
			targets = append(targets, Target{URL: u})
		}
		if got := p.Serves(targets); got != want {
			t.Errorf("serves %v: %v, want %v", urls, got, want)
		}
	}
	f(true, "http://a.example/v1", "http://b.example")
	f(true, "http://127.0.0.1:7070", "http://127.0.0.1:7070/u/a/v1")
	f(false, "http://a.example/v1", "http://c.example")
	f(false, "http://a.example")
	f(false, "https://b.example")
	f(false, "http://b.example.evil.example")
	f(false, "http://127.0.0.1:70700")
	f(false, "http://127.0.0.1:7070@evil.example")
}

// last is the value of a variable in an environment, where a later entry overrides an earlier one.
func last(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return "(none)"
}

// getenv reads the variables of an environment.
func getenv(env []string) func(string) string {
	return func(name string) string {
		return strings.TrimSuffix(last(append([]string{name + "="}, env...), name), "(none)")
	}
}

func TestEnviron(t *testing.T) {
	p := at(map[string]string{"bare": "http://bare.example", "slash": "http://slash.example/v1/",
		"anthropic": "https://anthropic.example", "loop": "http://127.0.0.1:7070/v1"})
	f := func(openai Target, want string) {
		t.Helper()
		openai.vars = []string{"OPENAI_BASE_URL"}
		env := p.Environ(getenv(nil), []Target{openai, {vars: []string{"ANTHROPIC_BASE_URL"}, URL: "https://anthropic.example"}})
		for name, value := range map[string]string{"OPENAI_BASE_URL": want, "NO_PROXY": "(none)",
			"ANTHROPIC_BASE_URL": "http://127.0.0.1:7070/u/anthropic", RunVariable: "127.0.0.1:7070"} {
			if got := last(env, name); got != value {
				t.Errorf("for %+v, %s is %s, want %s", openai, name, got, value)
			}
		}
	}
	f(Target{URL: "http://bare.example"}, "http://127.0.0.1:7070/u/bare")
	f(Target{URL: "http://bare.example", v1: true}, "http://127.0.0.1:7070/u/bare/v1")
	f(Target{URL: "http://slash.example/v1"}, "http://127.0.0.1:7070/u/slash/v1")
	f(Target{URL: "http://slash.example/v1", bare: true}, "http://127.0.0.1:7070/u/slash")
	f(Target{URL: "http://127.0.0.1:7070/u/bare"}, "http://127.0.0.1:7070/u/bare")
	f(Target{URL: "http://127.0.0.1:7070/v1"}, "http://127.0.0.1:7070/v1")
	f(Target{URL: "http://127.0.0.1:7070/v1", bare: true}, "http://127.0.0.1:7070")
}

func TestForwardProxyIsNotUsedForEpitome(t *testing.T) {
	f := func(upper, lower string, env ...string) {
		t.Helper()
		more := noProxy(getenv(env), "127.0.0.1:7070")
		if got := last(more, "NO_PROXY"); got != upper {
			t.Errorf("with %v, NO_PROXY is %s, want %s", env, got, upper)
		}
		if got := last(more, "no_proxy"); got != lower {
			t.Errorf("with %v, no_proxy is %s, want %s", env, got, lower)
		}
	}
	f("(none)", "(none)", "NO_PROXY=corp.example")
	f("(none)", "(none)", "HTTP_PROXY=", "HTTPS_PROXY=http://p.example") // only http goes to epitome
	f("127.0.0.1", "127.0.0.1", "all_proxy=socks5://p.example")
	f("corp.example,127.0.0.1", "corp.example,127.0.0.1", "http_proxy=http://p.example", "NO_PROXY=corp.example")
	f("*", "*", "http_proxy=http://p.example", "no_proxy=*")
}
