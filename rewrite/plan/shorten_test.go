package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// planned is the plan of an agent that has done the steps, at a window that nothing fills.
func planned(t rapid.TB, steps ...plantest.Step) *plan.Plan {
	t.Helper()
	return plantest.NewDesk(t).Plan(t, plantest.Body(steps...))
}

// shortening is that of the only text of result k.
func shortening(t rapid.TB, p *plan.Plan, k, limit, keep int) *plan.Shortening {
	t.Helper()
	res := &p.Hist.Results[k]
	list, _ := p.Passages(res.Item)
	if len(list) != 1 {
		t.Fatalf("result %d has %d texts", k, len(list))
	}
	return &plan.Shortening{Plan: p, Result: res, Passage: list[0], Limit: limit, Keep: keep}
}

// lines are so many lines of some 9 tokens, all of them different.
func lines(name string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%s %d: all is well with this one\n", name, i)
	}
	return b.String()
}

// holdArtifact holds that the text says where the whole lies, that this is all of it, and that it was worth
// it.
func holdArtifact(t rapid.TB, c *plan.Shortening, text string) {
	t.Helper()
	content := span.ContentOf(c.Raw)
	if want := c.Plan.Shelf.Name(c.Plan.Route.Scope, content); c.Name != want || !strings.Contains(text, want) {
		t.Fatalf("%q names not %s, but %s", text, want, c.Name)
	}
	if string(content) != c.Text {
		t.Fatalf("%q is kept as %q", c.Raw, content)
	}
	if saved := c.Tokens - c.Plan.Count(text); saved < limits.LeastSaving {
		t.Fatalf("it saves %d tokens", saved)
	}
}

func TestATextOverItsLimitBecomesAnExcerpt(t *testing.T) {
	f := func(step plantest.Step, limit, keep int) {
		t.Helper()
		p := planned(t, step)
		c := shortening(t, p, 0, limit, keep)
		text, why, ok := c.Shorten()
		if !ok || why.Code != event.CodeOverLimit {
			t.Fatalf("%v, %+v", ok, why)
		}
		own := plantest.HoldExcerpt(t, text, step.Output)
		holdArtifact(t, c, text)
		if n := p.Count(own); n > keep || n < keep-60 {
			t.Errorf("%d tokens are kept, and were to be %d", n, keep)
		}
		if !strings.HasPrefix(own, "part 1:") || !strings.HasSuffix(strings.TrimSpace(own), "part 400: all is well with this one") {
			t.Errorf("the ends are not in %.200q", own)
		}
	}
	long := lines("part", 1, 400)
	f(plantest.Reading("a.txt", long), 2_000, 600)
	f(plantest.Command("make", long), 2_000, 600)
	f(plantest.Reading("a.txt", strings.TrimSuffix(long, "\n")), 2_000, 600) // the last line has no end
}

func TestTheLimitItselfIsNotOver(t *testing.T) {
	p := planned(t, plantest.Reading("a.txt", lines("part", 1, 100)))
	n := shortening(t, p, 0, 0, 0).Tokens
	for _, limit := range []int{n, n + 1} {
		if text, _, ok := shortening(t, p, 0, limit, 100).Shorten(); ok {
			t.Errorf("a text of %d tokens is cut at a limit of %d: %q", n, limit, text)
		}
	}
	if _, _, ok := shortening(t, p, 0, n-1, 100).Shorten(); !ok {
		t.Errorf("a text of %d tokens is not cut at a limit of %d", n, n-1)
	}
}

func TestNobodyLooksUpWhatHasNoAddress(t *testing.T) {
	step := plantest.Reading("a.txt", lines("part", 1, 400))
	kept := func(mute bool) int {
		p := planned(t, step)
		p.Shelf = &plantest.Cupboard{Mute: mute}
		text, _, ok := shortening(t, p, 0, 2_000, 600).Shorten()
		if !ok || strings.Contains(text, "you cannot read from here") != mute {
			t.Fatalf("%v: %.500q", ok, text)
		}
		return p.Count(plantest.HoldExcerpt(t, text, step.Output))
	}
	if with, without := kept(false), kept(true); without < 2*with-40 || without > 2*with+40 {
		t.Errorf("%d tokens are kept, and %d where nobody can read on", with, without)
	}
}

func TestTerminalOutputIsBroughtToItsFinalScreen(t *testing.T) {
	var b strings.Builder
	for i := range 1_000 {
		b.WriteString("\rdownloading part " + strings.Repeat("#", i%60))
	}
	b.WriteString("\r\x1b[Kdone with all of it\nand \x1b[31mwell\x1b[0m\n")
	const screen = "done with all of it\nand well\n"
	f := func(limit, keep int) (*plan.Shortening, string, plan.Why) {
		t.Helper()
		c := shortening(t, planned(t, plantest.Command("curl", b.String())), 0, limit, keep)
		text, why, ok := c.Shorten()
		if !ok {
			t.Fatal(why)
		}
		holdArtifact(t, c, text)
		return c, text, why
	}
	_, text, why := f(1_000, 300)
	if why.Code != event.CodeScreen || !strings.HasPrefix(text, plan.Mark+"final screen of bash `curl` (") || !strings.HasSuffix(text, "]\n"+screen) {
		t.Errorf("%s: %.300q", why.Words, text)
	}
	// A screen that is over the limit itself is cut, and the mark says of what the lines are.
	b.WriteString(lines("part", 1, 200))
	_, text, _ = f(1_000, 300)
	plantest.HoldExcerpt(t, text, screen+lines("part", 1, 200))
	if !plantest.OfScreen(text) {
		t.Errorf("%.300q", text)
	}

	// A short text is left as it came, and so is one that was asked for.
	c := shortening(t, planned(t, plantest.Command("ls", "\x1b[31mred\x1b[0m\n"+lines("part", 1, 40))), 0, 5_000, 100)
	if text, _, ok := c.Shorten(); ok {
		t.Errorf("%q", text)
	}
	c = shortening(t, planned(t, plantest.Command("cat", b.String())), 0, 100_000, 300)
	c.Recalled = strings.Repeat("a", plantest.NameLength)
	if text, _, ok := c.Shorten(); ok {
		t.Errorf("%.300q", text)
	}
}

