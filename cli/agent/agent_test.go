package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/cli/agent"
)

// place is one in which a command is run, with files of Codex and variables, as NAME=VALUE.
func place(t *testing.T, files map[string]string, env ...string) agent.Command {
	home := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vars := map[string]string{"CODEX_HOME": home}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	return agent.Command{Args: []string{"codex"}, Getenv: func(name string) string { return vars[name] },
		Listen: "127.0.0.1:7070", ChatGPT: "https://chatgpt.example/codex"}
}

func TestCodexGoesWhereItsLoginIs(t *testing.T) {
	const own = `openai_base_url="%s"`
	f := func(want agent.Way, p agent.Command) {
		t.Helper()
		got := p.Find()
		if got.Name != "Codex" || got.Setting != want.Setting || got.URL != want.URL || got.Upstream != want.Upstream ||
			!strings.Contains(got.Advice, want.Advice) || (want.Advice == "") != (got.Advice == "") {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	}
	const cannot = "cannot redirect Codex: it is not clear"
	auth := func(text string) map[string]string { return map[string]string{"auth.json": text} }
	conf := func(text string) map[string]string { return map[string]string{"config.toml": text} }
	told := place(t, nil)
	told.Told = true
	byKey := agent.Way{Setting: own}
	byLogin := agent.Way{Setting: own, URL: "https://chatgpt.example/codex", Upstream: "chatgpt"}
	f(agent.Way{Advice: cannot}, place(t, nil))
	f(byKey, told)
	f(byKey, place(t, nil, "CODEX_API_KEY=sk"))
	f(byKey, place(t, auth(`{"auth_mode":"apikey"}`)))
	f(byKey, place(t, auth(`{"OPENAI_API_KEY":"sk","tokens":null}`)))
	f(byLogin, place(t, auth(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{}}`)))
	f(byLogin, place(t, auth(`{"OPENAI_API_KEY":"sk","tokens":{}}`)))
	f(byKey, place(t, auth(`{"auth_mode":"chatgpt"}`), "CODEX_API_KEY=sk"))
	f(agent.Way{Advice: cannot}, place(t, auth(`{"auth_mode":"agent identity"}`)))
	f(agent.Way{Advice: cannot}, place(t, auth(`no JSON`)))
	keyring := place(t, conf(`cli_auth_credentials_store = "keyring"`))
	keyring.Told = true
	f(agent.Way{Advice: cannot}, keyring)
	f(agent.Way{Setting: own, URL: "http://127.0.0.1:1/v1"}, place(t, conf(`openai_base_url = "http://127.0.0.1:1/v1"`)))
	f(agent.Way{Setting: `model_providers.corp.base_url="%s"`, URL: "https://corp.example/v1"},
		place(t, conf("model_provider = 'corp'\n[model_providers.corp]\nbase_url = 'https://corp.example/v1'")))
	f(agent.Way{Advice: "its provider ollama has no base_url"}, place(t, conf("model_provider = 'ollama'")))
	f(byKey, place(t, conf("model_provider = 'openai'"), "CODEX_API_KEY=sk"))
	f(agent.Way{Advice: "cannot redirect Codex: cannot read"}, place(t, conf("not TOML")))
}

func TestCopilotNeedsAProvider(t *testing.T) {
	f := func(want agent.Way, env ...string) {
		t.Helper()
		p := place(t, nil, env...)
		p.Args = []string{"copilot"}
		got := p.Find()
		if strings.Join(got.Vars, " ") != strings.Join(want.Vars, " ") || got.Messages != want.Messages ||
			!strings.HasPrefix(got.Advice, want.Advice) || (want.Advice == "") != (got.Advice == "") {
			t.Errorf("%v: got %+v, want %+v", env, got, want)
		}
	}
	vars := []string{"COPILOT_PROVIDER_BASE_URL"}
	f(agent.Way{Advice: "Copilot CLI uses your login at GitHub and is not redirected"})
	f(agent.Way{}, "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1")
	f(agent.Way{Vars: vars}, "COPILOT_PROVIDER_API_KEY=sk")
	f(agent.Way{Vars: vars}, "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_BEARER_TOKEN=t")
	f(agent.Way{Vars: vars, Messages: true}, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=sk")
	f(agent.Way{Advice: "Copilot CLI uses your login at GitHub"}, "COPILOT_PROVIDER_TYPE=openai")
	f(agent.Way{Advice: "Copilot CLI uses your login at GitHub"}, "COPILOT_PROVIDER_TYPE=azure",
		"COPILOT_PROVIDER_API_KEY=sk")
}

func TestToolsAreGivenToWhoTakesThem(t *testing.T) {
	f := func(want string, way agent.Way, tools string) {
		t.Helper()
		args, said := way.Arguments("http://e/v1", "http://up", tools)
		if got := strings.Join(args, " "); got != want || (want == "") != (said == "") {
			t.Errorf("got %q, said %q, want %q", got, said, want)
		}
	}
	claude := agent.Command{Args: []string{"/usr/bin/claude"}}.Find()
	f("", claude, "")
	f(`--mcp-config={"mcpServers":{"epitome":{"type":"http","url":"http://e/-/mcp"}}}`, claude, "http://e/-/mcp")
	codex := place(t, nil, "CODEX_API_KEY=sk").Find()
	f(`-c openai_base_url="http://e/v1"`, codex, "")
	f(`-c openai_base_url="http://e/v1" -c mcp_servers.epitome.url="http://e/-/mcp"`, codex, "http://e/-/mcp")
	f("", agent.Command{Args: []string{"some"}}.Find(), "http://e/-/mcp")
	if args, _ := place(t, nil).Find().Arguments("http://e/v1", "http://up", "http://e/-/mcp"); len(args) > 0 {
		t.Errorf("Codex gets %q, though its requests go elsewhere", args)
	}
}
