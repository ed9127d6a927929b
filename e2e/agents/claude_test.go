//go:build e2e

// Package agents_test runs real agents, unchanged and offline, through the real program, against a strict server whose
// window is much smaller than the agent believes.
//
// It holds that a long session comes to its end without an error that the agent could see, that the provider refuses
// nothing by a rule, that most tokens come from its cache, and that what needs no rewriting passes to the byte.
// It is built with the tag e2e alone, and skipped with the reason where npm reaches no registry.
package agents_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/e2e/sdktest"
	"epitome/internal/fakeapi/messages"
	"epitome/internal/fakeapi/messages/rules"
	"epitome/internal/fakeapi/scriptedtest"
)

// trueWindow is what the server's model holds, in tokens; agents believe in 200 000 and more.
const trueWindow = 64_000

var nativeSource = filepath.Join("testdata", "native")

// claudeTools are those of Claude Code.
var claudeTools = tools{bash: "Bash", command: "command", read: "Read", edit: "Edit", write: "Write",
	path: "file_path", old: "old_string", now: "new_string"}

// turns is how many turns sessions have.
var turns = flag.Int("turns", 40, "turns of a session")

func TestLocksNameNoRegistry(t *testing.T) {
	sdktest.CheckLocks(t, nativeSource, othersSource)
}

// session is what is played, and by whom.
type session struct {
	model string
	think bool     // the agent asks for thinking
	under bool     // the agent runs under epitome run
	env   []string // of the agent
	home  string   // where the agent keeps what it remembers of sessions
	words []string // further arguments of the agent
}

// TestNative has agents play that are programs of their own. They are installed once for all.
func TestNative(t *testing.T) {
	n := *turns
	dir := sdktest.InstallNode(t, nativeSource)
	binary := sdktest.Build(t)
	t.Run("Claude Code", func(t *testing.T) { claudePlays(t, n, claudeIn(t, dir), binary) })
	t.Run("Claude Code recalls", func(t *testing.T) { claudeRecalls(t, n, claudeIn(t, dir), binary) })
	t.Run("Codex recalls", func(t *testing.T) { codexRecalls(t, n, codexIn(t, dir), binary) })
	t.Run("Codex", func(t *testing.T) { codexPlays(t, n, codexIn(t, dir), binary) })
}

func claudePlays(t *testing.T, n int, claude, binary string) {
	f := func(name string, s session) {
		t.Run(name, func(t *testing.T) {
			s.home = t.TempDir()
			w := newWork(t, n, claudeTools, s.think)
			provider := strictMessages(t, s.model, w)
			data := t.TempDir()
			var listening *tap
			if s.under {
				agent, said := runTapped(t, claude, `told="$ANTHROPIC_BASE_URL"; export ANTHROPIC_BASE_URL="$tap"`)
				listening = said
				s.playClaude(t, w, provider.URL(), []string{binary, "run", "--data", data, "--", agent})
			} else {
				base := sdktest.Serve(t, binary, "--upstream", provider.URL(), "--data", data)
				listening = newTap(t, func() string { return base })
				s.playClaude(t, w, listening.URL, []string{claude})
			}
			w.judge(t, inMessages(provider), n)
			judgeClient(t, listening.passages(), inMessages(provider))
		})
	}
	f("without thinking", session{model: "claude-sonnet-4-5", env: []string{"MAX_THINKING_TOKENS=0"}})
	f("with bound thinking", session{model: "claude-opus-5-5", think: true})
	f("with bound thinking and system messages", session{model: "claude-fable-5-1", think: true})
	f("under run", session{model: "claude-sonnet-4-5", under: true, env: []string{"MAX_THINKING_TOKENS=0"}})
}

// runTapped returns a command that runs the agent where it is told to, but with a tap between. steps are those of a
// shell: they put into told what the agent is told, and tell it the tap, whose URL is in tap.
func runTapped(t *testing.T, agent, steps string) (command string, between *tap) {
	t.Helper()
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	between = newTap(t, func() string {
		base, err := os.ReadFile(told)
		if err != nil {
			t.Error(err)
		}
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

// claudeIn returns the binary of Claude Code that was made for this machine.
func claudeIn(t *testing.T, dir string) string {
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-*", "claude"))
	if err != nil || len(found) != 1 {
		t.Fatalf("Claude Code has the binaries %q, want one (%v)", found, err)
	}
	return found[0]
}

// strictMessages plays w's model behind a window that the agent does not know.
func strictMessages(t *testing.T, name string, w *work) *messages.Server {
	model := rules.ModelOf(name)
	model.Window = trueWindow
	// Claude Code takes a part of its last system message back in the next request, where this model has such messages.
	model.SystemUnbound = strings.HasPrefix(name, "claude-fable")
	return scriptedtest.StartMessages(t, messages.Options{
		Models:    map[string]rules.Model{name: model},
		Otherwise: func(r messages.Received) messages.Turn { return w.answer(r.Body).inBlocks() }})
}

// playClaude has Claude Code do the task, and holds that it did and saw no error.
func (s session) playClaude(t *testing.T, w *work, base string, argv []string) {
	t.Helper()
	argv = append(append(argv, s.words...), "-p", task, "--model", s.model, "--output-format", "stream-json", "--verbose",
		"--permission-mode", "bypassPermissions", "--max-turns", "200")
	out := play(t, w.dir, argv, append([]string{"HOME=" + s.home, "ANTHROPIC_BASE_URL=" + base,
		"ANTHROPIC_API_KEY=sk-ant-test-000000000000000000000000", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "IS_SANDBOX=1"}, s.env...))
	type told struct {
		Type, Subtype, Result string
		IsError               bool `json:"is_error"`
	}
	var last told
	for line := range bytes.Lines(out) {
		var e told
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("Claude Code printed what is no JSON: %s", line)
		}
		if e.Type == "system" && e.Subtype != "init" && e.Subtype != "thinking_tokens" {
			t.Errorf("Claude Code tells of what a session without errors has not: %s", line)
		}
		last = e
	}
	if last.Type != "result" || last.IsError || last.Result != closing {
		t.Errorf("the session ended with %+v, want the model's last words", last)
	}
}

// play runs an agent to its end, offline, and returns what it printed.
func play(t *testing.T, dir string, argv, env []string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	closed := "http://127.0.0.1:9" // a port at which nobody listens: what is not meant for this machine gets nowhere
	cmd.Env = append(sdktest.Environ(), "HTTPS_PROXY="+closed, "HTTP_PROXY="+closed, "NO_PROXY=127.0.0.1,localhost", "PWD="+dir)
	cmd.Env = append(cmd.Env, env...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", argv[0], err, tail(out.String()), tail(complaint.String()))
	}
	t.Logf("%s took %s", filepath.Base(argv[0]), time.Since(began).Round(time.Second/10))
	if complaint.Len() > 0 {
		t.Logf("it said:\n%s", tail(complaint.String()))
	}
	return out.Bytes()
}

// tail is the end of a long text.
func tail(text string) string { return strings.TrimSpace(text[max(0, len(text)-4000):]) }
