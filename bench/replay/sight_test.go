package replay

import (
	"fmt"
	"strings"
	"testing"

	"epitome/bench/benchtest"
	"epitome/bench/policy"
)

// What a run says: two lines tell, and one holds a name which the next call needs.
const (
	failing = "--- FAIL: TestRound (0.00s)"
	cause   = "./pkg/odd_name.go:12:5: undefined: other_thing"
	output  = "building a_lot of things\\n" + failing + "\\nwell\\n" + cause + "\\nthe end of it"
)

// run is a conversation in which a tool's result comes, and is answered by a call that needs a name in it.
func run(tool, command string) string {
	return benchtest.Chat(benchtest.Says("user", benchtest.Twenty),
		benchtest.Calls("1", tool, `{"command":"`+command+`"}`),
		strings.ReplaceAll(benchtest.Answers("1", output), `\\`, `\`),
		benchtest.Calls("2", "edit", `{"path":"pkg/odd_name.go"}`), benchtest.Answers("2", "ok"))
}

func TestWhatWentWrongIsLookedForWhereAResultComes(t *testing.T) {
	f := func(with string, signal, first, needed float64) {
		t.Helper()
		row, report := replayOne(t, run("bash", "go build"), 1000,
			policy.Shaping{Shaper: benchtest.Replacing(failing, output, with)})
		near(t, "seen", row.Seen, signal)
		near(t, "signal", row.Signal, signal)
		near(t, "first", row.SignalFirst, first)
		near(t, "needed", row.SignalNeeded, needed)
		if row.SignalResults != 1 || row.SignalLines != 2 {
			t.Errorf("%d lines in %d results, faults %q", row.SignalLines, row.SignalResults, report.Faults)
		}
	}
	f(failing+`\n`+cause, 100, 100, 100)
	f(failing, 50, 100, 0)
	f(cause, 50, 0, 100)
	f(`4: `+cause+`\n[1 line]\n> `+failing+`  `, 100, 100, 100) // numbers and marks of quoting are no part of a line
	f(`\u001b[31m`+failing+`\u001b[0m`, 50, 100, 0)

	// What keeps names, or parts of lines, shows nothing.
	f(`TestRound\na_lot\nodd_name.go\nother_thing\npkg/odd_name.go`, 0, 0, 0)
	f(failing[:20]+`\n`+cause[5:], 0, 0, 0)
	f(failing+" "+cause, 0, 0, 0)
	f(`gone`, 0, 0, 0)
}

// A result that is sent whole counts as seen, and for nothing else.
func TestWhatIsSentWholeIsSeen(t *testing.T) {
	row, _ := replayOne(t, run("bash", "go build"), 1000, policy.Shaping{Shaper: benchtest.Replacing(`"none"`)})
	near(t, "seen", row.Seen, 100)
	if row.Signal != nil {
		t.Errorf("signal %g of results that were not changed", *row.Signal)
	}
}

func TestOnlyResultsThatAreChangedWhenTheyComeCount(t *testing.T) {
	f := func(conversation string, s policy.Shaper) {
		t.Helper()
		row, _ := replayOne(t, conversation, 1000, policy.Shaping{Shaper: s})
		if row.Signal != nil || row.SignalFirst != nil || row.SignalResults != 0 {
			t.Errorf("%d lines in %d results", row.SignalLines, row.SignalResults)
		}
	}
	gone := func(trigger string) policy.Shaper { return benchtest.Replacing(trigger, output, "gone") }
	f(run("bash", "go build"), benchtest.Unchanged{})
	f(run("bash", "go build"), gone(`"2"`)) // changed after the model has seen it
	f(run("bash", "cat log"), gone(failing))
	f(run("read", ""), gone(failing))
}

// A line that stands in the request anyway, in a message that is there whole, is seen.
func TestLinesThatStandElsewhereInTheRequestAreSeen(t *testing.T) {
	again := strings.Replace(run("bash", "go build"), benchtest.Twenty, failing+`\n`+benchtest.Twenty, 1)
	row, _ := replayOne(t, again, 1000, policy.Shaping{Shaper: benchtest.Replacing(output, output, "gone")})
	near(t, "signal", row.Signal, 50)
}

func TestRequestsThatDoNotFitShowNothing(t *testing.T) {
	long := strings.Replace(run("bash", "go build"), benchtest.Twenty, strings.Repeat("x", 5000), 1)
	row, _ := replayOne(t, long, 1000,
		policy.Shaping{Shaper: benchtest.Replacing(failing, output, failing+`\n`+cause)})
	near(t, "signal", row.Signal, 0)
}

func TestNamesCountOnLinesOfTheClientsAlone(t *testing.T) {
	result := `first line with src/old in it\nsecond line\nother_name is here`
	messages := []string{benchtest.Says("user", benchtest.Twenty), benchtest.Calls("1", "list", `{}`),
		strings.ReplaceAll(benchtest.Answers("1", result), `\\`, `\`)}
	for i := range 7 {
		messages = append(messages, benchtest.Says("assistant", "Well."), benchtest.Says("user", fmt.Sprint("Go on ", i)))
	}
	messages = append(messages, benchtest.Calls("3", "edit", `{"path":"src/old","text":"other_name"}`),
		benchtest.Answers("3", "ok"))
	f := func(with string, recall, bare float64) {
		t.Helper()
		row, _ := replayOne(t, benchtest.Chat(messages...), 220,
			policy.Shaping{Shaper: benchtest.Replacing("Go on 2", result, with)})
		near(t, "older in context", row.Older, recall)
		near(t, "bare", row.BareOlder, bare)
		near(t, "hot and bare", row.Bare, bare)
		if row.Misses != int((100-recall)/50) {
			t.Errorf("%q: %d misses", with, row.Misses)
		}
	}
	f(result, 100, 0)
	f(`first line with src/old in it\n[2 lines]`, 50, 0)
	f(`[2 lines]\nother_name is here\nfirst line with src/old in it`, 100, 0)
	f(`src/old\nother_name`, 0, 100)
	f(`names: other_name, src/old`, 0, 100)
	f(`first line with src/old\nis here: other_name is here`, 0, 100) // torn, and joined to something else
	f(`first line with src/old in it … other_name is here`, 0, 100)
	f(`second line`, 0, 0)
}
