package prose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"epitome/event"
)

// What earlier versions have stored is read, and what this one stores they can read.
func TestStoredProseKeepsItsForm(t *testing.T) {
	const stored = `{"text":"a","tokens":1,"way":"continue","upstream":"up","model":"m","input_tokens":2,"cached_tokens":3,` +
		`"output_tokens":4,"requests":5,"took":6,"made":"2026-01-02T03:04:05Z"}`
	want := Prose{
		Text: "a", Tokens: 1, Way: WayContinue, Upstream: "up", Model: "m",
		Cost: event.Cost{InputTokens: 2, CachedTokens: 3, OutputTokens: 4, Requests: 5, Took: 6},
		Made: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	var got Prose
	if err := json.Unmarshal([]byte(stored), &got); err != nil || got != want {
		t.Errorf("read %+v, %v", got, err)
	}
	if again, err := json.Marshal(want); string(again) != stored || err != nil {
		t.Errorf("stored %s, %v", again, err)
	}
}

func TestQuestionsAreNeverPrinted(t *testing.T) {
	q := Question{
		Key: "hidden", Credential: "hidden", Continue: []byte("hidden"), Earlier: "hidden",
		Transcript: []Entry{{Kind: User, Text: "hidden"}},
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("asked", "question", q)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb, q)
	}
	if strings.Contains(log.String(), "hidden") || strings.Count(log.String(), "a question to summarise") != 8 {
		t.Errorf("printed %s", &log)
	}
}
