package counting

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokensMeasuresEverySample(t *testing.T) {
	report, err := Run(t.Context(), Options{Quick: true, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, row := range report.Speed {
		kinds = append(kinds, row.Kind+" "+row.Vocabulary)
		if row.Tokens != row.TiktokenTokens || row.Tokens == 0 || row.Ratio <= 0 || row.TiktokenMBPerSecond <= 0 {
			t.Errorf("%s has %d tokens, tiktoken-go's %d, ratio %g", row.Kind, row.Tokens, row.TiktokenTokens,
				row.Ratio)
		}
	}
	var want []string
	for _, kind := range []string{"prose", "code", "json", "json_compact", "log", "cjk"} {
		want = append(want, kind+" o200k_base", kind+" cl100k_base")
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("measured %q, want %q", kinds, want)
	}
	if len(report.Growth) != 2*len(hardTexts()) || len(report.Conversations) != 2 || len(report.Floors) != 12 {
		t.Errorf("%d growths, %d conversations, %d floors", len(report.Growth), len(report.Conversations),
			len(report.Floors))
	}
	for _, c := range report.Conversations {
		if c.Tokens == 0 || c.Bytes < 1_000_000 || c.TurnMS <= 0 {
			t.Errorf("%s: %d tokens of %d bytes, a turn takes %g ms", c.Vocabulary, c.Tokens, c.Bytes, c.TurnMS)
		}
	}
}

func TestTokensMeasuresFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("one line\n", 130_000)+"\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Options{Quick: true, Files: []string{path}, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Speed) != 2 || report.Speed[0].Kind != "mine.txt" || report.Speed[0].Bytes != maxSample ||
		len(report.Floors) != 0 {
		t.Errorf("speed %+v, floors %v", report.Speed, report.Floors)
	}
	if len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0], "first MB") {
		t.Errorf("skipped %q", report.Skipped)
	}
	if _, err = Run(t.Context(), Options{Files: []string{path + ".missing"}}); err == nil ||
		!strings.Contains(err.Error(), "cannot read text") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestTokensGoals(t *testing.T) {
	r := &Report{
		Subject: "epitome",
		Speed: []Speed{
			{Kind: "code", Vocabulary: "o200k_base", Ratio: 20}, {Kind: "log", Vocabulary: "o200k_base", Ratio: 19.5},
			{Kind: "prose", Vocabulary: "cl100k_base", Ratio: 12}, {Kind: "cjk", Vocabulary: "cl100k_base", Ratio: 2.9},
			{Kind: "mine.txt", Vocabulary: "cl100k_base", Ratio: 1, Tokens: 5, TiktokenTokens: 6},
		},
		Growth: []Growth{{Text: "blanks", Vocabulary: "o200k_base", Growth: 20},
			{Text: "emoji", Vocabulary: "o200k_base", Growth: 21}},
		Conversations: []Conversation{{Vocabulary: "o200k_base", NewTexts: 3, TurnMS: 1},
			{Vocabulary: "cl100k_base", NewTexts: 3, TurnMS: 1.5}},
	}
	r.settle()
	want := []string{
		"speed against tiktoken-go, log, o200k_base: 19.50 ×, goal ≥ 20",
		"speed against tiktoken-go, cjk, cl100k_base: 2.90 ×, goal ≥ 3",
		"texts counted differently: 1.00 texts, goal ≤ 0",
		"time for ten times the text, emoji, o200k_base: 21.00 ×, goal ≤ 20",
		"conversation with 3 new texts, cl100k_base: 1.50 ms, goal ≤ 1",
	}
	if got := r.Missed(); !slices.Equal(got, want) {
		t.Errorf("missed %q, want %q", got, want)
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(text.String(), "MISSED"); got != len(want) || !strings.Contains(text.String(), "6, +1") {
		t.Errorf("the report says MISSED %d times, want %d, and the difference:\n%s", got, len(want), text.String())
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// What is measured must not be a text repeated: a count would then come from memory.
func TestSamplesAreWhole(t *testing.T) {
	samples, err := builtinSamples()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if len(s.text) < 60_000 || len(s.text) > 200_000 || !utf8.ValidString(s.text) {
			t.Errorf("%s has %d bytes, valid %v", s.kind, len(s.text), utf8.ValidString(s.text))
		}
	}
	seen := map[string]bool{}
	for _, text := range conversationOf(samples) {
		if seen[string(text)] {
			t.Fatalf("the conversation has a text twice: %.80q", text)
		}
		seen[string(text)] = true
	}
}
