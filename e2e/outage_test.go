//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"epitome/internal/fakeapi"
)

// A model that gives no summary costs a conversation of 80 turns one wait at most, and two questions before code alone
// writes the next five summaries. No request of the agent fails.
func TestOutageOfTheSummarizer(t *testing.T) {
	refuses := func(status int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if len(header) > 0 {
				w.Header().Set("Retry-After", header[0])
			}
			w.WriteHeader(status)
		}
	}
	says := func(text, finish string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { say(w, text, finish) }
	}
	for name, answer := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"429":   refuses(429), "429 for long": refuses(429, "86400"), "500": refuses(500),
		"cut": says("## Goal\nFix it", "length"), "empty": says("", "stop"),
	} {
		for _, prepare := range []string{"on", "off"} {
			t.Run(name+", prepare "+prepare, func(t *testing.T) {
				t.Parallel()
				playOutage(t, answer, prepare)
			})
		}
	}
}

// say answers a request of Chat Completions.
func say(w http.ResponseWriter, text, finish string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "x", "object": "chat.completion", "model": "m",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": text},
		}},
	})
}

// playOutage plays 80 turns before a model that answers questions for summaries as told.
func playOutage(t *testing.T, answer http.HandlerFunc, prepare string) {
	const turns, isWait = 80, 30 * time.Second // half of the time that epitome waits
	var questions atomic.Int64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil || r.Method != http.MethodPost:
			w.WriteHeader(http.StatusNotFound)
		case fakeapi.Summary(body) != "":
			questions.Add(1)
			answer(w, r)
		default:
			say(w, prose(30), "stop")
		}
	}))
	t.Cleanup(func() {
		provider.CloseClientConnections()
		provider.Close()
	})
	config := filepath.Join(t.TempDir(), "epitome.toml")
	text := fmt.Sprintf("upstream = %q\n[window.models]\n\"*\" = \"16k\"\n[summarize]\nprepare = %q\n", provider.URL+"/v1",
		prepare)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	base := serve(t, "--config", config)
	messages := []any{map[string]string{"role": "user", "content": "Look at all parts of the shop, one by one."}}
	waits, compactions, first, sent := 0, 0, int64(0), 0
	for turn := range turns {
		body, _ := json.Marshal(map[string]any{"model": "m", "messages": messages}) // plain data
		begun := time.Now()
		resp, err := fakeapi.Direct().Post(base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("turn %d: status %d", turn, resp.StatusCode)
		}
		if time.Since(begun) > isWait {
			waits++
		}
		var before, after int
		_, _ = fmt.Sscanf(resp.Header.Get("x-epitome-tokens"), "%d>%d", &before, &after) // else both are 0
		if after < sent {
			compactions++
		}
		sent = after
		if compactions < 5 { // behind the fifth the model may be asked again
			first = questions.Load()
		}
		messages = append(messages, map[string]string{"role": "assistant", "content": prose(30)},
			map[string]string{"role": "user", "content": fmt.Sprintf("Go on with part %d. %s", turn, prose(20))})
	}
	t.Logf("%d compactions: %d waits, %d questions, %d of them before the fifth compaction", compactions, waits,
		questions.Load(), first)
	if compactions < 7 || waits > 1 || first > 2 || questions.Load() > int64(2*(compactions/5+1)) {
		t.Error("that is too much, or the play is too short")
	}
}

// prose returns so many sentences.
func prose(sentences int) string {
	return strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", sentences)
}
