package plan_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/decision"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

// seen is the plan of an agent that has done the steps and has seen what came of them.
func seen(t rapid.TB, steps ...plantest.Step) *plan.Plan {
	t.Helper()
	return planned(t, append(slices.Clone(steps), plantest.Command("true", "ok"))...)
}

// formOf is the form of result k, and its only text as it is sent.
func formOf(t rapid.TB, p *plan.Plan, k int) (f *decision.Form, text string) {
	t.Helper()
	if f = p.Forms[p.Hist.Results[k].Item]; f == nil {
		return nil, p.TextOf(p.Hist.Results[k].Item)
	}
	if len(f.Patches) != 1 {
		t.Fatalf("result %d has %d patches", k, len(f.Patches))
	}
	return f, f.Patches[0].Text
}

func TestAResultIsCutToWhatIsAskedFor(t *testing.T) {
	long := lines("part", 1, 300)
	f := func(keep int, showsLines bool) {
		t.Helper()
		p := seen(t, plantest.Command("make", long))
		res := &p.Hist.Results[0]
		before := p.Total()
		freed := plan.ShrinkResult(p, res, keep)
		form, text := formOf(t, p, 0)
		if freed < limits.LeastSaving || p.Total() != before-freed || form.Rung != decision.RungCompact {
			t.Fatalf("%d tokens are freed of %d, %d are left: %+v", freed, before, p.Total(), form)
		}
		if n := p.SentSize(res.Item); n > max(keep, 0)+plan.StubTokens {
			t.Errorf("%d tokens are left, %d were asked for", n, keep)
		}
		if plantest.IsExcerpt(text) != showsLines {
			t.Fatalf("to %d tokens: %.300q", keep, text)
		}
		if showsLines {
			plantest.HoldExcerpt(t, text, long)
		} else if !strings.Contains(text, ", cleared: the window is full. ") || strings.Contains(text, "well with this one") {
			t.Errorf("to %d tokens: %.300q", keep, text)
		}
	}
	f(plan.ShortTokens, true)
	f(plan.ShorterTokens, true)
	f(1, true) // no line fits, and the mark says so
	f(0, false)
	f(-1, false)
}

func TestAResultIsCutOnlyIfThatFreesSomething(t *testing.T) {
	f := func(text string, keep int, want bool) {
		t.Helper()
		p := seen(t, plantest.Command("make", text))
		before := p.Total()
		freed := plan.ShrinkResult(p, &p.Hist.Results[0], keep)
		if (freed >= limits.LeastSaving) != want || (freed > 0) != want || before-p.Total() != freed {
			t.Errorf("%d tokens are freed of %d, and %d are left", freed, before, p.Total())
		}
		if form, _ := formOf(t, p, 0); (form != nil) != want {
			t.Errorf("%+v", form)
		}
	}
	f("done\n", 0, false)
	f(lines("part", 1, 4), 0, false)
	f(lines("part", 1, 40), 0, true)
	f(lines("part", 1, 40), 430, true) // so much cannot be kept, and a stub is less
}

// Each text of a result has its share, and what is no text stays.
func TestEachPartOfAResultHasItsShare(t *testing.T) {
	parts := []string{lines("first", 1, 200), lines("second", 1, 100)}
	p := planned(t, plantest.Step{Tool: "fetch", Input: "{}", Parts: parts})
	res := &p.Hist.Results[0]
	if freed := plan.ShrinkResult(p, res, 600); freed <= 0 {
		t.Fatal("nothing is freed")
	}
	form := p.Forms[res.Item]
	if len(form.Patches) != 2 {
		t.Fatalf("%+v", form)
	}
	for k, q := range form.Patches {
		plantest.HoldExcerpt(t, q.Text, parts[k])
		if n := p.Count(q.Text); n > 400-200*k+plan.StubTokens || n < 300-200*k {
			t.Errorf("part %d has %d tokens", k, n)
		}
	}
}

