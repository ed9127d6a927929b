//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"epitome/internal/fakeapi"
)

// A provider that refuses nothing, as a server that cuts silently, gets no request over a small configured window, though
// an agent's system prompt and tools take most of it.
func TestCrowdedWindows(t *testing.T) {
	claude := find(t, "@anthropic-ai/claude-code-*/claude")
	opencode := find(t, "opencode-linux-x64/bin/opencode")
	settings := filepath.Join(t.TempDir(), "opencode.json")
	text := `{"autoupdate":false,"share":"disabled","permission":{"*":"allow","external_directory":"allow"}}`
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	serveIn := func(t *testing.T, window int, upstream string) string {
		config := filepath.Join(t.TempDir(), "config.toml")
		text := fmt.Sprintf("[window.models]\n\"claude-*\" = %d\n", window)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return serve(t, "--config", config, "--upstream", upstream, "--data", t.TempDir())
	}
	for _, c := range []struct {
		agent  string
		window int
		rules  int // bytes of a file that the agent reads with its system prompt
	}{
		{"Claude Code", 40_000, 0}, {"Claude Code", 40_000, 20_000}, {"Claude Code", 36_000, 0},
		{"Claude Code", 36_000, 20_000}, {"Claude Code", 32_000, 0}, {"Claude Code", 32_000, 12_000},
		{"Claude Code", 32_000, 20_000}, {"OpenCode", 24_000, 0},
	} {
		t.Run(fmt.Sprintf("%s %d %d", c.agent, c.window, c.rules), func(t *testing.T) {
			agent := claudeTools
			if c.agent == "OpenCode" {
				agent = openCodeTools
			}
			w := newWork(t, *turns, agent)
			if c.rules > 0 {
				w.file(t, "CLAUDE.md", lines("Rule %[2]d of %[1]s: amounts are cents, see page %[3]d.", "money")[:c.rules])
			}
			models := map[string]fakeapi.Model{claudeModel: fakeapi.ModelOf(claudeModel)} // which holds 200,000 tokens
			provider := fakeapi.StartProvider(t, fakeapi.Options{Models: models, Answer: w.answer})
			base := serveIn(t, c.window, provider.URL)
			if c.agent == "OpenCode" {
				play(t, w.dir, []string{opencode, "run", "--model", "anthropic/" + claudeModel, task}, []string{
					"HOME=" + t.TempDir(), "ANTHROPIC_API_KEY=sk-ant-test", "ANTHROPIC_BASE_URL=" + base + "/v1",
					"OPENCODE_CONFIG=" + settings, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
					"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"})
			} else {
				playClaude(t, w, claudeModel, base, []string{"MAX_THINKING_TOKENS=0"}, []string{claude})
			}
			over, all := 0, 0
			for _, x := range posts(provider) {
				if x.Counting || !w.asks(x.Body) {
					continue
				}
				all++
				if x.Usage.Input > c.window {
					over++
				}
			}
			t.Logf("%d of %d requests were over the window", over, all)
			if over > 0 || all < *turns {
				t.Errorf("%d of %d requests were over the window of %d tokens", over, all, c.window)
			}
		})
	}
}
