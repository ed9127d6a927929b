package agents_test

import (
	"path/filepath"
	"strings"
	"testing"

	"epitome/scripted/responses"
	"epitome/scripted/responses/rules"
	"epitome/scripted/scriptedtest"
	"epitome/sdk/sdktest"
)

// codexTools are those of Codex: it does all with a shell.
var codexTools = tools{bash: "exec_command", command: "cmd", patch: "apply_patch"}

// codexModel is one of which Codex believes that it holds 272 000 tokens.
const codexModel = "gpt-5.5"

// codexSession is how Codex plays.
type codexSession struct {
	window   int    // of the model, as the server has it
	builtin  bool   // its own provider, at another address; else one of its configuration
	told     bool   // it knows the window
	straight bool   // without epitome
	serve    string // further flags of epitome, separated by blanks
}

func TestCodex(t *testing.T) {
	n := turns(t)
	codex := installCodex(t)
	binary := sdktest.Build(t)
	f := func(name string, s codexSession) {
		t.Run(name, func(t *testing.T) {
			w := newWork(t, n, codexTools, true)
			provider := strictResponses(t, s.window, w)
			if s.straight {
				s.play(t, w, provider.URL(), codex)
				w.judgeTaken(t, inResponses(provider), n)
				keep(t, nil, inResponses(provider))
				return
			}
			data := t.TempDir()
			listening := newTap(t, sdktest.Serve(t, binary, "--upstream", provider.URL()+"/v1", "--data", data))
			s.play(t, w, listening.URL, codex)
			w.judge(t, inResponses(provider), n)
			judgeClient(t, listening.passages(), inResponses(provider))
			keep(t, listening.passages(), inResponses(provider))
		})
	}
	f("straight", codexSession{window: 272_000, straight: true})
	f("straight with its own provider", codexSession{window: 272_000, straight: true, builtin: true})
	f("custom provider", codexSession{window: trueWindow})
	f("its own provider", codexSession{window: trueWindow, builtin: true})
}

// installCodex returns the binary of Codex that was made for this machine.
func installCodex(t *testing.T) string {
	dir := sdktest.InstallNode(t, nativeSource)
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", "@openai", "codex-*", "vendor", "*", "bin", "codex"))
	if err != nil || len(found) != 1 {
		t.Fatalf("Codex has the binaries %q, want one (%v)", found, err)
	}
	return found[0]
}

// strictResponses plays w's model behind a window.
func strictResponses(t *testing.T, window int, w *work) *responses.Server {
	model := rules.ModelOf(codexModel)
	model.Window = window
	return scriptedtest.StartResponses(t, responses.Options{Models: map[string]rules.Model{codexModel: model},
		Otherwise: func(r responses.Received) responses.Turn { return w.answer(r.Body).inItems() }})
}

// play has Codex do the task, and holds that it did and saw no error.
func (s codexSession) play(t *testing.T, w *work, base, codex string) {
	t.Helper()
	home := t.TempDir()
	argv := []string{codex, "exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox",
		"--model", codexModel}
	for _, setting := range s.settings(base) {
		argv = append(argv, "-c", setting)
	}
	out := play(t, w.dir, append(argv, task), []string{"HOME=" + home, "CODEX_HOME=" + home, "CODEX_API_KEY=sk-test",
		"OPENAI_API_KEY=sk-test"})
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, `"type":"error"`) || strings.Contains(line, `"type":"turn.failed"`) {
			t.Errorf("Codex tells of what a session without errors has not: %s", tail(line))
		}
	}
	if !strings.Contains(string(out), closing) {
		t.Errorf("the session ended with\n%s\nwant the model's last words", tail(string(out)))
	}
}

// settings are what Codex is told, as for its configuration.
func (s codexSession) settings(base string) []string {
	all := []string{`openai_base_url="` + base + `/v1"`, "analytics.enabled=false", "check_for_update_on_startup=false"}
	if !s.builtin {
		all = append(all, `model_provider="other"`, `model_providers.other.name="other"`,
			`model_providers.other.base_url="`+base+`/v1"`, `model_providers.other.env_key="OPENAI_API_KEY"`,
			`model_providers.other.wire_api="responses"`)
	}
	if s.told {
		all = append(all, "model_context_window=64000")
	}
	return all
}