func TestATextThatWasCutBeforeIsClearedNotCutAgain(t *testing.T) {
	p := planned(t, plantest.Command("make", ""))
	name := p.Shelf.Name("", []byte("there"))
	if err := p.Shelf.Put(name, []byte("there"), false); err != nil {
		t.Fatal(err)
	}
	text := lines("part", 1, 100) + plan.Mark + "100 of 300 lines omitted. Full output: " + name + "]\n" + lines("part", 201, 300)
	q := seen(t, plantest.Command("make", text))
	q.Shelf = p.Shelf
	plan.ShrinkResult(q, &q.Hist.Results[0], 600)
	if _, sent := formOf(t, q, 0); !strings.Contains(sent, "cleared: ") || plantest.IsExcerpt(sent) {
		t.Errorf("%.300q", sent)
	}
}

func TestTheOldestAreCutUntilTheRequestFits(t *testing.T) {
	steps := make([]plantest.Step, 6)
	for i := range steps {
		steps[i] = plantest.Command("make", lines("part", 1000*i, 1000*i+300))
	}
	whole := seen(t, steps...).Total()
	f := func(usable int, cut func(*plan.Plan), want string) *plan.Plan {
		t.Helper()
		p := seen(t, steps...)
		p.Limits.Usable, p.Limits.Window = usable, usable
		cut(p)
		got := ""
		for k := range steps {
			form, text := formOf(t, p, k)
			switch {
			case form == nil:
				got += "."
			case p.Count(text) > plan.ShorterTokens+plan.StubTokens:
				got += "s"
			default:
				got += "S"
			}
			if form != nil {
				plantest.HoldExcerpt(t, text, steps[k].Output)
			}
		}
		if got != want {
			t.Errorf("at %d of %d tokens %s are cut, want %s", usable, whole, got, want)
		}
		return p
	}
	short := func(p *plan.Plan) { plan.ShrinkResults(p, plan.ShortTokens, p.Limits.Usable) }
	f(whole, short, "......")
	f(whole-1, short, "s.....")
	f(whole-4_000, short, "ss....")
	f(1, short, "ssssss")
	f(whole, plan.FitResults, "......")
	f(whole-4_000, plan.FitResults, "ss....")
	f(whole/4, plan.FitResults, "SSssss")
	f(1, plan.FitResults, "SSSSSS") // it helps, though not enough
	spent := func(p *plan.Plan) {
		p.Case.Rescue = &plan.Rescue{}
		p.Hist.Results[1].SpentBy = 1
		plan.ShrinkResults(p, plan.ShortTokens, p.Limits.Usable)
	}
	f(1, spent, "sSssss")
}

// Where all results are small next to the rest, cutting them helps nobody.
func TestNothingIsCutWhereThatCannotHelp(t *testing.T) {
	body := plantest.Body(plantest.Command("make", lines("part", 1, 60)))
	body = strings.Replace(body, "Make all parts.", strings.Repeat("Make all parts. ", 5_000), 1)
	p := plantest.NewDesk(t).Plan(t, body)
	p.Limits.Usable = 1_000
	if plan.FitResults(p); p.Forms[p.Hist.Results[0].Item] != nil {
		t.Error("a small result is cut in a large request")
	}
	p.Limits.Usable = p.Total() - 100
	if plan.FitResults(p); p.Total() > p.Limits.Usable {
		t.Error("a small result that is enough is not cut")
	}
}

func TestWhatMayNotBeCutIsNot(t *testing.T) {
	f := func(want bool, change func(p *plan.Plan, item int)) {
		t.Helper()
		desk := plantest.NewDesk(t)
		desk.Limits.ToolLimits = []limits.Limit{{Tool: "keep*", Keep: true}}
		p := desk.Plan(t, plantest.Body(plantest.Command("make", lines("part", 1, 300))))
		change(p, p.Hist.Results[0].Item)
		if got := plan.IsShrinkable(p, &p.Hist.Results[0]); got != want {
			t.Errorf("%v", got)
		}
		before, items := p.Total(), len(p.Sheet.Changes)
		p.Limits.Usable = 10
		if plan.FitResults(p); !want && (p.Total() != before || len(p.Sheet.Changes) != items) {
			t.Error("it is cut all the same")
		}
	}
	f(true, func(*plan.Plan, int) {})
	f(true, func(p *plan.Plan, i int) { p.Forms[i] = &decision.Form{Rung: decision.RungOffload, Now: 2_000} })
	f(false, func(p *plan.Plan, i int) { p.Forms[i] = &decision.Form{Rung: decision.RungCompact, Gone: true} })
	f(false, func(p *plan.Plan, i int) { p.Forms[i] = &decision.Form{Rung: decision.RungClear, Fold: 2, Now: 2_000} })
	f(false, func(p *plan.Plan, _ int) { p.Hist.Results[0].Tool = "keep_this" })
}

