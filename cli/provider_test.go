package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/config"
	"epitome/proxy"
)

// setenv sets variables, as NAME=VALUE, and leaves those out that name a provider.
func setenv(t *testing.T, env ...string) {
	t.Helper()
	names := []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "CODEX_API_KEY", copilotURL,
		"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"}
	for _, name := range names {
		t.Setenv(name, "")
	}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			continue
		}
		t.Setenv(name, value)
	}
}

func TestCodexGoesWhereItsLoginIs(t *testing.T) {
	const own, corp, clear = `openai_base_url="%s"`, `model_providers.corp.base_url="%s"`, "it is not clear"
	const openAI = "https://openai.example/v1" // or where --upstream leads
	conf := config.Config{Upstreams: map[string]proxy.UpstreamConfig{"chatgpt": {URL: "https://chatgpt.example/codex"}}}
	for _, c := range []struct {
		auth, conf, env       string
		told, named           bool
		setting, url, refusal string
	}{
		{refusal: clear},
		{told: true, setting: own, url: openAI},
		{env: "CODEX_API_KEY=sk", setting: own, url: openAI},
		{auth: `{"auth_mode":"apikey"}`, setting: own, url: openAI},
		{auth: `{"OPENAI_API_KEY":"sk","tokens":null}`, setting: own, url: openAI},
		{auth: `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{}}`, setting: own,
			url: "https://chatgpt.example/codex"},
		{auth: `{"OPENAI_API_KEY":"sk","tokens":{}}`, setting: own, url: "https://chatgpt.example/codex"},
		{auth: `{"auth_mode":"chatgpt"}`, env: "CODEX_API_KEY=sk", setting: own, url: openAI},
		{auth: `{"auth_mode":"agent identity"}`, told: true, refusal: clear},
		{auth: `no JSON`, told: true, refusal: clear},
		{conf: `cli_auth_credentials_store = "keyring"`, told: true, refusal: clear},
		{conf: `openai_base_url = "http://127.0.0.1:1/v1"`, setting: own, url: "http://127.0.0.1:1/v1"},
		{conf: "model_provider = 'corp'\n[model_providers.corp]\nbase_url = 'https://corp.example/v1'", setting: corp,
			url: "https://corp.example/v1"},
		{named: true, auth: `{"auth_mode":"chatgpt"}`, setting: own, url: openAI},
		{named: true, conf: `openai_base_url = "http://127.0.0.1:1/v1"`, setting: own, url: openAI},
		{named: true, conf: "model_provider = 'corp'\n[model_providers.corp]\nbase_url = 'https://corp.example/v1'",
			setting: corp, url: openAI},
		{conf: "model_provider = 'ollama'", refusal: "its provider ollama has no base_url"},
		{conf: "model_provider = 'openai'", env: "CODEX_API_KEY=sk", setting: own, url: openAI},
		{conf: "not TOML", refusal: "cannot read"},
	} {
		home := t.TempDir()
		for name, text := range map[string]string{"auth.json": c.auth, "config.toml": c.conf} {
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); text != "" && err != nil {
				t.Fatal(err)
			} else if text == "" {
				_ = os.Remove(filepath.Join(home, name))
			}
		}
		setenv(t, "CODEX_HOME="+home, c.env)
		conf.Named = c.named
		got, err := codexProvider(conf, provider{url: openAI}, c.told)
		if got.setting != c.setting || got.url != c.url || !strings.Contains(fmt.Sprint(err), c.refusal) ||
			(c.refusal == "") != (err == nil) {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
	}
}

func TestProviders(t *testing.T) {
	conf := config.Config{Upstream: "here", Upstreams: map[string]proxy.UpstreamConfig{
		"here": {URL: "http://here.example/"}, "anthropic": {URL: "https://anthropic.example"}}}
	p := runProxy{listen: "e:1"}
	p.Upstreams = map[string]string{"here": "http://here.example", "a": "http://a.example/v1/",
		"anthropic": "https://anthropic.example"}
	f := func(named bool, want string, env ...string) {
		t.Helper()
		setenv(t, env...)
		conf.Named = named
		all, err := findProviders(conf, named)
		got := fmt.Sprint(err != nil)
		if err == nil {
			got = strings.Join(p.environ(all)[1:], " ")
		}
		if got != want {
			t.Errorf("with %v\n got %s\nwant %s", env, got, want)
		}
	}
	const here = "OPENAI_BASE_URL=http://e:1/u/here/v1 OPENAI_API_BASE=http://e:1/u/here/v1 "
	const a = "OPENAI_BASE_URL=http://e:1/u/a/v1 OPENAI_API_BASE=http://e:1/u/a/v1 "
	const claude = "ANTHROPIC_BASE_URL=http://e:1/u/anthropic"
	f(false, here+claude)
	f(true, here+"ANTHROPIC_BASE_URL=http://e:1/u/here")
	f(false, a+claude, "OPENAI_BASE_URL=http://a.example/v1")
	f(false, a+claude, "OPENAI_API_BASE=http://a.example/v1/")
	f(false, here+"ANTHROPIC_BASE_URL=http://e:1/u/a", "ANTHROPIC_BASE_URL=http://a.example/v1")
	f(false, "OPENAI_BASE_URL=http://e:1/u/here OPENAI_API_BASE=http://e:1/u/here "+claude,
		"OPENAI_BASE_URL=http://here.example/")
	f(false, "OPENAI_BASE_URL=http://e:1/u/x/v1 OPENAI_API_BASE=http://e:1/u/x/v1 "+claude,
		"OPENAI_BASE_URL=http://e:1/u/x/v1")
	f(false, here+claude+" COPILOT_PROVIDER_BASE_URL=http://e:1/u/a/v1", "COPILOT_PROVIDER_BASE_URL=http://a.example/v1")
	f(false, here+claude+" NO_PROXY=x,e no_proxy=x,e", "HTTP_PROXY=http://p.example", "NO_PROXY=x")
	f(false, "true", "OPENAI_BASE_URL=http://a.example", "OPENAI_API_BASE=http://b.example")
	f(true, "true", "OPENAI_BASE_URL=http://a.example")
	f(true, "true", "ANTHROPIC_BASE_URL=http://a.example")
	f(true, here+"ANTHROPIC_BASE_URL=http://e:1/u/here", "ANTHROPIC_BASE_URL=http://here.example/")
	f(false, "true", "OPENAI_BASE_URL=ftp://a.example")
}

func TestUnfit(t *testing.T) {
	p := runProxy{listen: "127.0.0.1:7070"}
	p.Upstreams = map[string]string{"a": "http://a.example/v1/", "b": "http://b.example"}
	f := func(want bool, urls ...string) {
		t.Helper()
		var all []provider
		for _, u := range urls {
			all = append(all, provider{url: u})
		}
		if got := p.unfit(all, ""); (got == "") != want {
			t.Errorf("with %v: %q, want fit %v", urls, got, want)
		}
	}
	f(true, "http://a.example/v1", "http://b.example")
	f(true, "http://127.0.0.1:7070", "http://127.0.0.1:7070/u/a/v1", "http://localhost:7070/u/a")
	f(false, "http://a.example/v1", "http://c.example")
	f(false, "https://b.example")
	f(false, "http://b.example.evil.example")
	f(false, "http://127.0.0.1:70700")
	f(false, "http://127.0.0.1:7070@evil.example")
}
