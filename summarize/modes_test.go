package summarize_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/conversation"
	"epitome/dialect/messages"
	"epitome/dialect/responses"
	"epitome/summarize"
)

// summarize.mode says which parts a summary has.
func TestSummarizeMode(t *testing.T) {
	work := join(user("Fix y."), call("read", `{"path":"a.go"}`, "package a"), call("bash", `{"command":"go test ./y"}`,
		"--- FAIL: TestY\nexit code 1"), call("edit", `{"path":"y.go"}`, "ok"), call("bash", `{"command":"go test ./y"}`,
		"ok\nexit code 0"), call("bash", `{"command":"go vet"}`, "y.go:1:1: error: bad\nexit code 2"),
		call("todo", `{"todos":["Fix vet"]}`, "ok"), assistant("Vet fails."))
	for mode, want := range map[summarize.Mode]string{
		summarize.Hybrid: "a.go y.go test vet todo", summarize.Intent: "a.go y.go test vet todo", summarize.LLM: "",
		summarize.Lossless: "y.go test vet todo a.go", summarize.Window: "",
	} {
		s := span(t, work, nil)
		s.Budgets = summarize.BudgetsFor(mode, summarize.Medium, 64_000, 1)
		says := summarize.Says{}
		if mode == summarize.Hybrid || mode == summarize.LLM {
			says = summarize.Says{Text: "## Goal\nA shop.", Until: s.To}
		}
		text, _ := summarize.Text(s, says, "")
		for name, line := range map[string]string{"a.go": "a.go", "y.go": "y.go", "test": "go test ./y",
			"vet": "(failed, exit code 2)", "todo": "> Fix vet"} {
			if has(text, line) != strings.Contains(want, name) {
				t.Errorf("%s: %q stands in it: %v\n%s", mode, line, has(text, line), text)
			}
		}
		if mode == summarize.Lossless && (strings.Count(text, "go test ./y") != 1 || strings.Contains(text, "exit code 1")) {
			t.Errorf("lossless tells more than the last state: %s", text)
		}
	}
	text := summary(t, work, summarize.BudgetsFor(summarize.LLM, summarize.Medium, 64_000, 1))
	if !has(text, "go vet") {
		t.Errorf("llm without a model's text is %s", text)
	}
}

// summarize.detail says how much of the work a summary has.
func TestSummarizeDetailOfTheWork(t *testing.T) {
	var work []string
	for i := range 1_500 {
		work = append(work, call("bash", fmt.Sprintf(`{"command":"make part_%d of the whole"}`, i), "ok")...)
	}
	tokens := map[summarize.Detail]int{}
	for _, d := range []summarize.Detail{summarize.Low, summarize.Medium, summarize.High} {
		tokens[d] = count(summary(t, work, summarize.BudgetsFor(summarize.Intent, d, 64_000, 1)))
	}
	if low, high := tokens[summarize.Low]*2, tokens[summarize.High]; low > tokens[summarize.Medium] ||
		high < tokens[summarize.Medium]*3/2 {
		t.Errorf("summaries have %v tokens", tokens)
	}
}

// The end of the agent's reasoning stands in the part by code, and in what a model is asked about.
func TestReasoningStandsInSummaries(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"Begin."},{"role":"assistant","content":[{"type":"thinking",` +
		`"thinking":"` + strings.Repeat("First of all I look. ", 100) + `So the lock is never freed.","signature":"s"},` +
		`{"type":"tool_use","id":"a","name":"bash","input":{"command":"ls"}}]},{"role":"user","content":[` +
		`{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`
	thinks(t, messages.Dialect{}, body)
	thinks(t, responses.Dialect{}, `{"model":"m","input":[{"role":"user","content":"Begin."},{"type":"reasoning","id":"r",`+
		`"encrypted_content":"s","content":[],"summary":[{"type":"summary_text","text":"`+
		strings.Repeat("First of all I look. ", 100)+`"},{"type":"summary_text","text":"So the lock is never freed."}]},`+
		`{"type":"function_call","call_id":"a","name":"bash","arguments":"{}"},`+
		`{"type":"function_call_output","call_id":"a","output":"x"}]}`)
}

func thinks(t *testing.T, d conversation.Dialect, body string) {
	t.Helper()
	s := spanOf(t, d, body)
	text, _ := summarize.Text(s, summarize.Says{}, "")
	if !strings.Contains(text, " your reasoning\n> …") || !strings.Contains(text, "So the lock is never freed.\n") {
		t.Errorf("got %s", text)
	}
	said := ""
	for _, e := range summarize.Entries(s.Request, s.Calls, s.From, s.To) {
		said += e.Speaker + ": " + e.Text + "\n"
	}
	if !strings.Contains(said, "thinking: ") || !strings.Contains(said, "So the lock is never freed.") {
		t.Errorf("a model is asked about %s", said)
	}
	whole := string(summarize.Transcript(s.Request, s.Calls, s.From, s.To, "x"))
	if !strings.Contains(whole, ": assistant, thinking]\nFirst of all I look.") {
		t.Errorf("the transcript is %s", whole)
	}
}