// However little is to be kept of however many results: what is said is true, and the sums are right.
func TestShrinkingForgesNothing(t *testing.T) {
	const frames = "working\rdone  \x1b[32mgreen\x1b[0m\n"
	desk := plantest.NewDesk(t)
	rapid.Check(t, func(rt *rapid.T) {
		var steps []plantest.Step
		for i := range rapid.IntRange(1, 6).Draw(rt, "results") {
			n := rapid.IntRange(0, 120).Draw(rt, "lines")
			text := lines("part", 1000*i, 1000*i+n)
			if rapid.Bool().Draw(rt, "screen") {
				text = frames + text
			}
			steps = append(steps, plantest.Command("make", text))
		}
		p := desk.Plan(rt, plantest.Body(steps...))
		whole := p.Total()
		p.Limits.Usable = rapid.IntRange(1, whole).Draw(rt, "usable")
		plan.FitResults(p)
		total := whole
		for k := range p.Hist.Results {
			form, text := formOf(rt, p, k)
			if form == nil {
				continue
			}
			item := p.Hist.Results[k].Item
			saved := p.Hist.Sizes[item] - form.Now
			if want := p.Count(p.TextOf(item)) - p.Count(text); saved != want || saved < limits.LeastSaving {
				rt.Fatalf("result %d frees %d tokens, and says %d", k, want, saved)
			}
			total -= saved
			if plantest.IsExcerpt(text) {
				plantest.HoldExcerpt(rt, text, strings.Replace(p.TextOf(item), frames, "done  green\n", 1))
			}
		}
		if total != p.Total() {
			rt.Fatalf("%d tokens are left, and %d are told", total, p.Total())
		}
	})
}

// Where the head leaves no room in what is usable, the request comes down to the window, less a short answer, and no
// further.
func TestARequestWhoseHeadNearlyFillsTheWindowComesDownToTheWindow(t *testing.T) {
	f := func(window, usable int, maxOutput string, least, most int) {
		t.Helper()
		body := plantest.Body(plantest.Command("make", lines("part", 1, 100)),
			plantest.Command("make", lines("part", 101, 200)),
			plantest.Command("make", lines("part", 201, 210)))
		body = strings.Replace(body, "Make all parts.", strings.Repeat("Make all parts. ", 5_000), 1)
		p := plantest.NewDesk(t).Plan(t, strings.Replace(body, `"model":`, maxOutput+`"model":`, 1))
		p.Limits.Window, p.Limits.Usable = window, usable
		before := p.Total()
		if plan.FitResults(p); p.Total() < least || p.Total() > most {
			t.Errorf("%d of %d tokens are left in a window of %d", p.Total(), before, window)
		}
	}
	f(23_000, 20_000, "", 21_300, 22_300)
	f(23_000, 20_000, `"max_tokens":2500,`, 20_300, 20_700) // no further than it can
	f(24_000, 22_000, "", 21_000, 22_000)
	f(40_000, 35_000, "", 22_300, 22_600)
}

// What the model has not seen yet is cut last, and something of it stays.
func TestWhatWasNotSeenYetIsShownHoweverLittleRoomThereIs(t *testing.T) {
	p := planned(t, plantest.Command("make", lines("part", 1, 300)), plantest.Command("make", lines("more", 1, 300)))
	p.Limits.Window, p.Limits.Usable = 1_000, 900
	plan.FitResults(p)
	for k, first := range []string{"part 1:", "more 1:"} {
		if _, text := formOf(t, p, k); !strings.Contains(text, "\n"+first) && k > 0 || !plantest.IsExcerpt(text) {
			t.Errorf("result %d is sent as %.200q", k, text)
		}
	}
	if freed := plan.ShrinkResult(p, &p.Hist.Results[1], 0); freed != 0 {
		t.Errorf("%d tokens of it are cleared", freed)
	}
	p.Case.Rescue = &plan.Rescue{}
	if freed := plan.ShrinkResult(p, &p.Hist.Results[1], 0); freed <= 0 {
		t.Error("it stays after the provider has refused it")
	}
}
