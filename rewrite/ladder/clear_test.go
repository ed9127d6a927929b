package ladder

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

// lines are so many lines of some 9 tokens, all of them different.
func lines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d: all is well with this one\n", name, i)
	}
	return b.String()
}

// isStub reports whether nothing of result k is sent but a stub.
func isStub(p *plan.Plan, k int) bool { return plan.IsCleared(p, &p.Hist.Results[k]) }

// What clearing frees must be worth what the model no longer sees.
func TestNoResultIsClearedForLittle(t *testing.T) {
	f := func(command, output string, want bool) {
		t.Helper()
		desk := plantest.NewDesk(t)
		desk.Limits.Protect, desk.Limits.Groups, desk.Limits.ClearAt, desk.Limits.ClearAtLeast = 0, 1, .01, 0
		desk.Window = 5_000
		p := desk.Plan(t, plantest.Body(plantest.Command(command, output), plantest.Command("make long", lines("long", 300)),
			plantest.Command("true 1", "ok"), plantest.Command("true 2", "ok")))
		before := p.SentSize(p.Hist.Results[0].Item)
		clearOld(p, p.Total())
		if !isStub(p, 1) {
			t.Fatal("the long result is not cleared")
		}
		freed := before - p.SentSize(p.Hist.Results[0].Item)
		if isStub(p, 0) != want || want != (freed > 0) || want && (freed < 200 || 2*freed < before) {
			t.Errorf("cleared: %v, %d of %d tokens are freed", isStub(p, 0), freed, before)
		}
	}
	f("make", lines("part", 60), true)
	f("make", lines("part", 18), false) // its stub frees less than 200 tokens
	f("make", "done", false)
}

// Whoever knows the conversation already measures stubs as one does who sees it for the first time: else two machines
// would clear other results.
func TestAStubIsMeasuredAsItWouldBeWrittenNow(t *testing.T) {
	source := "package a\n" + strings.Repeat("\nfunc Open(name string) error {\n\treturn os.Remove(name)\n}\n", 40)
	steps := []plantest.Step{
		plantest.Reading("src/a.go", source), plantest.Reading("src/b.go", source+"// b\n"),
		plantest.Command("cat src/c.txt", lines("part", 90)), plantest.Command("make", lines("step", 300)),
		plantest.Command("rm src/b.go", "removed"), plantest.Reading("src/a.go", source+"// more\n"),
		plantest.Command("cat src/c.txt", lines("other", 90)), plantest.Command("echo x > src/b.go", "written"),
	}
	desk, known, changed := plantest.NewDesk(t), history.New(), 0
	before := map[int]int{}
	for n := range steps {
		desk.Window = 1_000_000 >> (4 * (n % 2)) // what may be read at once
		body := plantest.Body(append(steps[:n:n], steps[n])...)
		warm, cold := desk.PlanWith(t, body, known), desk.Plan(t, body)
		for k := range warm.Hist.Results {
			for _, why := range []string{"old", "the file was written since"} {
				res := &warm.Hist.Results[k]
				c := candidate{item: res.Item, result: res, why: plan.Why{Words: why}}
				got, want := stubSize(warm, &c), plan.StubOf(cold, &cold.Hist.Results[k], why).Now
				if got != want {
					t.Errorf("after %d steps, result %d: %d tokens, a new reader counts %d", n+1, k, got, want)
				}
				if before[k] != 0 && why == "old" && before[k] != got {
					changed++
				}
				if why == "old" {
					before[k] = got
				}
			}
		}
	}
	if changed < 1 {
		t.Errorf("only %d of the stubs have changed: the steps test nothing", changed)
	}
}

// told is a model that has said something of a result.
type told struct{ plan.Summariser }

func (told) Distils() bool { return true }

// What a model wrote stands in a stub where clearing frees enough even so, and is left out where it would not.
func TestADistillateNeverKeepsAResultFromBeingCleared(t *testing.T) {
	f := func(words int, stands bool) {
		t.Helper()
		desk := plantest.NewDesk(t)
		p := desk.Plan(t, plantest.Body(plantest.Command("make", lines("part", 200)), plantest.Command("true", "ok")))
		p.Ask = &plan.Asker{Summariser: told{}}
		p.Ask.Style.Mode = "llm"
		res := &p.Hist.Results[0]
		res.Distillate.Text = strings.Repeat("well ", words)
		c := candidate{item: res.Item, result: res, why: plan.Why{Code: event.CodeOld, Words: "old"}}
		sent, now := p.SentSize(res.Item), stubSize(p, &c)
		clearAll(p, []candidate{c})
		text := p.Forms[res.Item].Patches[0].Text
		if strings.Contains(text, "\n| well well") != stands || p.SentSize(res.Item) != now || 2*now > sent {
			t.Errorf("%d words: %d of %d tokens are left, counted as %d: %.300s", words, p.SentSize(res.Item), sent, now, text)
		}
	}
	f(200, true)
	f(1_400, false)
}

// Where many small results have more bytes than one request reads, the oldest of them go.
func TestOfManySmallResultsTheOldestAreCleared(t *testing.T) {
	desk := plantest.NewDesk(t)
	desk.Limits.Protect, desk.Limits.Groups, desk.Limits.ClearAt, desk.Window = 0, 1, .1, 8_000_000
	var steps []plantest.Step
	for k := range 2_500 {
		steps = append(steps, plantest.Command(fmt.Sprint("make ", k), lines("part", 70)))
	}
	p := desk.Plan(t, plantest.Body(steps...))
	clearOld(p, p.Total())
	n, bytes := 0, 0
	for n < len(steps) && isStub(p, n) {
		bytes += len(steps[n].Output)
		n++
	}
	if bytes < mostCleared/2 || bytes > mostCleared {
		t.Errorf("%d results of %d bytes are cleared", n, bytes)
	}
	for k := n; k < len(steps); k++ {
		if isStub(p, k) {
			t.Fatalf("result %d is cleared, and %d is not", k, n)
		}
	}
}
