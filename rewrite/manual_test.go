package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// compactNow asks for compaction, with the promises held.
func (a *agent) compactNow(t testing.TB) Output {
	t.Helper()
	a.now = true
	defer func() { a.now = false }()
	return a.ask(t)
}

// goesOn holds that what is sent goes on from what was sent for an earlier request, to the byte, and decides nothing
// about that.
func goesOn(t *testing.T, before, now Output) {
	t.Helper()
	was, _ := chat.Read(before.Body)
	end := was.Items[len(was.Items)-1].End
	if !strings.HasPrefix(string(now.Body), string(before.Body[:end])) || now.Report.Broke {
		t.Errorf("it does not go on from what was sent: %s", firstDifference(string(before.Body), string(now.Body)))
	}
}

func TestCompactNowActsBelowEveryLineAndTheFloor(t *testing.T) {
	for k, window := range []int{16_000, 128_000, 16_000} {
		a, n := styled(window, prose.Style{Mode: prose.ModeHybrid})
		if a.limits.KeepTail = 600; k == 2 { // of which it is less than a tenth
			a.limits.Floor = 1 << 20
			a.items[0] = chatMessage(conversation.System, strings.Repeat("All is so. ", 2_200))
			a.window = 48_000
		}
		for range 12 {
			a.work(1, 120)
			if out := a.ask(t); out.Report.Action != ActionNone || out.Report.Code != event.CodeFloor {
				t.Fatalf("%+v", out.Report)
			}
		}
		out := a.compactNow(t)
		text, _ := summaryIn(t, out)
		if !compacts(out) || !out.Report.Decided || !out.Report.Broke || out.Report.Reason != "" ||
			!strings.Contains(text, "Work number 1") {
			t.Fatalf("%+v", out.Report)
		}
		sent := sentItems(t, out)
		if tail := sent[2:]; len(tail) < 2 || len(tail) > 10 || !slices.Equal(tail, a.items[len(a.items)-len(tail):]) {
			t.Errorf("%d messages stay", len(tail))
		}
		if n.kinds() != "started completed" || n.notices[0].Reason != event.ReasonManual ||
			n.notices[1].Reason != event.ReasonManual {
			t.Errorf("told: %+v", n.notices)
		}
	}
}

// What was asked for takes the place of what was decided, for good.
func TestCompactNowReplacesWhatWasDecided(t *testing.T) {
	for _, trailing := range []bool{false, true} {
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		for range 22 {
			a.work(1, 300)
			a.ask(t)
		}
		if trailing {
			a.items = append(a.items, userSays("And now?"))
		}
		whole := a.ask(t)
		if string(whole.Body) != a.body() {
			t.Fatalf("%+v", whole.Report)
		}
		out := a.compactNow(t)
		if !compacts(out) || len(n.asked) != 1 {
			t.Fatalf("%+v", out.Report)
		}
		before := out
		for step := range 8 {
			again := a.ask(t)
			if string(again.Body) != string(before.Body) || again.Report.Decided {
				t.Fatalf("step %d: asked normally, another body is sent: %s", step, firstDifference(string(before.Body), string(again.Body)))
			}
			if step%2 == 0 {
				a.restart()
			}
			a.work(1, 100)
			now := a.ask(t)
			goesOn(t, before, now)
			before = now
		}
		if len(n.asked) != 1 || n.kinds() != "started completed" {
			t.Errorf("%d asked: %s", len(n.asked), n.kinds())
		}
	}
}

// A reminder that moves with each turn: whatever stands behind the last result, each compaction that is asked for is
// done, and what was decided before is not sent again.
func TestCompactNowWithAReminderThatMoves(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeLLM})
	reminders := 0
	with := func(ask func(testing.TB) Output) Output {
		t.Helper()
		k := len(a.items)
		reminders++
		a.items = append(a.items, userSays(fmt.Sprint("It is now ", reminders)))
		out := ask(t)
		if sent := sentItems(t, out); sent[len(sent)-1] != a.items[k] {
			t.Errorf("the reminder has become %.100s", sent[len(sent)-1])
		}
		a.items = a.items[:k]
		return out
	}
	for round := range 4 {
		for range 14 {
			a.work(1, 300)
			with(a.ask)
		}
		for _, tail := range []int{3_000, 1_200} {
			a.limits.KeepTail = tail
			out := with(a.compactNow)
			if !compacts(out) || !out.Report.Decided || out.Report.Reason != "" {
				t.Fatalf("round %d: %+v", round, out.Report)
			}
			sent := sentItems(t, out)
			for range 2 {
				if now := sentItems(t, with(a.ask)); !slices.Equal(now[:len(now)-1], sent[:len(sent)-1]) {
					t.Fatalf("round %d: with another reminder, another form is sent", round)
				}
			}
			if round%2 == 0 {
				a.restart()
			}
		}
	}
}

