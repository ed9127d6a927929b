package summarize

import (
	"flag"
	"os"
	"testing"
)

var updateShown = flag.Bool("update", false, "write what a model is asked, to be read before it is committed")

// TestWhatAModelIsAskedCanBeRead holds the questions of this package beside the other texts that a model is shown.
func TestWhatAModelIsAskedCanBeRead(t *testing.T) {
	const path = "../rewrite/testdata/shown/15-questions-for-a-summary.txt"
	d, ok := detailOf("medium")
	if !ok {
		t.Fatal("no detail medium")
	}
	first := wording{detail: d, tag: "feedbeef", tokens: 1500}
	next, again := first, first
	next.update = true
	again.why = "it had no heading \"## Goal\""
	const record = "[feedbeef user]\nMend the refunds.\n[feedbeef tool bash, exit code 0]\n3 passed\n"
	got := ""
	add := func(when, text string) { got += "#### " + when + "\n\n" + text + "\n\n\n" }
	add("The conversation goes on with this instruction: a model is asked for a summary of what it has in view.", first.instruction())
	add("A summary stands in the conversation already.", next.instruction())
	add("The answer could not be used.", again.instruction())
	add("Another model is asked, or the conversation is not in view: the system prompt.", first.system())
	add("The user's message behind it.", first.user("", record))
	add("There is an earlier summary.", next.user("## Goal\nMend the refunds.\n", record))
	q := distillable("a")
	distillate := wordingOf(&q, q.Detail)
	distillate.tag = "feedbeef"
	add("A large result is soon to be cleared: the system prompt of the question for a distillate.", distillate.role())
	add("The user's message behind it.", distillate.ask(&q, 0))
	distillate.why = "it had 412 tokens, and 300 are the most"
	add("The answer could not be used.", distillate.ask(&q, 0))
	learns := next
	learns.learns, learns.notes = true, "0a1b2c3d fact: The tests run with make check.\n"
	add("The project has a memory, and the summary's question asks for what later sessions need: the user's message.",
		learns.user("## Goal\nMend the refunds.\n", record))
	lone := wording{tag: "feedbeef", alone: true, learns: true, notes: learns.notes}
	add("A conversation that was never compacted is quiet: the system prompt of the question for what later sessions need.",
		lone.role())
	add("The user's message behind it.", lone.askForLessons(record))
	lone.why, lone.notes = "it was empty", ""
	add("The answer could not be used, and nothing is known yet.", lone.askForLessons(record))
	if *updateShown {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("%s is not what is asked: go test ./summarize -run CanBeRead -update: %v", path, err)
	}
}
