//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi"
)

// Real agents, offline, behind a window that is much smaller than they believe: a long session comes to its end without
// an error that the agent could see, the provider refuses nothing by a rule, most tokens come from its cache, and what
// needs no rewriting passes to the byte.

// trueWindow is the window of the provider's model, in tokens; agents believe in 200,000 and more.
const trueWindow = 64_000

var turns = flag.Int("turns", 40, "turns of a session")

const (
	claudeModel = "claude-sonnet-4-5"
	codexModel  = "gpt-5.5"
)

// plays starts a provider whose model works, behind the true window.
func plays(t *testing.T, w *work, model string, overflow fakeapi.Overflow) *fakeapi.Provider {
	m := fakeapi.ModelOf(model)
	m.Window, m.Overflow = trueWindow, overflow
	// Claude Code takes a part of its last system message back in the next request, where this model has such messages.
	m.SystemUnbound = strings.HasPrefix(model, "claude-fable")
	return fakeapi.StartProvider(t, fakeapi.Options{Models: map[string]fakeapi.Model{model: m}, Answer: w.answer})
}

// play runs an agent to its end, offline, and returns what it printed.
func play(t *testing.T, dir string, argv, env []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	closed := "http://127.0.0.1:9" // nobody listens there
	cmd.Env = append(environ(), "HTTPS_PROXY="+closed, "HTTP_PROXY="+closed, "NO_PROXY=127.0.0.1,localhost", "PWD="+dir)
	cmd.Env = append(cmd.Env, env...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", argv[0], err, tail(out.String()), tail(complaint.String()))
	}
	if !strings.Contains(out.String(), closing) {
		t.Errorf("%s does not print the model's last words:\n%s\n%s",
			argv[0], tail(out.String()), tail(complaint.String()))
	}
	return out.String()
}

