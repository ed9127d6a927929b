package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan"
)

// full is a conversation that is over every line, with one more result of so many tokens.
func full(settings string, last int) *coder {
	c := newCoder(20_000, userBlocks(textBlock(theTask)))
	c.limits.ClearAt, c.limits.Offload = .5, 2_000
	c.settings = settings
	for range 20 {
		c.work(1, 1_900)
	}
	c.work(1, last)
	return c
}

// rungs are those by which something was changed.
func rungs(out Output) string {
	var list []string
	for _, c := range out.Report.Changes {
		if n := len(list); n == 0 || list[n-1] != c.Rung {
			list = append(list, c.Rung)
		}
	}
	return strings.Join(list, " ")
}

// Where the provider or the client sees to what a conversation keeps, older items stay as they are, and the report says
// why.
func TestWhatOthersSeeToIsLeftToThem(t *testing.T) {
	f := func(settings, want string, why event.Code) {
		t.Helper()
		c := full(settings, 3_000)
		if out := c.ask(t); rungs(out) != want || why != event.NoCode && out.Report.Code != why {
			t.Errorf("%s: %q was changed, want %q; reason %q", settings, rungs(out), want, out.Report.Reason)
		}
	}
	const both = "clear offload"
	f("", both, "")
	f(`"context_management":null,`, both, "")
	f(`"context_management":{"edits":[]},`, both, "")
	f(`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},`, both, "")
	const clears = event.CodeProviderClears
	f(`"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`, "offload", clears)
	f(`"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"compact_20260112"}]},`, "offload", clears)
	f(`"context_management":{"edits":[{"type":"hologram"}]},`, "offload", clears)
	f(`"thread":{"type":"continue","previous_message_id":"msg_1"},`, "offload", event.CodeProviderRemembers)
	f(`"compaction":{"type":"summarize"},`, "", event.CodeClientSummarises)
	f(`"compaction":{"type":"summarize"},"context_management":{"edits":[{"type":"compact_20260112"}]},`, "",
		event.CodeClientSummarises)
}

// A client's own compaction is sent in the forms that were decided, with nothing new; a rescue stays possible.
func TestTheClientsOwnSummaryIsAskedForInRecordedForms(t *testing.T) {
	f := func(sign string) {
		t.Helper()
		c := full("", 100)
		before := c.ask(t)
		if rungs(before) == "" {
			t.Fatal("nothing was decided")
		}
		stable := strings.TrimSuffix(string(before.Body), `]}],"stream":true}`)
		last := &c.items[len(c.items)-1]
		*last = strings.TrimSuffix(*last, "]}") + "," + textBlock(sign+" Do NOT call any tools.") + "]}"
		out := c.ask(t)
		if len(out.Report.Changes) > 0 || !strings.HasPrefix(string(out.Body), stable) ||
			out.Report.Code != event.CodeClientSummarises {
			t.Errorf("%s: %d changes, %q", sign, len(out.Report.Changes), out.Report.Reason)
		}
		rescued := c.rescue(t, plan.Rescue{Sent: out.Report.After.Total(), Most: 6_000})
		if rescued.Report.Stage == plan.StageNone || !strings.Contains(string(rescued.Body), sign) {
			t.Errorf("%s: stage %s", sign, rescued.Report.Stage)
		}
	}
	f("CRITICAL: Respond with TEXT ONLY.")
	f("Your task is to create a detailed summary of the conversation so far, paying attention.")
	f("Provide a detailed prompt for continuing our conversation above.")
}

// What lies with the provider cannot be left out.
func TestAThreadIsNotRescued(t *testing.T) {
	c := full(`"thread":{"type":"continue","previous_message_id":"msg_1"},`, 100)
	out := c.rescue(t, plan.Rescue{Most: 3_000})
	if out.Report.Stage != plan.StageNone || out.Report.Code != event.CodeProviderRemembers {
		t.Errorf("stage %s: %s", out.Report.Stage, out.Report.Reason)
	}
}

// Promise 7: two threads that go on in the same words are two conversations, and none is the whole of those words.
func TestThreadsShareNothing(t *testing.T) {
	names := map[string]string{}
	c := newCoder(100_000, userBlocks(textBlock(strings.Repeat(theTask, 40))))
	c.work(1, 3_000)
	for _, thread := range []string{"", `"thread":{"previous_message_id":"a"},`, `"thread":{"previous_message_id":"b"},`, ""} {
		c.settings = thread
		name := c.ask(t).Report.Conversation
		if other, ok := names[name]; ok && other != thread {
			t.Errorf("%q and %q are one conversation", other, thread)
		}
		names[name] = thread
	}
	if len(names) != 3 {
		t.Errorf("there are %d conversations", len(names))
	}
}

// Nothing counts that stands before a provider's own compaction, and the head ends behind it.
func TestTheHeadEndsBehindAProvidersCompaction(t *testing.T) {
	c := newCoder(20_000, userBlocks(textBlock(theTask)))
	for range 20 {
		c.work(1, 1_900)
	}
	before := c.ask(t)
	dead := len(c.items)
	c.items = append(c.items, `{"role":"assistant","content":[{"type":"compaction","content":"`+strings.Repeat("all is well ", 200)+
		`","encrypted_content":"`+strings.Repeat("x7Kq", 5_000)+`"},{"type":"text","text":"On I go."}]}`,
		userBlocks(textBlock("Go on.")))
	out := c.ask(t)
	if n := out.Report.Before.Total(); n < 600 || n > 800 {
		t.Errorf("%d tokens are counted, %d before", n, before.Report.Before.Total())
	}
	if len(out.Report.Changes) > 0 {
		t.Errorf("changed %v", out.Report.Changes)
	}
	for range 30 {
		c.work(1, 1_900)
		out = c.ask(t)
	}
	for _, change := range out.Report.Changes {
		if change.Item <= 2*dead-20 {
			t.Errorf("item %d of the dead ones is changed", change.Item)
		}
	}
	r, err := messages.Dialect{}.Read(out.Body, nil)
	if err != nil || r.Upkeep.Fixed == 0 {
		t.Fatalf("the compaction is gone (%v)", err)
	}
	if next := &r.Items[r.Head+r.Upkeep.Fixed]; !strings.Contains(string(next.Of(r.Body)), "summary") {
		t.Errorf("no summary stands behind the compaction: %s", next.Of(r.Body))
	}
	fresh := newCoder(20_000, c.items...)
	if again := fresh.ask(t); fmt.Sprint(again.Report.Before) != fmt.Sprint(out.Report.Before) {
		t.Errorf("counted at once it is %v, step by step %v", again.Report.Before, out.Report.Before)
	}
}
