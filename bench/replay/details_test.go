package replay

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/bench/replay/figures"
	"epitome/bench/report"
	"epitome/rewrite/chat"
)

// folderOf returns a folder with the conversations by their files' names.
func folderOf(t *testing.T, conversations map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range conversations {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func replayed(t *testing.T, opts Options) (*figures.Report, string) {
	t.Helper()
	opts.Progress = io.Discard
	report, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err = report.Print(&text); err != nil {
		t.Fatal(err)
	}
	return report, text.String()
}

func TestReplayListsTheFirstMisses(t *testing.T) {
	folder := folderOf(t, map[string]string{"a.json": benchtest.Needy(),
		"b.json": strings.ReplaceAll(benchtest.Needy(), "Well.", "Fine.")})
	losing := policy.Policy{Name: "it", Open: func(policy.Setting) (policy.Shaping, error) {
		artifact := func(string) ([]byte, bool) { return []byte("src/old, whole"), true }
		return policy.Shaping{Shaper: benchtest.Replacing(`"2"`, `src/old other_name\n`+benchtest.Line+`\n`,
			benchtest.Stub), Artifact: artifact}, nil
	}}
	f := func(misses int, want ...figures.Miss) {
		t.Helper()
		report, text := replayed(t, Options{Paths: []string{folder}, Windows: []int{300_000},
			Policies: []policy.Policy{losing}, Misses: misses})
		if len(report.Misses) != len(want) || (len(want) > 0) != strings.Contains(text,
			"Missed first by it in a window of 300000 tokens") {
			t.Fatalf("%+v\n%s", report.Misses, text)
		}
		for i, m := range report.Misses {
			m.Conversation = filepath.Base(m.Conversation)
			if m != want[i] {
				t.Errorf("%+v, want %+v", m, want[i])
			}
		}
	}
	lost := func(file string) figures.Miss {
		return figures.Miss{
			Window: 300_000, Policy: "it", Conversation: file, Request: 10, Name: "src/old", Age: 9, Retrievable: true,
		}
	}
	f(0)
	f(1, lost("a.json"))
	f(5, lost("a.json"), lost("b.json"))
}

func TestReplayAddsUpByKind(t *testing.T) {
	folder := folderOf(t, map[string]string{"web-a.json": benchtest.Smalltalk(), "web-b.json": benchtest.Needy(),
		"4-c.json": strings.ReplaceAll(benchtest.Smalltalk(), benchtest.Twenty, benchtest.Third)})
	report, text := replayed(t, Options{Paths: []string{folder}, Windows: []int{1000}, By: ByKind})
	if len(report.Kinds) != 2 || report.Kinds[0].Kind != "talk" || report.Kinds[1].Kind != "web" {
		t.Fatalf("%+v", report.Kinds)
	}
	talk, web := report.Kinds[0], report.Kinds[1]
	if talk.Conversations != 1 || talk.Requests != 3 || web.Conversations != 2 || web.Requests != 14 {
		t.Errorf("%+v, %+v", talk, web)
	}
	if talk.Rows[0].Tokens != 93 || talk.Rows[0].Tokens+web.Rows[0].Tokens != report.Rows[0].Tokens {
		t.Errorf("%+v", report.Kinds)
	}
	if !strings.Contains(text, `Kind "web", conversations: 2, requests: 14, window of 1000 tokens`) {
		t.Error(text)
	}
	odd := folderOf(t, map[string]string{"50%d.json": benchtest.Smalltalk(), "web-b.json": benchtest.Needy()})
	report, text = replayed(t, Options{Paths: []string{odd}, Windows: []int{1000}, By: ByConversation})
	if len(report.Kinds) != 2 || !strings.Contains(text, `/50%d.json", requests: 3, window of 1000 tokens`) ||
		!strings.Contains(text, "\nConversation \"/") {
		t.Errorf("%+v, %s", report.Kinds, text)
	}
	if report, _ = replayed(t, Options{Paths: []string{folder}, Windows: []int{1000}}); report.Kinds != nil {
		t.Error("kinds without being asked")
	}
}

func TestKindOfSession(t *testing.T) {
	f := func(name, want string, tools ...string) {
		t.Helper()
		messages := []string{benchtest.Says("user", "Go.")}
		for _, tool := range tools {
			messages = append(messages, benchtest.Calls(tool, tool, `{}`), benchtest.Answers(tool, "ok"))
		}
		c, err := newRecording(chat.Dialect{}, []byte(benchtest.Chat(messages...)), policy.Unit{})
		if err != nil {
			t.Fatal(err)
		}
		c.name = name
		if got := kindOf(c); got != want {
			t.Errorf("%s with %q: %q, want %q", name, tools, got, want)
		}
	}
	f("dir/web-shop.json", "web", "Bash")
	f("a-b.json", "talk")
	f("2026-11-20.json", "coding", "Bash", "WebSearch", "Edit")
	f("web.json", "browsing", "mcp__browser_click", "browser_read")
	f("x.json", "research", "search", "visit", "think")
	f("x.json", "other tools", "think", "ponder")
}

// How long it is cannot be asserted.
func TestReplayTellsTheTimeOfRequests(t *testing.T) {
	got, text := replayed(t, Options{Paths: []string{folderOf(t, map[string]string{"a.json": benchtest.Needy()})},
		Windows: []int{1000}})
	for _, row := range got.Rows {
		if row.CPUMS == nil || *row.CPUMS < 0 {
			t.Errorf("%s: %s", row.Policy, report.Optional(row.CPUMS, "%g"))
		}
	}
	if !strings.Contains(text, "ms/request") {
		t.Error(text)
	}
}

// A folder of logs may hold thousands of files that are none.
func TestReaderIsToldTheFirstOfWhatWasLeftOut(t *testing.T) {
	f := func(n, lines int, last string) {
		t.Helper()
		r := figures.Report{}
		for i := range n {
			r.Skipped = append(r.Skipped, fmt.Sprintf("file %d is none", i+1))
		}
		var out strings.Builder
		if err := r.Print(&out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "SKIPPED"); got != lines ||
			!strings.HasSuffix(out.String(), "SKIPPED "+last+"\n") || len(r.Skipped) != n {
			t.Errorf("of %d files %d lines are told: %s", n, got, out.String())
		}
	}
	f(1, 1, "file 1 is none")
	f(20, 20, "file 20 is none")
	f(2000, 21, "and 1980 more, which the report as JSON has")
}
