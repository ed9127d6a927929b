package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/conversation"
)

// preparing is an agent whose upstream allows for summaries ahead of need.
func preparing(mode string) (*agent, *narrator) {
	a, n := styled(32_000, prose.Style{Mode: mode})
	n.ahead = true
	return a, n
}

func TestNothingIsPreparedAgainBeforeTheConversationHasGrown(t *testing.T) {
	for _, fails := range []bool{false, true} {
		a, n := preparing(prose.ModeHybrid)
		requests, at := 0, []int(nil) // tokens when something was prepared
		for range 300 {
			a.work(1, 60)
			before := len(n.prepared)
			out := a.send(t)
			if compacts(out) {
				break
			}
			total := out.Report.After.Total()
			if len(n.prepared) > before {
				if at = append(at, total); fails {
					clear(n.pending)
				}
			}
			if total > out.Report.Usable*8/10 {
				requests++
			} else if len(at) > 0 {
				t.Fatalf("prepared at %d of %d tokens", total, out.Report.Usable)
			}
		}
		most := 1
		if fails { // at 80, 85 and 90 % at most
			most = 3
		}
		if len(at) == 0 || len(at) > most || fails && len(at) < 2 || requests < 10 {
			t.Errorf("prepared at %d tokens in %d requests", at, requests)
		}
		for i := 1; i < len(at); i++ {
			if at[i]-at[i-1] < 28_000/20 {
				t.Errorf("prepared again at %d after %d", at[i], at[i-1])
			}
		}
	}
}

func TestNothingIsPreparedWhereItIsNotWanted(t *testing.T) {
	f := func(name string, change func(a *agent, n *narrator)) {
		t.Helper()
		a, n := preparing(prose.ModeHybrid)
		change(a, n)
		if a.grow(t, 300); len(n.prepared) > 0 {
			t.Errorf("%s: prepared", name)
		}
	}
	f("not at this upstream", func(_ *agent, n *narrator) { n.ahead = false })
	f("nobody waits", func(a *agent, _ *narrator) { a.waits = nil })
	f("too little to leave out", func(a *agent, _ *narrator) {
		a.items[0] = chatMessage(conversation.System, strings.Repeat("All is so. ", 5_300))
	})
	f("late line", func(a *agent, _ *narrator) { a.limits.PrepareAt = 1 })
	for _, mode := range []string{prose.ModeIntent, prose.ModeWindow, prose.ModeLossless, prose.ModeAuto} {
		f(mode, func(a *agent, _ *narrator) { a.style.Mode = mode })
	}
	f("already there", func(a *agent, n *narrator) { // in another process
		b, m := preparing(prose.ModeHybrid)
		for len(m.prepared) == 0 {
			b.work(1, 300)
			b.send(t)
		}
		m.finish()
		n.made = m.made
	})
}

// Each round is prepared, however late the one before it was.
func TestEachRoundIsPrepared(t *testing.T) {
	a, n := preparing(prose.ModeHybrid)
	for len(a.body()) < 3*24_000 { // past the line at which it would have begun, in one step
		a.work(1, 300)
	}
	told := 1 // entries of the story behind the task
	for round := range 4 {
		for len(n.prepared) == round {
			if a.work(1, 300); compacts(a.send(t)) {
				t.Fatalf("round %d was not prepared", round)
			}
		}
		n.finish()
		out, _ := a.grow(t, 300)
		text, _ := summaryIn(t, out)
		if q := n.prepared[round]; len(n.asked) > 0 || partOf(text, "told")+"\n" != n.made[q.Key].Text {
			t.Fatalf("round %d: what was prepared is not in %s", round, text)
		}
		whole, tail := story(t, a.items[1:]), story(t, sentItems(t, out)[2:])
		if told += len(n.prepared[round].Transcript) - 1; told+len(tail) != len(whole) || strings.Contains(text, "it does not know") {
			t.Errorf("round %d: of %d entries %d are told, and %d are sent", round, len(whole), told, len(tail))
		}
		if got := n.notices[len(n.notices)-1]; !got.Prepared || got.Cost.InputTokens == 0 {
			t.Errorf("round %d: %+v", round, got)
		}
	}
}

// However much of the window is taken by what always stays: a round costs one question, be it ahead of need or not.
// What could not be used when the line is crossed is not prepared.
func TestEachRoundCostsOneQuestion(t *testing.T) {
	for _, share := range []int{0, 15, 30} {
		a, n := preparing(prose.ModeHybrid)
		a.items[0] = chatMessage(conversation.System, strings.Repeat("All is so. ", 32_000*share/400))
		for round := range 3 {
			for a.work(1, 200); !compacts(a.send(t)); a.work(1, 200) {
				n.finish()
			}
			if len(n.asked)+len(n.prepared) != round+1 || len(n.asked) > 0 && share < 20 {
				t.Fatalf("%d %% taken, round %d: %d asked, %d prepared", share, round, len(n.asked), len(n.prepared))
			}
		}
	}
}

