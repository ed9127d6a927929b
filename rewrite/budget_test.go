package rewrite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/conversation"
)

// overBudget are the warnings about the budget.
func overBudget(n *narrator) (list []event.Warning) {
	for _, w := range n.warnings {
		if w.Reason == event.ReasonBudget {
			list = append(list, w)
		}
	}
	return list
}

// What is sent of a conversation is added up, request by request and over restarts. Where it crosses warn_at, that is
// told once; where it would reach cutover_at, the conversation is compacted, and the sum begins anew.
func TestBudgetWarnsOnceAndCutsOver(t *testing.T) {
	a, n := styled(64_000, prose.Style{Mode: prose.ModeLLM})
	a.limits.WarnAt, a.limits.CutoverAt, a.limits.KeepTail = 100_000, 200_000, 2_000
	spent, warned, rounds := 0, 0, 0
	for request := range 150 {
		if request%7 != 3 { // what is sent again is sent, too
			a.work(1, 400)
		}
		told, heard := len(n.notices), len(n.warnings)
		out := a.send(t)
		sent := out.Report.After.Total()
		due := request%7 != 3 && spent+sent >= 200_000
		if compacts(out) {
			got := n.notices[len(n.notices)-1]
			if rounds++; got.Reason != event.ReasonBudget || got.Kind != event.CompactionCompleted ||
				spent+got.TokensBefore < 200_000 || sent > 16_000 {
				t.Fatalf("request %d, %d tokens spent: %+v", request, spent, got)
			}
			spent, warned, told = 0, 0, told+2
		} else if due {
			t.Fatalf("request %d: not compacted although %d tokens would be spent", request, spent+sent)
		}
		crosses := spent < 100_000 && spent+sent >= 100_000
		if spent += sent; crosses {
			warned++
		}
		if got := n.notices[told:]; len(got) > 0 {
			t.Fatalf("request %d: %+v", request, got)
		}
		if got := n.warnings[heard:]; crosses != (len(got) == 1) || len(got) > 1 || crosses &&
			(got[0].Reason != event.ReasonBudget ||
				got[0].Tokens != spent || got[0].Sent != sent || got[0].Conversation != out.Report.Conversation) {
			t.Fatalf("request %d, %d tokens spent: %+v", request, spent, got)
		}
		if warned > 1 {
			t.Fatalf("request %d: warned again", request)
		}
		if request%10 == 9 {
			a.restart()
		}
	}
	if rounds < 3 || len(overBudget(n)) < 3 {
		t.Errorf("%d rounds, %d warnings", rounds, len(overBudget(n)))
	}
}

// A budget that no request can keep does not have each of them compacted.
func TestBudgetBelowEachRequestIsNoLoop(t *testing.T) {
	a, n := styled(64_000, prose.Style{Mode: prose.ModeLLM})
	a.limits.CutoverAt, a.limits.KeepTail = 1, 2_000
	requests, breaks := 120, 0
	for range requests {
		a.work(1, 300)
		if a.send(t).Report.Broke {
			breaks++
		}
	}
	if breaks == 0 || breaks > requests/4 || n.tries() > requests/4 {
		t.Errorf("%d of %d requests changed what had been sent, after %d tries", breaks, requests, n.tries())
	}
}

// Of requests that are sent at once none is forgotten.
func TestBudgetCountsRequestsThatAreSentAtOnce(t *testing.T) {
	a, n := styled(64_000, prose.Style{Mode: prose.ModeIntent})
	a.limits.WarnAt = 1 << 40
	a.work(1, 2_000)
	a.deps.Ledger = &interrupted{notes: a.notes, kind: 'b', meanwhile: func() { a.send(t) }}
	sent := a.send(t).Report.After.Total()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { a.shape(a.body()) })
	}
	all.Wait()
	a.limits.WarnAt = 6*sent + 1
	a.send(t)
	if got := overBudget(n); len(got) != 1 || got[0].Tokens != 7*sent {
		t.Errorf("%d tokens were sent, and %+v is told", 7*sent, got)
	}
}

func TestBudgetIsOfOneConversation(t *testing.T) {
	a, n := styled(64_000, prose.Style{Mode: prose.ModeIntent})
	a.limits.WarnAt = 20_000
	for len(overBudget(n)) == 0 {
		a.work(1, 400)
		a.send(t)
	}
	fork := &agent{bench: a.bench, items: slices.Clone(a.items[:8]), calls: 5_000}
	other := &agent{bench: a.bench, items: []string{userSays("Something else.")}, calls: 7_000}
	for k, b := range []*agent{fork, other} {
		for step := range 3 {
			b.work(1, 400)
			if b.send(t); len(overBudget(n)) != 1 {
				t.Errorf("conversation %d, step %d: %+v", k, step, overBudget(n))
			}
		}
	}
	for len(overBudget(n)) == 1 {
		fork.work(1, 400)
		fork.send(t)
	}
	if got := overBudget(n); got[1].Conversation == got[0].Conversation || got[1].Tokens > 25_000 {
		t.Errorf("%+v", got)
	}
}

// Budgets that are not wanted cost no write.
func TestBudgetIsOffByDefault(t *testing.T) {
	written := func(warn, cutover int) (n int) {
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		a.limits.WarnAt, a.limits.CutoverAt = warn, cutover
		a.grow(t, 400)
		for key := range a.notes.facts {
			if key[0] == 'b' {
				n++
			}
		}
		return n
	}
	off, warn, cutover := written(0, 0), written(1<<40, 0), written(0, 1<<40)
	if off != 0 || warn != 1 || cutover != 1 {
		t.Errorf("%d facts without, %d with a warning, %d with a cutover", off, warn, cutover)
	}
}

