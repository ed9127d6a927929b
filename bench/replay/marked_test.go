package replay

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/bench/baselines"
	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/bench/replay/figures"
	"epitome/bench/report"
)

// inMessages replays one conversation as Messages, in a window of 100 000 tokens.
func inMessages(t *testing.T, text string, s policy.Shaper) (figures.Row, *figures.Report) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	it := policy.Policy{Name: "it", Open: func(policy.Setting) (policy.Shaping, error) {
		return policy.Shaping{Shaper: s}, nil
	}}
	report, err := Run(t.Context(), Options{Paths: []string{path}, Windows: []int{100_000}, Progress: io.Discard,
		Policies: []policy.Policy{it}, Clients: Clients{Dialect: AsMessages}})
	if err != nil {
		t.Fatal(err)
	}
	return report.Rows[len(report.Rows)-1], report
}

// page is a text of 2001 tokens.
var page = strings.Repeat("0123456789abcdefghij", 360)

// A message has four tokens beside its texts; each of these has one text, of 6 tokens where it is short.
func TestProvidersOfMessagesHaveWhatWasMarked(t *testing.T) {
	talk := benchtest.Chat(benchtest.Says("user", page), benchtest.Says("assistant", benchtest.Twenty),
		benchtest.Says("user", benchtest.Twenty+"!"), benchtest.Says("assistant", benchtest.Twenty),
		benchtest.Says("user", benchtest.Third))
	const first, round = 2005, 20
	f := func(s policy.Shaper, sent, cached float64) {
		t.Helper()
		row, _ := inMessages(t, talk, s)
		near(t, "billed for everything", &row.RawBilled, 1.25*(first+2*round)+0.1*(first+first+round))
		near(t, "billed", &row.SentBilled, sent)
		near(t, "cached", row.Cached, 100*cached/(3*first+3*round))
		if row.Invalid+row.Unrecorded+row.Dropped > 0 || row.RawTokens != row.Tokens {
			t.Errorf("%+v", row)
		}
	}
	f(benchtest.Unchanged{}, 1.25*(first+2*round)+0.1*(2*first+round), 2*first+round)
	// The third request changes the third message, which a mark stands behind in the second alone.
	f(benchtest.Replacing(benchtest.Third, "!!!!", "????"), 1.25*(first+3*round)+0.1*2*first, 2*first)
	// Without marks nothing is written, nor read.
	f(benchtest.ShaperFunc(func(body []byte) (policy.Shaped, error) {
		return policy.Shaped{Body: []byte(strings.ReplaceAll(string(body), policy.Marker, "")), Decided: true}, nil
	}), 3*first+3*round, 0)
}

func TestStrictServersRefuseWhatBreaksARule(t *testing.T) {
	f := func(s policy.Shaper, invalid int, why string) {
		t.Helper()
		row, report := inMessages(t, benchtest.Needy(), s)
		if row.Invalid != invalid || invalid > 0 && !strings.Contains(strings.Join(report.Faults, "\n"), why) {
			t.Errorf("%d are refused, want %d: %q", row.Invalid, invalid, report.Faults)
		}
	}
	f(benchtest.Unchanged{}, 0, "")
	f(benchtest.Replacing(`"2"`, `src/old other_name`, benchtest.Stub), 0, "")
	f(benchtest.Replacing(`"3"`, `"tool_use_id":"1"`, `"tool_use_id":"9"`), 1, "request 11: the provider refuses it: 400")
	f(benchtest.Replacing(`Well.`, `"text":"Go on."`, `"text":""`), 9, "cache_control cannot be set for empty text blocks")
}