// tapped returns a command that runs the agent with a tap in front of the base URL that it is told. steps are those of
// a shell: they put this URL into told, and tell the agent $tap.
func tapped(t *testing.T, agent, steps string) (command string, between *tap) {
	t.Helper()
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	between = newTap(t, func() string {
		base, _ := os.ReadFile(told)
		return string(base)
	})
	command = filepath.Join(dir, filepath.Base(agent))
	script := fmt.Sprintf("#!/bin/sh\ntap='%s'\n%s\nprintf %%s \"$told\" >'%s'\nexec '%s' \"$@\"\n",
		between.URL, steps, told, agent)
	if err := os.WriteFile(command, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return command, between
}

var claudeTools = tools{bash: "Bash", command: "command", read: "Read", edit: "Edit", write: "Write",
	path: "file_path", old: "old_string", now: "new_string"}

// playClaude has Claude Code do the task, and holds that it saw no error.
func playClaude(t *testing.T, w *work, model, base string, env, argv []string, more ...string) {
	t.Helper()
	argv = append(slices.Concat(argv, more), "-p", task, "--model", model, "--output-format", "stream-json",
		"--verbose", "--permission-mode", "bypassPermissions", "--max-turns", "200")
	out := play(t, w.dir, argv, append([]string{"HOME=" + t.TempDir(), "ANTHROPIC_BASE_URL=" + base,
		"ANTHROPIC_API_KEY=sk-ant-test-000000000000000000000000", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "IS_SANDBOX=1"}, env...))
	for line := range strings.Lines(out) {
		var e struct{ Type, Subtype string }
		err := json.Unmarshal([]byte(line), &e)
		if err != nil || e.Type == "system" && e.Subtype != "init" && e.Subtype != "thinking_tokens" {
			t.Errorf("Claude Code prints a line that a session without errors has not: %s", line)
		}
	}
}

func TestClaudeCode(t *testing.T) {
	claude := find(t, "@anthropic-ai/claude-code-*/claude")
	thoughtless := []string{"MAX_THINKING_TOKENS=0"}
	f := func(name, model string, under bool, env []string) {
		t.Run(name, func(t *testing.T) {
			w := newWork(t, *turns, claudeTools)
			provider := plays(t, w, model, fakeapi.SaysTooLong)
			data := t.TempDir()
			var listening *tap
			if under {
				agent, between := tapped(t, claude, `told="$ANTHROPIC_BASE_URL"; export ANTHROPIC_BASE_URL="$tap"`)
				listening = between
				playClaude(t, w, model, provider.URL, env, []string{build(t), "run", "--data", data, "--", agent})
			} else {
				base := serve(t, "--upstream", provider.URL, "--data", data)
				listening = newTap(t, func() string { return base })
				playClaude(t, w, model, listening.URL, env, []string{claude})
			}
			w.judge(t, provider, *turns)
			judgeArtifacts(t, provider)
			listening.judge(t, provider)
		})
	}
	f("without thinking", claudeModel, false, thoughtless)
	f("with bound thinking", "claude-opus-5-5", false, nil)
	f("with bound thinking and system messages", "claude-fable-5-1", false, nil)
	f("under run", claudeModel, true, thoughtless)
	t.Run("recalls", func(t *testing.T) {
		w := newWork(t, *turns, claudeTools)
		name := w.recalls()
		provider, data := plays(t, w, claudeModel, fakeapi.SaysTooLong), t.TempDir()
		playClaude(t, w, claudeModel, provider.URL, thoughtless, runWithTools(t, w, data, provider.URL, claude))
		judgeRecall(t, provider, data, *name)
	})
}

var openCodeTools = tools{bash: "bash", command: "command", read: "read", edit: "edit", write: "write",
	path: "filePath", old: "oldString", now: "newString"}

// codexTools are those of Codex: it does all with a shell.
var codexTools = tools{bash: "exec_command", command: "cmd", patch: "apply_patch"}

// codexSession is how Codex plays.
type codexSession struct {
	builtin  bool // its own provider, at another address; else one of its configuration
	told     bool // it knows the window
	under    bool // it runs under epitome run
	login    bool // it is logged in with ChatGPT, and has no key
	overflow fakeapi.Overflow
}

func TestCodex(t *testing.T) {
	codex := find(t, "@openai/codex-*/vendor/*/bin/codex")
	f := func(name string, s codexSession) {
		t.Run(name, func(t *testing.T) {
			w := newWork(t, *turns, codexTools)
			provider := plays(t, w, codexModel, s.overflow)
			if s.under {
				s.underRun(t, w, provider, codex)
				return
			}
			base := serve(t, "--upstream", provider.URL+"/v1", "--data", t.TempDir())
			listening := newTap(t, func() string { return base })
			s.play(t, w, t.TempDir(), append([]string{codex}, s.settings(listening.URL)...))
			if w.judge(t, provider, *turns); !s.told { // its own compactions take all out again
				judgeArtifacts(t, provider)
			}
			listening.judge(t, provider)
			compaction := func(x fakeapi.Exchange) bool { return compacts(x.Body) }
			if asks := slices.ContainsFunc(posts(provider), compaction); s.told != asks {
				t.Errorf("Codex, told of the window: %t, asked for a compaction of its own: %t", s.told, asks)
			}
			if s.builtin != (listening.upgrades == 1) {
				t.Errorf("%d WebSockets were refused, want one of Codex's own provider: it goes on over HTTP at once",
					listening.upgrades)
			}
		})
	}
	f("its own provider", codexSession{builtin: true})
	f("custom provider", codexSession{})
	f("custom provider told the window", codexSession{told: true})
	f("refused in the stream", codexSession{builtin: true, overflow: fakeapi.FailsInStream})
	f("ended at once", codexSession{builtin: true, overflow: fakeapi.EndsAtOnce})
	f("under run", codexSession{under: true})
	f("under run logged in with ChatGPT", codexSession{under: true, login: true})
	t.Run("recalls", func(t *testing.T) {
		w := newWork(t, *turns, codexTools)
		name := w.recalls()
		provider, data := plays(t, w, codexModel, fakeapi.SaysTooLong), t.TempDir()
		codexSession{}.play(t, w, t.TempDir(), runWithTools(t, w, data, provider.URL+"/v1", codex))
		judgeRecall(t, provider, data, *name)
	})
}

// underRun plays a session under epitome run. Codex compresses its requests where it is logged in.
func (s codexSession) underRun(t *testing.T, w *work, provider *fakeapi.Provider, codex string) {
	t.Helper()
	// the base URL stands in Codex's first setting
	agent, listening := tapped(t, codex, `told=${2#openai_base_url=\"}; told=${told%\"}
setting="openai_base_url=\"$tap\""; shift 2; set -- -c "$setting" "$@"`)
	home, argv := t.TempDir(), []string{build(t), "run", "--upstream", provider.URL + "/v1"}
	if s.login {
		logIn(t, home)
		config := filepath.Join(home, "epitome.toml")
		text := "[upstreams.chatgpt]\nurl = \"" + provider.URL + "/v1\"\n"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		argv = []string{build(t), "run", "--config", config}
	}
	s.play(t, w, home, append(argv, "--data", t.TempDir(), "--", agent))
	w.judge(t, provider, *turns)
	judgeArtifacts(t, provider)
	compressed := slices.ContainsFunc(posts(provider), func(x fakeapi.Exchange) bool {
		return x.Header.Get("Content-Encoding") == "zstd"
	})
	if s.login != compressed {
		t.Errorf("requests reached the provider compressed: %t, logged in with ChatGPT: %t", compressed, s.login)
	}
	if !s.login { // the tap reads no compressed bodies
		listening.judge(t, provider)
	}
}

// logIn writes what Codex keeps of a login with ChatGPT, made up and unsigned.
func logIn(t *testing.T, home string) {
	t.Helper()
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	token := part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"exp":%d,"email":"someone@example.com",
		"https://api.openai.com/auth":{"chatgpt_plan_type":"plus","chatgpt_user_id":"u","chatgpt_account_id":"a"}}`,
		time.Now().Add(24*time.Hour).Unix())) + "." + part("unsigned")
	text := fmt.Sprintf(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":%q,"access_token":%q,
		"refresh_token":"r","account_id":"a"},"last_refresh":%q}`, token, token, time.Now().UTC().Format(time.RFC3339))
	if err := os.WriteFile(filepath.Join(home, "auth.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// play has Codex do the task, and holds that it saw no error. argv starts it.
func (s codexSession) play(t *testing.T, w *work, home string, argv []string) {
	t.Helper()
	argv = append(argv, "exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox",
		"--model", codexModel, "-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		"--disable", "apps", "--disable", "plugins", task)
	env := []string{"HOME=" + home, "CODEX_HOME=" + home, "OTHER_API_KEY=sk-test"}
	if !s.login {
		env = append(env, "CODEX_API_KEY=sk-test")
	}
	out := play(t, w.dir, argv, env)
	if strings.Contains(out, `"type":"error"`) || strings.Contains(out, `"type":"turn.failed"`) {
		t.Errorf("Codex reports an error:\n%s", tail(out))
	}
}

// settings are what Codex is told on its command line, with its provider at base.
func (s codexSession) settings(base string) []string {
	all := []string{"-c", `openai_base_url="` + base + `/v1"`}
	if !s.builtin {
		all = []string{"-c", `model_provider="other"`, "-c", `model_providers.other.name="other"`,
			"-c", `model_providers.other.base_url="` + base + `/v1"`,
			"-c", `model_providers.other.env_key="OTHER_API_KEY"`, "-c", `model_providers.other.wire_api="responses"`}
	}
	if s.told {
		all = append(all, "-c", "model_context_window=64000")
	}
	return all
}

// Codex goes on with the work that Claude Code began, with the rules that the user gave and what was done.
func TestHandoff(t *testing.T) {
	claude, codex := find(t, "@anthropic-ai/claude-code-*/claude"), find(t, "@openai/codex-*/vendor/*/bin/codex")
	begun, continued := newWork(t, *turns, claudeTools), newWork(t, 4, codexTools)
	small := func(name string) fakeapi.Model {
		m := fakeapi.ModelOf(name)
		m.Window = trueWindow
		return m
	}
	provider := fakeapi.StartProvider(t, fakeapi.Options{
		Models: map[string]fakeapi.Model{claudeModel: small(claudeModel), codexModel: small(codexModel)},
		Answer: func(x fakeapi.Exchange) []fakeapi.Part {
			if x.API == fakeapi.Responses {
				return continued.answer(x)
			}
			return begun.answer(x)
		}})
	data, home := t.TempDir(), t.TempDir()
	base := serve(t, "--upstream", provider.URL, "--data", data)
	playClaude(t, begun, claudeModel, base, []string{"MAX_THINKING_TOKENS=0"}, []string{claude})
	run := "$0 handoff --data $1 | $0 run --data $1 -- $2 exec --skip-git-repo-check --json " +
		"--dangerously-bypass-approvals-and-sandbox --model " + codexModel +
		" -c analytics.enabled=false -c check_for_update_on_startup=false --disable apps --disable plugins"
	play(t, continued.dir, []string{"sh", "-c", run, build(t), data, codex}, []string{"HOME=" + home,
		"CODEX_HOME=" + home, "CODEX_API_KEY=sk-test"})
	isCodex := func(x fakeapi.Exchange) bool { return x.API == fakeapi.Responses && continued.asks(x.Body) }
	all := posts(provider)
	first := slices.IndexFunc(all, isCodex)
	if first < 0 {
		t.Fatal("Codex asked nothing")
	}
	for _, want := range []string{"You take over the work of another agent", "Rule: never change money.Parse", "ledger.go"} {
		if !bytes.Contains(all[first].Body, []byte(want)) {
			t.Errorf("Codex is not told %q", want)
		}
	}
}

// Agents that read ANTHROPIC_BASE_URL or OPENAI_BASE_URL each in its own way play under epitome run.
func TestOtherAgentsUnderRun(t *testing.T) {
	f := func(name, model, path string, agent tools, argv []string, env ...string) {
		t.Run(name, func(t *testing.T) {
			w := newWork(t, *turns, agent)
			provider := plays(t, w, model, fakeapi.SaysTooLong)
			base := provider.URL + path
			env = append(env, "HOME="+t.TempDir(), "ANTHROPIC_API_KEY=sk-ant-test", "OPENAI_API_KEY=sk-test",
				"ANTHROPIC_BASE_URL="+base, "OPENAI_BASE_URL="+base, "COPILOT_PROVIDER_BASE_URL="+base)
			play(t, w.dir, append([]string{build(t), "run", "--data", t.TempDir(), "--"}, argv...), env)
			w.judge(t, provider, *turns)
			judgeArtifacts(t, provider)
		})
	}
	plain := tools{bash: "bash", command: "command", read: "read", edit: "edit", write: "write",
		path: "path", old: "old", now: "now"}
	script := filepath.Join(install(t, clients), "aisdk.mjs")
	f("AI SDK", claudeModel, "", plain, []string{"node", script, task, claudeModel})
	f("AI SDK streamed", claudeModel, "/v1", plain, []string{"node", script, task, claudeModel, "streamed"})

	settings := filepath.Join(t.TempDir(), "opencode.json")
	text := `{"autoupdate":false,"share":"disabled","permission":{"*":"allow","external_directory":"allow"}}`
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := []string{"OPENCODE_CONFIG=" + settings, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	open := func(model string) []string {
		return []string{find(t, "opencode-linux-x64/bin/opencode"), "run", "--model", model, task}
	}
	f("OpenCode", claudeModel, "", openCodeTools, open("anthropic/"+claudeModel), alone...)
	f("OpenCode with Responses", codexModel, "/v1", openCodeTools, open("openai/"+codexModel), alone...)

	f("Copilot CLI with Responses", codexModel, "/v1", tools{bash: "bash", command: "command"},
		[]string{find(t, "@github/copilot-linux-x64/copilot"), "--allow-all-tools", "--allow-all-paths",
			"--no-auto-update", "-p", task},
		"COPILOT_PROVIDER_WIRE_API=responses", "COPILOT_PROVIDER_API_KEY=sk-test", "COPILOT_MODEL="+codexModel,
		"COPILOT_OFFLINE=true")
}

var (
	// an artifact that a text names
	cited = regexp.MustCompile(`artifacts?[/ ]([a-z2-7]{26})`)
	// the tool that reads it, or its name in a text
	recallTool = regexp.MustCompile(`(?:"name":"|\\n)([a-z_]*recall)\b`)
	// the namespace in which Codex has the tool, once it has asked for it
	namespace = regexp.MustCompile(`"type":"tool_search_output".*?"name":"(mcp__epitome[a-z_]*)"`)
)

// runWithTools starts epitome run, which gives the agent its tools.
func runWithTools(t *testing.T, w *work, data, upstream, agent string) []string {
	w.file(t, "epitome.toml", `offload.address = "auto"`)
	return []string{build(t), "run", "--config", filepath.Join(w.dir, "epitome.toml"), "--data", data, "--upstream",
		upstream, "--", agent}
}

// recalls has the model read an artifact by epitome's tools at the end of its work, and find a word. It returns the
// name of the artifact, which is set then. A tool that the model has only heard of it asks for first, in the agent's way.
func (w *work) recalls() (name *string) {
	name = new(string)
	finder := func(recall []byte) string { return strings.TrimSuffix(string(recall), "recall") + "find" }
	read := func(body []byte) []fakeapi.Part {
		artifact, tool := cited.FindSubmatch(body), recallTool.FindSubmatch(body)
		if artifact == nil || tool == nil {
			return nil
		}
		*name = string(artifact[1])
		parts := []fakeapi.Part{fakeapi.Text("What did that one say?")}
		ways := map[string][2]string{string(tool[1]): {"lines", "1-5"}, finder(tool[1]): {"word", "LEDGER"}}
		for tool, how := range ways {
			part := call(tool, "artifact", *name, how[0], how[1])
			if space := namespace.FindSubmatch(body); space != nil {
				arguments, _ := json.Marshal(fmt.Sprintf(`{"artifact":%q,%q:%q}`, *name, how[0], how[1]))
				part = fakeapi.Raw(fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":"call_%[1]s","namespace":%q,`+
					`"name":%[1]q,"arguments":%[3]s,"status":"completed"}`, tool, space[1], arguments))
			}
			parts = append(parts, part)
		}
		return parts
	}
	w.last = func(body []byte) []fakeapi.Part {
		tool := recallTool.FindSubmatch(body)
		var find fakeapi.Part
		switch {
		case tool != nil && bytes.Contains(body, []byte(`"name":"ToolSearch"`)):
			find = call("ToolSearch", "query", "select:"+string(tool[1])+","+finder(tool[1]))
		case tool == nil && bytes.Contains(body, []byte(`"type":"tool_search"`)):
			find = fakeapi.Raw(`{"type":"tool_search_call","id":"tsc_recall","call_id":"call_search",` +
				`"execution":"client","status":"completed",` +
				`"arguments":{"query":"recall read an artifact of epitome, find a word","limit":8}}`)
		default:
			return read(body)
		}
		w.last = read
		return []fakeapi.Part{fakeapi.Text("Which tool reads it?"), find}
	}
	return name
}

// judgeRecall holds that the last request brings the lines of the artifact, and those with the word.
func judgeRecall(t *testing.T, p *fakeapi.Provider, data, name string) {
	t.Helper()
	all := posts(p)
	last := all[len(all)-1].Body
	text, err := os.ReadFile(filepath.Join(data, "artifacts", name+".txt"))
	if err != nil {
		t.Fatalf("the model found no tool or no artifact: %v; the last request is %s", err, tail(string(last)))
	}
	longest := slices.MaxFunc(strings.SplitN(string(text), "\n", 6)[:5], func(a, b string) int {
		return cmp.Compare(len(a), len(b))
	})
	want, _ := json.Marshal(longest)
	_, behind, _ := bytes.Cut(last, []byte("What did that one say?"))
	found := regexp.MustCompile(`message [0-9]+.*, line [0-9]+ of artifact [a-z2-7]+: .*ledger`)
	if !bytes.Contains(behind, want[1:len(want)-1]) || !found.Match(behind) {
		t.Errorf("behind the call the last request has %s; want line %q, and %s", tail(string(behind)), longest, found)
	}
}
