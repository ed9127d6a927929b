//go:build e2e

package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/e2e/sdktest"
	"epitome/internal/fakeapi/responses/rules"
	"epitome/internal/needtest"
)

var othersSource = filepath.Join("testdata", "others")

// TestOthersUnderRun has agents that read ANTHROPIC_BASE_URL or OPENAI_BASE_URL each in its own way play under epitome
// run.
func TestOthersUnderRun(t *testing.T) {
	n := *turns
	installed := sdktest.InstallNode(t, othersSource)
	binary := sdktest.Build(t)
	// play plays argv, with its provider at a base URL that env names.
	under := func(t *testing.T, w *work, argv, env []string) {
		run := append([]string{binary, "run", "--data", t.TempDir(), "--"}, argv...)
		out := play(t, w.dir, run, append(env, "HOME="+t.TempDir(), "ANTHROPIC_API_KEY=sk-ant-test", "OPENAI_API_KEY=sk-test"))
		if !strings.Contains(string(out), closing) {
			t.Errorf("%s does not print the model's last words:\n%s", argv[0], tail(string(out)))
		}
	}
	f := func(name string, agent tools, base string, argv, env []string) {
		t.Run(name, func(t *testing.T) {
			w := newWork(t, n, agent, false)
			provider := strictMessages(t, othersModel, w)
			under(t, w, argv, append(env, "ANTHROPIC_BASE_URL="+provider.URL()+base))
			w.judge(t, inMessages(provider), n)
		})
	}
	plain := tools{bash: "bash", command: "command", read: "read", edit: "edit", write: "write",
		path: "path", old: "old", now: "now"}
	script := filepath.Join(installed, "aisdk.mjs")
	f("AI SDK", plain, "", []string{"node", script, task, othersModel}, nil)
	f("AI SDK streamed", plain, "/v1", []string{"node", script, task, othersModel, "streamed"}, nil)
	full := tools{bash: "bash", command: "command", read: "read", edit: "edit", write: "write",
		path: "filePath", old: "oldString", now: "newString"}
	open := func(model string) []string { return []string{opencode(t, installed), "run", "--model", model, task} }
	f("OpenCode", full, "", open("anthropic/"+othersModel), opencodeEnv(t))
	t.Run("OpenCode with Responses", func(t *testing.T) {
		w := newWork(t, n, full, true)
		provider := strictResponses(t, trueWindow, rules.TooLong, w)
		under(t, w, open("openai/"+codexModel), append(opencodeEnv(t), "OPENAI_BASE_URL="+provider.URL()+"/v1"))
		w.judge(t, inResponses(provider), n)
	})
	t.Run("Copilot CLI with Responses", func(t *testing.T) {
		w := newWork(t, n, tools{bash: "bash", command: "command"}, true)
		provider := strictResponses(t, trueWindow, rules.TooLong, w)
		under(t, w, []string{copilot(t, installed), "--allow-all-tools", "--allow-all-paths", "--no-auto-update", "-p", task},
			[]string{"COPILOT_PROVIDER_BASE_URL=" + provider.URL() + "/v1", "COPILOT_PROVIDER_WIRE_API=responses",
				"COPILOT_PROVIDER_API_KEY=sk-test", "COPILOT_MODEL=" + codexModel, "COPILOT_OFFLINE=true"})
		w.judge(t, inResponses(provider), n)
	})
}

// copilot returns Copilot CLI's binary.
func copilot(t *testing.T, installed string) string {
	binary := filepath.Join(installed, "node_modules", "@github", "copilot-linux-x64", "copilot")
	if _, err := os.Stat(binary); err != nil {
		needtest.Skip(t, "Copilot CLI is pinned for Linux on x64 alone: %v", err)
	}
	return binary
}

// othersModel is one that all of them know.
const othersModel = "claude-sonnet-4-5"

// opencode returns OpenCode's binary.
func opencode(t *testing.T, installed string) string {
	binary := filepath.Join(installed, "node_modules", "opencode-linux-x64", "bin", "opencode")
	if _, err := os.Stat(binary); err != nil {
		needtest.Skip(t, "OpenCode is pinned for Linux on x64 alone: %v", err)
	}
	return binary
}

// opencodeEnv lets OpenCode do whatever the model wants, and look for nothing beyond this machine.
func opencodeEnv(t *testing.T) []string {
	settings := filepath.Join(t.TempDir(), "opencode.json")
	text := `{"autoupdate":false,"share":"disabled","permission":{"*":"allow","external_directory":"allow"}}`
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"OPENCODE_CONFIG=" + settings, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
}
