package cli

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"epitome/internal/fakeapi"
)

// Standard error that is closed, or that nobody reads, holds up no request, no page and no stop.
func TestTheLogHoldsNothingUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer up.Close()
	for _, how := range []string{"closed", "not read"} {
		said, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("epitome", "serve", "--listen", "127.0.0.1:0", "--upstream", up.URL+"/v1", "--data", t.TempDir())
		cmd.Env, cmd.Stderr = append(os.Environ(), "TEST_DEFAULTS=../config.toml"), to
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stuck := time.AfterFunc(fakeapi.Patience, func() { _ = cmd.Process.Kill() })
		line, err := bufio.NewReader(said).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		address := regexp.MustCompile(`http://127[^"]*`).FindString(line)
		_ = to.Close()
		if how == "closed" {
			_ = said.Close()
		}
		for range 500 { // more than the pipe holds
			answer, err := http.Post(address+"/v1/chat/completions", "application/json",
				strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}]}`))
			if err != nil {
				t.Fatalf("%s: %v", how, err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || !stuck.Stop() {
			t.Errorf("%s: it ended with %v", how, err)
		}
		_ = said.Close()
	}
}

// A person at a terminal reads how to begin, that a conversation has begun, what was decided and what failed, and nothing
// else.
func TestTerminalShowsDecisionsAndFailures(t *testing.T) {
	var out strings.Builder
	log := slog.New(terminal{to: &out, level: slog.LevelInfo, near: new(sync.Map)})
	chat := log.With("method", "POST", "path", "/v1/chat/completions", "tokens_before", 900, "tokens_after", 900)
	claude := log.With("agent", "claude-cli", "tokens_before", 23_000, "tokens_after", 23_000, "window", 200_000)
	shortened := log.With("tokens_before", 51_234, "tokens_after", 16_012)
	log.Info("listening", "address", "http://0.0.0.0:7070", "upstream", "https://api.openai.com/v1", "mode", "on",
		"OPENAI_BASE_URL", "http://127.0.0.1:7070/v1", "ANTHROPIC_BASE_URL", "http://127.0.0.1:7070/u/anthropic", "pages", "./epitome open")
	chat.Info("exchange", "status", 401, "turn", 1)
	chat.Info("exchange", "status", 200, "turn", 2)
	claude.Info("exchange", "status", 401, "turn", 1)
	claude.Info("exchange", "status", 200, "turn", 2)
	claude.Info("exchange", "status", 200, "turn", 3)
	shortened.Info("exchange", "agent", "codex", "status", 200, "turn", 1, "did", "offload: 2", "window", 64_000)
	log.Info("exchange", "agent", "codex", "status", 404, "turn", 2, "tokens_before", 9, "tokens_after", 9, "error", "/v1 twice")
	log.Info("exchange", "method", "GET", "path", "/v1/models", "status", 404)
	log.Info("exchange", "method", "POST", "path", "/v1/message", "status", 404, "error", "no such path")
	log.Warn("exchange", "remote", "127.0.0.1:9", "status", 400, "error", "it is not HTTP/1.1")
	log.Info("summary_started", "conversation", "a")
	log.Info("rescue", "verdict", "too_long", "outcome", "rescued")
	shortened.Info("exchange", "mode", "on", "turn", 65, "did", "compact: 117")
	chat.Info("exchange", "mode", "observe", "turn", 3, "did", "clear: 2")
	for range 3 {
		claude.Warn("context_window_warning", "conversation", "1a8dc3c4", "reason", "near", "tokens", 160_000)
	}
	claude.Info("exchange", "conversation", "1a8dc3c4", "status", 200, "turn", 66, "did", "clear: 2")
	log.Info("context_window_corrected", "model", "m\x1b]0;x\a\u009b")
	log.Debug("a server does not say how much a model holds")
	log.Warn("exchange", "method", "POST", "path", "/v1/\x1bx", "status", 502, "error", "cannot reach it")
	log.Warn("reloaded; some changes wait for a restart", "keys", []string{"listen", "data"}, "error", io.EOF, "ratio", .5)
	log.Error("the configuration is not sound", "error", "config.toml:2: listen must be host:port")
	want := `TIME epitome listens on http://0.0.0.0:7070 and sends to https://api.openai.com/v1, mode on

    export OPENAI_BASE_URL=http://127.0.0.1:7070/v1
    export ANTHROPIC_BASE_URL=http://127.0.0.1:7070/u/anthropic

The pages, in your browser:

    ./epitome open

Waiting for the first request. Ctrl-C ends epitome.
TIME turn 1: 900 → 900 tokens, nothing to shorten; answered 401
TIME claude-cli, turn 1: 23k → 23k tokens, nothing to shorten; answered 401
TIME codex, turn 1: 51.2k → 16k tokens, offload: 2
TIME codex, turn 2: 9 → 9 tokens, nothing to shorten; answered 404: /v1 twice
TIME POST /v1/message: 404 no such path
TIME warn: 127.0.0.1:9: 400 it is not HTTP/1.1
TIME turn 65: 51.2k → 16k tokens, compact: 117
TIME turn 3: 900 → 900 tokens in mode on, clear: 2
TIME claude-cli 1a8dc3, 160k of 200k tokens, soon to be shortened
TIME claude-cli 1a8dc3, turn 66: 23k → 23k tokens, clear: 2
TIME context_window_corrected, model m␛]0;x␇�
TIME warn: POST /v1/␛x: 502 cannot reach it
TIME warn: reloaded; some changes wait for a restart, keys [listen data], error EOF, ratio 0.5
TIME error: the configuration is not sound, error config.toml:2: listen must be host:port
`
	if got := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d`).ReplaceAllString(out.String(), "TIME"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