// A clock in the system prompt changes it with each request. The provider has no such beginning in its cache, and what
// was prepared is found all the same.
func TestSystemPromptThatChangesIsAskedByTranscriptAndFoundAgain(t *testing.T) {
	a, n := preparing(prose.ModeLLM)
	ask := func() Output {
		a.work(1, 300)
		a.items[0] = chatMessage(conversation.System, fmt.Sprint("You are an agent. It is ", len(a.items)))
		return a.send(t)
	}
	for len(n.prepared) == 0 {
		if compacts(ask()) {
			t.Fatal("nothing was prepared")
		}
	}
	q := n.prepared[0]
	if q.Continue != nil || len(q.Transcript) < 10 {
		t.Errorf("%d bytes are continued, and %d entries are told", len(q.Continue), len(q.Transcript))
	}
	ask()
	n.finish()
	out := ask()
	for !compacts(out) {
		out = ask()
	}
	if text, _ := summaryIn(t, out); len(n.asked)+len(n.prepared) != 1 || partOf(text, "told")+"\n" != n.made[q.Key].Text {
		t.Errorf("%d asked, %d prepared; the summary is %s", len(n.asked), len(n.prepared), text)
	}
}

// Prose that a model made of a conversation with one system prompt in view is not that of another one.
func TestProseMadeWithTheSystemPromptInViewIsItsOwn(t *testing.T) {
	a, n := preparing(prose.ModeLLM)
	for len(n.prepared) == 0 {
		a.work(1, 300)
		a.send(t)
	}
	if n.prepared[0].Continue == nil {
		t.Fatal("the system prompt was not in view")
	}
	n.finish()
	a.items[0] = chatMessage(conversation.System, "You are quite another agent.")
	out, _ := a.grow(t, 300)
	if text, _ := summaryIn(t, out); len(n.asked) != 1 || !strings.Contains(text, "Work number 2") {
		t.Errorf("%d asked: %s", len(n.asked), text)
	}
}

// A summary that is still being made when the line is crossed is waited for, and no other one is asked for.
func TestSummaryThatIsBeingMadeIsWaitedFor(t *testing.T) {
	a, n := preparing(prose.ModeLLM)
	for len(n.prepared) == 0 {
		a.work(1, 300)
		a.send(t)
	}
	out, _ := a.grow(t, 300)
	if len(n.asked) != 1 || n.asked[0].Key != n.prepared[0].Key || !strings.Contains(string(out.Body), "Work number 1") {
		t.Errorf("%d asked, %d prepared", len(n.asked), len(n.prepared))
	}
	if got := n.notices[len(n.notices)-1]; got.Prepared {
		t.Errorf("it was not there yet: %+v", got)
	}
}

// A summary that is being made without the system prompt in view is waited for even when the prompt could be in view by
// now.
func TestSummaryThatIsBeingMadeIsWaitedForUnderItsOwnKey(t *testing.T) {
	a, n := preparing(prose.ModeLLM)
	for len(n.prepared) == 0 {
		a.work(1, 300)
		a.items[0] = chatMessage(conversation.System, fmt.Sprint("You are an agent. It is ", len(a.items)))
		a.send(t)
	}
	out, _ := a.grow(t, 300)
	if len(n.asked) != 1 || n.asked[0].Key != n.prepared[0].Key || len(n.made) != 1 ||
		!strings.Contains(string(out.Body), "Work number 1") {
		t.Errorf("%d asked, %d prepared, %d made", len(n.asked), len(n.prepared), len(n.made))
	}
}

// otherwise has the conversation compacted by somebody else, who has no decision in common with a.
func (a *agent) otherwise(t *testing.T, tail int) Output {
	t.Helper()
	b := &agent{bench: newBench(a.window), items: a.items}
	b.limits, b.style, b.narrator, b.waits = a.limits, a.style, a.narrator, a.waits
	b.restart()
	b.limits.KeepTail = tail
	return b.compactNow(t)
}

// What was made of the conversation long ago leaves too much of it by now.
func TestSummaryOfTooLittleIsNotUsed(t *testing.T) {
	a, n := preparing(prose.ModeLLM)
	n.ahead = false
	for a.work(1, 300); a.send(t).Report.After.Total() < 9_000; {
		a.work(1, 300)
	}
	a.otherwise(t, 2_000)
	out, _ := a.grow(t, 300)
	if after := out.Report.After.Total(); len(n.asked) != 2 || after > out.Report.Usable/2 ||
		!strings.Contains(string(out.Body), "Work number 2") {
		t.Errorf("%d asked; %d of %d tokens are left", len(n.asked), after, out.Report.Usable)
	}
}

// What was made for somebody who wanted next to nothing kept leaves too little of it.
func TestSummaryThatLeavesNoTailIsNotUsed(t *testing.T) {
	a, n := preparing(prose.ModeLLM)
	n.ahead = false
	for a.work(1, 300); a.send(t).Report.After.Total() < 24_500; {
		a.work(1, 300)
	}
	short := a.otherwise(t, 0)
	out, _ := a.grow(t, 300)
	if less, kept := len(sentItems(t, short)), len(sentItems(t, out)); len(n.asked) != 2 || less > 6 || kept < 30 {
		t.Errorf("%d asked; %d messages are kept, and %d were", len(n.asked), kept, less)
	}
}