// Whatever the text, and whatever came before it: what is said of it is true, it is found again, and it is worth it.
func TestNothingIsForged(t *testing.T) {
	desk := plantest.NewDesk(t)
	word := rapid.SampledFrom([]string{"all is well here", "error: it failed", "数据 and écrit", "x", "", "\t\tindented",
		"7: a line that counts", "8: a line that counts", "{\"a\": 1}", "progress 10%\rprogress 99%", "\x1b[1mbold\x1b[0m",
		"up\x1b[1A\x1b[2Kover", plan.Mark + "lines 1-9 of 9 left out: 9 lines, 9 tokens of x. y]"})
	rapid.Check(t, func(rt *rapid.T) {
		var texts []string
		for range rapid.IntRange(1, 5).Draw(rt, "results") {
			texts = append(texts, drawText(rt, word, texts))
		}
		var steps []plantest.Step
		for _, text := range texts {
			steps = append(steps, plantest.Command("make", text))
		}
		desk.Limits.Screen = rapid.SampledFrom([]int{50, 1_000}).Draw(rt, "screen")
		p := desk.Plan(rt, plantest.Body(steps...))
		for k := range p.Hist.Results {
			limit := rapid.SampledFrom([]int{60, 300, 100_000}).Draw(rt, "limit")
			c := shortening(rt, p, k, limit, rapid.IntRange(0, limit/2).Draw(rt, "keep"))
			text, why, ok := c.Shorten()
			if !ok {
				continue
			}
			holdArtifact(rt, c, text)
			shown, _ := shorten.FinalScreen(c.Text)
			switch {
			case why.Code == event.CodeScreen:
				if !strings.HasSuffix(text, "\n"+shown) {
					rt.Fatalf("%q is no screen of %q", text, c.Text)
				}
			case !strings.HasPrefix(text, plan.Mark+"JSON preview"):
				if !plantest.OfScreen(text) {
					shown = c.Text
				}
				plantest.HoldExcerpt(rt, text, shown)
			}
			res := c.Result
			form := &decision.Form{Rung: decision.RungOffload, Now: p.Hist.Sizes[res.Item] - 1}
			p.Set(res.Item, form, why)
		}
	})
}

// drawText draws a text of lines, some of which stand in earlier ones.
func drawText(t *rapid.T, word *rapid.Generator[string], earlier []string) string {
	var b strings.Builder
	for range rapid.IntRange(1, 6).Draw(t, "blocks") {
		if len(earlier) > 0 && rapid.Bool().Draw(t, "again") {
			from := rapid.SampledFrom(earlier).Draw(t, "from")
			b.WriteString(from[rapid.IntRange(0, len(from)).Draw(t, "at"):])
		}
		name := word.Draw(t, "word")
		for i := range rapid.IntRange(0, 30).Draw(t, "lines") {
			b.WriteString(name + strings.Repeat(" again", i%3) + "\n")
		}
	}
	if rapid.Bool().Draw(t, "open") {
		b.WriteString("and no end")
	}
	return strings.ToValidUTF8(b.String(), "?")
}

func TestJSONInOneLineIsLaidOutBesideIt(t *testing.T) {
	object := `{"all": [` + strings.Repeat(`{"name": "a", "value": 1}, `, 400) + `{}]}`
	p := planned(t, plantest.Reading("a.json", object))
	c := shortening(t, p, 0, 1_000, 300)
	text, _, ok := c.Shorten()
	if !ok || c.Readable == "" || !strings.Contains(text, plan.AddressOf(p, c.Readable)) ||
		!strings.Contains(text, plan.AddressOf(p, c.Name)) {
		t.Fatalf("%+v: %.500q", c, text)
	}
	f := &decision.Form{Patches: []decision.Patch{{Place: c.Place, Index: c.Index, Text: text, Artifact: c.Name,
		Readable: c.Readable}}}
	p.Set(c.Result.Item, f, plan.Why{Words: "test"})
	kept := map[string]string{}
	for _, a := range p.Sheet.Artifacts {
		kept[a.Name] = string(a.Content)
	}
	if kept[c.Name] != object || kept[c.Readable] != string(span.Layout([]byte(object))) {
		t.Errorf("%d artifacts are kept: %.300q", len(kept), kept)
	}
	stub := plan.StubOf(p, c.Result, "test")
	if q := stub.Patches[0]; q.Readable != c.Readable || !strings.Contains(q.Text, plan.AddressOf(p, c.Readable)) {
		t.Errorf("%+v", q)
	}
	lined := `{"all": [` + strings.Repeat(`{"name": "a", "value": 1},`+"\n", 400) + `{}]}`
	p = planned(t, plantest.Reading("a.json", lined))
	c = shortening(t, p, 0, 1_000, 300)
	if text, _, ok := c.Shorten(); !ok || c.Readable != "" {
		t.Errorf("%q has lines enough: %.300q", c.Readable, text)
	}
}