// What is measured is the same in all dialects: what the system says, marks and the form of messages change nothing.
func TestDialectsHaveOneMeasure(t *testing.T) {
	text := strings.Replace(benchtest.Needy(), `[{`, `[{"role":"system","content":"Mind src/old, and never_said."},{`, 1)
	folder := folderOf(t, map[string]string{"a.json": text})
	f := func(dialect string) (rows []string) {
		t.Helper()
		got, err := Run(t.Context(), Options{Paths: []string{folder}, Windows: []int{150, 400}, Progress: io.Discard,
			baselines: baselines.All(policy.Unit{})[:4], Clients: Clients{Dialect: dialect}})
		if err != nil || got.Origins[0].Dialect != dialect {
			t.Fatalf("%v, %+v", err, got.Origins)
		}
		for _, x := range got.Rows {
			text := fmt.Sprint(x.Policy, x.Window, x.Over, x.Unrecorded, x.Misses, x.Invalid)
			for _, v := range []*float64{x.RecallAll, x.Recall, x.Older, x.Lines, x.UserText, x.BreaksPer100} {
				text += report.Optional(v, " %.1f")
			}
			rows = append(rows, text)
		}
		return rows
	}
	inChat, marked, listed := f(AsChat), f(AsMessages), f(AsResponses)
	for i := range inChat {
		if inChat[i] != marked[i] || inChat[i] != listed[i] {
			t.Errorf("in chat %s, in Messages %s, in Responses %s", inChat[i], marked[i], listed[i])
		}
	}
}

// thoughtful is a log of Claude Code in which each answer was thought about.
func thoughtful(model string) string {
	var log strings.Builder
	line := func(kind, id, message string) {
		fmt.Fprintf(&log, `{"type":%q,"uuid":%q,"message":{"role":%q,"model":%q,"id":%q,"content":%s}}`+"\n",
			kind, id, kind, model, id, message)
	}
	line("user", "u0", `"Go."`)
	for i := range 4 {
		line("assistant", fmt.Sprint("a", i), fmt.Sprintf(`[{"type":"thinking","thinking":"hm %d","signature":"x"},`+
			`{"type":"tool_use","id":"t%d","name":"Bash","input":{"n":%d}}]`, i, i, i))
		line("user", fmt.Sprint("r", i), fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":"result %d"}]`, i, i))
	}
	return log.String()
}

func TestLogsOfClaudeCodeArePlayedAsTheyWere(t *testing.T) {
	f := func(model string, s policy.Shaper, invalid int, why string) {
		t.Helper()
		folder := folderOf(t, map[string]string{"a.jsonl": thoughtful(model)})
		it := policy.Policy{Name: "it", Open: func(policy.Setting) (policy.Shaping, error) {
			return policy.Shaping{Shaper: s}, nil
		}}
		report, err := Run(t.Context(), Options{Paths: []string{folder}, Windows: []int{100_000}, Progress: io.Discard,
			Policies: []policy.Policy{it}})
		if err != nil || len(report.Origins) != 1 || report.Origins[0].Dialect != AsMessages || report.Requests != 5 ||
			len(report.Notes) > 0 {
			t.Fatalf("%v, %+v", err, report)
		}
		row := report.Rows[len(report.Rows)-1]
		if row.Invalid != invalid || invalid > 0 && !strings.Contains(report.Faults[0], why) {
			t.Errorf("%s: %d are refused, want %d: %q", model, row.Invalid, invalid, report.Faults)
		}
	}
	f("claude-opus-5-5", benchtest.Unchanged{}, 0, "")
	f("claude-opus-4-6", benchtest.Replacing("result 2", "result 0", "gone"), 0, "")
	f("claude-opus-5-5", benchtest.Replacing("result 2", "result 0", "gone"), 2, "bound to a different conversation")
	f("claude-opus-4-6", benchtest.Replacing("result 2", "hm 0", "well"), 2, "Invalid `signature` in `thinking` block")
}

func TestAnotherModelMayHaveBeenAsked(t *testing.T) {
	folder := folderOf(t, map[string]string{"a.json": benchtest.Needy()})
	f := func(thought, invalid int) {
		t.Helper()
		it := policy.Policy{Name: "it", Open: func(policy.Setting) (policy.Shaping, error) {
			return policy.Shaping{Shaper: benchtest.Replacing(`"3"`, `src/old other_name`, benchtest.Stub)}, nil
		}}
		report, err := Run(t.Context(), Options{Paths: []string{folder}, Windows: []int{100_000}, Progress: io.Discard,
			Policies: []policy.Policy{it},
			Clients:  Clients{Dialect: AsMessages, Model: "claude-opus-5-5", Thought: thought}})
		if err != nil || report.Rows[len(report.Rows)-1].Invalid != invalid {
			t.Errorf("with %d tokens of thought: %v, %+v", thought, err, report)
		}
	}
	f(0, 0)
	f(40, 1)
}
