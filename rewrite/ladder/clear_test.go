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

// reading is a request with a file that was read twice, and what came behind that.
func reading(t *testing.T, desk *plantest.Desk, later ...plantest.Step) (*plan.Plan, func(k int) string) {
	t.Helper()
	source := lines("func", 220)
	steps := append([]plantest.Step{plantest.Reading("src/a.go", source), plantest.Command("sed -i s/x/y/ src/a.go", "done"),
		plantest.Reading("src/a.go", source)}, later...)
	p := desk.Plan(t, plantest.Body(steps...))
	OffloadArrivals(p)
	if len(plan.ReferredBy(p, &p.Hist.Results[2])) == 0 {
		t.Fatal("the second read does not refer to the first")
	}
	return p, func(k int) string {
		if f := p.Forms[p.Hist.Results[k].Item]; f != nil {
			return f.Rung.String()
		}
		return "whole"
	}
}

// What a later result only refers to stands nowhere else: it goes when that goes, in one batch.
func TestAResultGoesWithWhatRefersToIt(t *testing.T) {
	f := func(want [4]string, protect int, later ...plantest.Step) {
		t.Helper()
		desk := plantest.NewDesk(t)
		desk.Limits.Protect, desk.Limits.Groups, desk.Limits.ClearAt, desk.Limits.ClearAtLeast = protect, 1, .01, 0
		desk.Window = 20_000
		p, rung := reading(t, desk, later...)
		clearOld(p, p.Total())
		if got := [4]string{rung(0), rung(2), rung(3), rung(4)}; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	long, short := plantest.Command("make", lines("part", 200)), plantest.Command("true", "ok")
	f([4]string{"clear", "clear", "clear", "whole"}, 0, long, short, short)
	f([4]string{"clear", "clear", "whole", "whole"}, 1_500, short, short, long)
	f([4]string{"whole", "offload", "whole", "whole"}, 2_500, long, short, short)
	f([4]string{"whole", "offload", "whole", "whole"}, 2_500, short, short, long)
}

// A result that refers to what stays is not cleared for little.
func TestAReferenceAloneIsNotCleared(t *testing.T) {
	desk := plantest.NewDesk(t)
	p, _ := reading(t, desk, plantest.Command("true", "ok"))
	target, refers := &p.Hist.Results[0], &p.Hist.Results[2]
	one := func(res *history.Result) candidate {
		return candidate{item: res.Item, result: res, freed: p.SentSize(res.Item), why: plan.WhyOld}
	}
	both := worthClearing(p, []candidate{one(target), one(refers)})
	if len(both) != 2 || !both[1].follows || both[1].freed < 0 {
		t.Errorf("%+v", both)
	}
	if alone := worthClearing(p, []candidate{one(refers)}); len(alone) > 0 {
		t.Errorf("%+v", alone)
	}
	if alone := withoutStrays(p, both[1:]); len(alone) > 0 {
		t.Errorf("%+v", alone)
	}
}

// A compaction and a rescue find what they need, whatever refers to it, and nothing that is left refers to it.
func TestReferencesHoldNoOtherRung(t *testing.T) {
	f := func(what string, act func(p *plan.Plan)) {
		t.Helper()
		desk := plantest.NewDesk(t)
		desk.Limits.Protect, desk.Window = 100_000, 20_000
		var later []plantest.Step
		for i := range 9 {
			later = append(later, plantest.Command("make", lines(fmt.Sprint("part", i), 200)))
		}
		p, _ := reading(t, desk, later...)
		if p.Total() <= p.Limits.CompactLine {
			t.Fatalf("%d tokens are not over the line", p.Total())
		}
		act(p)
		if p.Total() > p.Limits.Usable {
			t.Errorf("%s: %d tokens are over %d", what, p.Total(), p.Limits.Usable)
		}
		for k := range p.Hist.Results {
			res := &p.Hist.Results[k]
			for _, i := range plan.ReferredBy(p, res) {
				if !plan.IsCleared(p, res) && p.Forms[i] != nil {
					t.Errorf("%s: result %d refers to item %d, which is not whole", what, k, i)
				}
			}
		}
	}
	f("compacted", func(p *plan.Plan) { compactWhereNeeded(p) })
	f("rescued", func(p *plan.Plan) {
		p.Case.Rescue = &plan.Rescue{}
		RescuePlan(p)
	})
}

// A request that is over the line says why nothing is cleared, also where what came was shortened.
func TestARequestOverTheLineSaysWhy(t *testing.T) {
	f := func(clearAt float64, want event.Code) {
		t.Helper()
		desk := plantest.NewDesk(t)
		desk.Limits.Protect, desk.Limits.ClearAt, desk.Window = 100_000, clearAt, 20_000
		p, _ := reading(t, desk, plantest.Command("true", "ok"))
		DecideOlder(p)
		why := WhyOverLine(p)
		if why.Code != want || p.Result.Compared != p.Total() {
			t.Errorf("%q, %d compared of %d", why, p.Result.Compared, p.Total())
		}
	}
	f(.01, event.CodeFreesLittle)
	f(.8, event.NoCode)
}
