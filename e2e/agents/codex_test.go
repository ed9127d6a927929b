//go:build e2e

package agents_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/e2e/sdktest"
	"epitome/internal/fakeapi/responses"
	"epitome/internal/fakeapi/responses/rules"
	"epitome/internal/fakeapi/scriptedtest"
)

// codexTools are those of Codex: it does all with a shell.
var codexTools = tools{bash: "exec_command", command: "cmd", patch: "apply_patch"}

// codexModel is one of which Codex believes that it holds 272 000 tokens.
const codexModel = "gpt-5.5"

// codexSession is how Codex plays.
type codexSession struct {
	builtin bool     // its own provider, at another address; else one of its configuration
	told    bool     // it knows the window
	under   bool     // it runs under epitome run
	login   bool     // it is logged in with ChatGPT, and has no key
	home    string   // where it keeps what it remembers
	words   []string // further arguments, before the task
	refuses rules.Overflow
}

func codexPlays(t *testing.T, n int, codex, binary string) {
	f := func(name string, s codexSession) {
		t.Run(name, func(t *testing.T) {
			s.home = t.TempDir()
			w := newWork(t, n, codexTools, true)
			provider := strictResponses(t, trueWindow, s.refuses, w)
			if s.under {
				run := []string{binary, "run", "--upstream", provider.URL() + "/v1"}
				if s.login {
					logIn(t, s.home)
					run = []string{binary, "run", "--config", write(t, "[upstreams.chatgpt]\nurl = \""+provider.URL()+"/v1\"\n")}
				}
				agent, listening := runTapped(t, codex, moved)
				s.play(t, w, append(run, "--data", t.TempDir(), "--", agent))
				w.judge(t, inResponses(provider), n)
				if s.judgeCodings(t, provider); !s.login { // whose bodies are compressed
					judgeClient(t, listening.passages(), inResponses(provider))
				}
				return
			}
			serve := []string{"--upstream", provider.URL() + "/v1", "--data", t.TempDir()}
			base := sdktest.Serve(t, binary, serve...)
			listening := newTap(t, func() string { return base })
			s.play(t, w, append([]string{codex}, s.settings(listening.URL)...))
			if w.judgeTaken(t, inResponses(provider), n); !s.told { // its own compactions take all out again
				judgeArtifacts(t, inResponses(provider))
			}
			judgeClient(t, listening.passages(), inResponses(provider))
			s.judgeWindow(t, inResponses(provider))
			if got := listening.refusedUpgrades(); s.builtin != (got == 1) {
				t.Errorf("%d WebSockets were refused, want one of Codex's own provider alone: it goes on over HTTP at once", got)
			}
		})
	}
	f("its own provider", codexSession{builtin: true})
	f("custom provider", codexSession{})
	f("custom provider told the window", codexSession{told: true})
	f("refused in the stream", codexSession{builtin: true, refuses: rules.FailsInStream})
	f("ended at once", codexSession{builtin: true, refuses: rules.EndsAtOnce})
	f("under run", codexSession{under: true})
	f("under run logged in with ChatGPT", codexSession{under: true, login: true})
}

// moved are a shell's steps that take the base URL out of Codex's first setting, and put another into it.
const moved = `told=${2#openai_base_url=\"}; told=${told%\"}
setting="openai_base_url=\"$tap\""; shift 2; set -- -c "$setting" "$@"`

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

// judgeCodings holds that requests come compressed where Codex is logged in, and not elsewhere: those that nobody
// rewrote, as the client sent them.
func (s codexSession) judgeCodings(t *testing.T, provider *responses.Server) {
	t.Helper()
	compressed := 0
	for _, r := range provider.Received() {
		if r.Header.Get("Content-Encoding") == "zstd" {
			compressed++
		}
	}
	t.Logf("%d requests reached the provider compressed", compressed)
	if s.login != (compressed > 0) {
		t.Errorf("%d requests reached the provider compressed, logged in with ChatGPT: %t", compressed, s.login)
	}
}

// judgeWindow holds that nothing was too long for a window that somebody knew, and that Codex compacts by itself where
// it is told.
func (s codexSession) judgeWindow(t *testing.T, received []taken) {
	t.Helper()
	compactions := 0
	for _, r := range received {
		if r.tooLong && s.told {
			t.Error("a request was too long for a window that is known")
		}
		if compacts(r.body) {
			compactions++
		}
	}
	t.Logf("Codex asked for %d compactions of its own", compactions)
	if s.told != (compactions > 0) {
		t.Errorf("Codex, told of the window: %t, asked for %d compactions of its own", s.told, compactions)
	}
}

// write writes a file of configuration.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "epitome.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// codexIn returns the binary of Codex that was made for this machine.
func codexIn(t *testing.T, dir string) string {
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", "@openai", "codex-*", "vendor", "*", "bin", "codex"))
	if err != nil || len(found) != 1 {
		t.Fatalf("Codex has the binaries %q, want one (%v)", found, err)
	}
	return found[0]
}

// strictResponses plays w's model behind a window, with one way to tell what is beyond it.
func strictResponses(t *testing.T, window int, refuses rules.Overflow, w *work) *responses.Server {
	model := rules.ModelOf(codexModel)
	model.Window, model.Overflow = window, refuses
	return scriptedtest.StartResponses(t, responses.Options{Models: map[string]rules.Model{codexModel: model},
		Otherwise: func(r responses.Received) responses.Turn { return w.answer(r.Body).inItems() }})
}

// play has Codex do the task, and holds that it did and saw no error. argv starts it.
func (s codexSession) play(t *testing.T, w *work, argv []string) {
	t.Helper()
	argv = append(argv, "exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox",
		"--model", codexModel, "-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		"--disable", "apps", "--disable", "plugins") // what a login with ChatGPT has it look for elsewhere
	argv = append(append(argv, s.words...), task)
	env := []string{"HOME=" + s.home, "CODEX_HOME=" + s.home, "OTHER_API_KEY=sk-test"}
	if !s.login {
		env = append(env, "CODEX_API_KEY=sk-test")
	}
	out := play(t, w.dir, argv, env)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, `"type":"error"`) || strings.Contains(line, `"type":"turn.failed"`) {
			t.Errorf("Codex tells of what a session without errors has not: %s", tail(line))
		}
	}
	if !strings.Contains(string(out), closing) {
		t.Errorf("the session ended with\n%s\nwant the model's last words", tail(string(out)))
	}
}

// settings are what Codex is told on its command line, with its provider at base.
func (s codexSession) settings(base string) []string {
	all := []string{"-c", `openai_base_url="` + base + `/v1"`}
	if !s.builtin {
		all = []string{"-c", `model_provider="other"`, "-c", `model_providers.other.name="other"`,
			"-c", `model_providers.other.base_url="` + base + `/v1"`, "-c", `model_providers.other.env_key="OTHER_API_KEY"`,
			"-c", `model_providers.other.wire_api="responses"`}
	}
	if s.told {
		all = append(all, "-c", "model_context_window=64000")
	}
	return all
}
