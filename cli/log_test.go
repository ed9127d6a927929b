package cli

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
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