// A compaction that could not be recorded is none: the budget is used up still.
func TestBudgetIsKeptWhenACompactionFails(t *testing.T) {
	a, n := styled(64_000, prose.Style{Mode: prose.ModeIntent})
	a.limits.CutoverAt, a.limits.KeepTail = 100_000, 2_000
	spent := 0
	for {
		a.work(1, 400)
		a.cupboard.Err = nil
		if spent > 80_000 {
			a.cupboard.Err = errors.New("no space left on device")
		}
		out := a.shape(a.body())
		if spent += out.Report.After.Total(); out.Report.Err != nil {
			break
		}
	}
	a.cupboard.Err = nil
	a.work(5, 400) // it is tried again when the conversation has grown
	out := a.send(t)
	if got := n.notices[len(n.notices)-1]; !compacts(out) || got.Kind != event.CompactionCompleted ||
		got.Reason != event.ReasonBudget {
		t.Errorf("%d tokens are spent, and nothing is done: %+v", spent, out.Report)
	}
	if kinds := n.kinds(); kinds != "started failed started completed" {
		t.Errorf("told: %s", kinds)
	}
}

// thrashing is an agent whose model says so much that compacting saves nothing, after the first time.
func thrashing(t *testing.T) (*agent, *narrator) {
	t.Helper()
	a, n := styled(32_000, prose.Style{Mode: prose.ModeLLM})
	n.says = "## Goal\n" + strings.Repeat("All is to be told at length. ", 5_000)
	for len(n.asked) == 0 {
		a.work(1, 300)
		if out := a.send(t); compacts(out) {
			t.Fatalf("compacted: %+v", out.Report)
		}
	}
	return a, n
}

// tries is how many compactions were begun.
func (n *narrator) tries() int { return strings.Count(n.kinds(), "started") }

// grows works on until another compaction is tried, and says by how much the request has grown.
func (a *agent) grows(t *testing.T, n *narrator) (by float64) {
	t.Helper()
	tries, before := n.tries(), a.send(t).Report.After.Total()
	for n.tries() == tries && by < 1.15 {
		a.work(1, 100)
		out := a.send(t)
		by = float64(out.Report.After.Total()) / float64(before)
		if n.tries() == tries && out.Report.Code != event.CodeInVain {
			t.Fatalf("grown by %f: %+v", by, out.Report)
		}
	}
	return by
}

// After a compaction that was undone nothing is tried until the conversation has grown by a tenth, in another process
// as well.
func TestNothingIsCompactedAgainBeforeTheConversationHasGrown(t *testing.T) {
	for _, restart := range []bool{false, true} {
		a, n := thrashing(t)
		if got := n.notices[len(n.notices)-1]; got.Kind != event.CompactionFailed ||
			!strings.Contains(got.Why, "less than a tenth") || n.kinds() != "started failed" {
			t.Fatalf("%+v", n.notices)
		}
		if restart {
			a.restart()
		}
		if by := a.grows(t, n); by < 1.09 || by > 1.12 || n.kinds() != "started failed started failed" {
			t.Errorf("%s after a growth by %f", n.kinds(), by)
		}
	}
	a, n := thrashing(t)
	a.limits.Thrash = 0 // no guard
	if by := a.grows(t, n); by > 1.02 || n.tries() != 2 {
		t.Errorf("without a guard: %d tries, the last one after a growth by %f", n.tries(), by)
	}
}

// A fork knows of the compactions before it, and of no others.
func TestForksInheritOutcomesOfWhatTheyShare(t *testing.T) {
	f := func(name string, cut int, guarded bool) {
		t.Helper()
		a, n := thrashing(t)
		b := &agent{bench: a.bench, items: slices.Clone(a.items[:len(a.items)-cut]), calls: 5_000}
		b.work(1, 300)
		out := b.send(t)
		if got := out.Report.Code == event.CodeInVain; got != guarded || (n.tries() == 1) != guarded {
			t.Errorf("%s: %d tries, %s", name, n.tries(), out.Report.Reason)
		}
	}
	f("behind it", 0, true)
	f("before it", 2, false)

	a, n := thrashing(t) // and another model of none
	a.work(1, 300)
	if a.shape(strings.Replace(a.body(), "gpt-5", "gpt-4.1", 1)); n.tries() != 2 {
		t.Errorf("another model: %d tries", n.tries())
	}
}

// However little the last compactions saved, a request that could fit is brought below what its window can take.
func TestGuardKeepsNoRequestAboveUsable(t *testing.T) {
	a, n := thrashing(t)
	for round := range 3 {
		a.work(3, 900)
		a.items = append(a.items, chatMessage(conversation.Assistant, "So far."), userSays(fmt.Sprint("Go on, ", round)))
		a.work(1, 300)
		if out := a.send(t); out.Report.After.Total() > out.Report.Usable {
			t.Fatalf("round %d: %d of %d tokens: %s", round, out.Report.After.Total(), out.Report.Usable, out.Report.Reason)
		}
	}
	if last := n.notices[len(n.notices)-1]; last.Kind != event.CompactionCompleted {
		t.Errorf("%s", n.kinds())
	}
}