func TestCompactNowSaysWhyThereIsNothingToDo(t *testing.T) {
	f := func(name string, reason event.Code, prepare func(a *agent)) {
		t.Helper()
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		prepare(a)
		normal := a.ask(t)
		asked, told := len(n.asked), len(n.told)
		for range 2 {
			out := a.compactNow(t)
			if string(out.Body) != string(normal.Body) || out.Report.Decided || len(n.asked) != asked ||
				len(n.told) != told {
				t.Errorf("%s: %+v, %d asked, %v", name, out.Report, len(n.asked)-asked, n.told[told:])
			}
			if out.Report.Code != reason {
				t.Errorf("%s: the reason is %q", name, out.Report.Reason)
			}
		}
		if again := a.ask(t); string(again.Body) != string(normal.Body) || again.Report.Decided {
			t.Errorf("%s: asked normally, another body is sent", name)
		}
	}
	const short, none = event.CodeNoSmaller, event.CodeNothingOlder
	f("only the task", none, func(*agent) {})
	f("one group", short, func(a *agent) { a.work(1, 300) })
	f("much that is never left out", short, func(a *agent) {
		a.items[0] = chatMessage(conversation.System, strings.Repeat("All is so. ", 3_000))
		a.work(1, 300)
	})
	f("within the tail", short, func(a *agent) {
		for range 5 {
			a.work(1, 300)
		}
	})
	f("just done", short, func(a *agent) {
		for range 25 {
			a.work(1, 300)
		}
		a.compactNow(t)
	})
	f("a tiny span", short, func(a *agent) {
		a.limits.KeepTail = 0
		a.work(1, 40)
		a.work(1, 600)
	})
}

// While a request is sent as it was decided, somebody else has it compacted. What is learned of the first is stale
// then.
func TestAnOlderDecisionIsNeverChosenAgain(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeLLM})
	for range 22 {
		a.work(1, 300)
		a.send(t)
	}
	body := a.body()
	var inner func()
	a.deps.Window = func(string, string, int) (int, int) {
		if f := inner; f != nil {
			inner = nil
			f()
		}
		return 16_000, 14_000
	}
	f := func(name string, now bool, meanwhile func()) {
		t.Helper()
		inner = meanwhile
		a.now = now
		a.shape(body)
		a.now = false
		want := a.ask(t)
		b := &agent{bench: a.bench, items: slices.Clone(a.items), calls: 100 * len(name)}
		b.work(1, 100)
		next := b.ask(t)
		if goesOn(t, want, next); !strings.Contains(string(next.Body), plan.Mark+"summary ") {
			t.Errorf("%s: the conversation goes on as if it had not been compacted", name)
		}
	}
	twice := func() { a.shape(body) }
	inner = twice
	a.shape(body) // two equal requests at once: both learn it
	f("compacted afterwards", true, nil)
	f("compacted meanwhile", false, func() {
		a.now, a.style.Detail = true, prose.DetailHigh
		a.shape(body)
		a.now = false
	})
}

// What was decided while a compaction was made is newer than what the client wanted to have replaced: it stands, for
// both.
func TestCompactNowReplacesNothingNewer(t *testing.T) {
	for k := range 8 {
		known, trailing, now := k&1 > 0, k&2 > 0, k&4 > 0
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		for range 22 {
			a.work(1, 300)
			a.send(t)
		}
		if a.work(1, 300); trailing {
			a.items = append(a.items, userSays("And now?"))
		}
		if known {
			a.send(t)
		}
		var other Output
		b := &agent{bench: &bench{notes: a.notes, cupboard: a.cupboard, limits: a.limits, window: a.window,
			memo: a.memo}, items: a.items}
		b.narrator, b.waits, b.style, b.now = n, a.waits, prose.Style{Mode: prose.ModeLLM, Detail: prose.DetailLow}, now
		b.restart()
		a.deps.Ledger = &interrupted{notes: a.notes, kind: 'd', meanwhile: func() { other = b.ask(t) }}
		out := a.compactNow(t)
		if known && !now { // what is sent again decides nothing
			other = out
		}
		if b.now = false; string(out.Body) != string(other.Body) || string(b.ask(t).Body) != string(out.Body) {
			t.Errorf("known %v, trailing %v, now %v: not the same is sent by both: %s", known, trailing, now, out.Report.Reason)
		}
		a.work(1, 100)
		goesOn(t, out, a.ask(t))
		a.restart()
		goesOn(t, out, a.ask(t))
	}
}

// Whatever comes first, in the end there is one decision, and everybody goes on from it.
func TestCompactNowBesideOtherRequestsLeavesOneDecision(t *testing.T) {
	for k := range 8 {
		known := k%2 == 0
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		for range 22 {
			a.work(1, 300)
			a.send(t)
		}
		if a.work(1, 300); known {
			a.send(t)
		}
		body := a.body()
		outs := make([]Output, 12)
		var all sync.WaitGroup
		for i := range outs {
			all.Go(func() {
				outs[i] = a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &a.limits,
					Style: a.style, Compact: i%3 == 0, Client: somebody{a.waits}})
			})
		}
		all.Wait()
		want := a.ask(t)
		if len(n.made) > 1 || known && !strings.Contains(string(want.Body), "Work number 1") {
			t.Fatalf("%d summaries were made: %+v", len(n.made), want.Report)
		}
		for i, out := range outs {
			judged(t, a.bench, body, out)
			before := (!known || i%3 > 0) && string(out.Body) == body // it was decided before the others were
			if out.Report.Err != nil || !before && string(out.Body) != string(want.Body) {
				t.Errorf("known %v, request %d is not sent as it was decided: %+v", known, i, out.Report)
			}
		}
		a.work(1, 100)
		next := a.ask(t)
		goesOn(t, want, next)
		a.restart()
		if again := a.ask(t); string(again.Body) != string(next.Body) {
			t.Error("after a restart another body is sent")
		}
	}
}
