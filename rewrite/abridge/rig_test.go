package abridge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
)

// planned is the plan of an agent that has done the steps, at a window that nothing fills.
func planned(t rapid.TB, steps ...plantest.Step) *plan.Plan {
	t.Helper()
	return plantest.NewDesk(t).Plan(t, plantest.Body(steps...))
}

// shortening is that of the only text of result k.
func shortening(t rapid.TB, p *plan.Plan, k, limit, keep int) *Shortening {
	t.Helper()
	res := &p.Hist.Results[k]
	list, _ := p.Passages(res.Item)
	if len(list) != 1 {
		t.Fatalf("result %d has %d texts", k, len(list))
	}
	return &Shortening{Plan: p, Result: res, Passage: list[0], Limit: limit, Keep: keep}
}

// lines are so many lines of some 9 tokens, all of them different.
func lines(name string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%s %d: all is well with this one\n", name, i)
	}
	return b.String()
}

// sawRef is what a reference says.
var sawRef = regexp.MustCompile(`(?m)^\[epitome: lines (\d+)-(\d+) are left out: but for line numbers and trailing spaces they are lines (\d+)-(\d+) of the earlier result of ([^\n]*), the last (?:one|but (one|\d+)) before this\]\n`)

func numbers(t rapid.TB, words []string) (list []int) {
	t.Helper()
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// othersBetween is how many results of the same call stand between a text and an earlier one that it refers to.
func othersBetween(c *Shortening, earlier *history.Result) string {
	n := 0
	for _, res := range c.Plan.Hist.Results {
		if res.Item > earlier.Item && res.Item < c.Result.Item && res.About() == earlier.About() {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "one"
	}
	return strconv.Itoa(n)
}

// holdReferences holds promise 8 of a text with references: with the lines of the items that it refers to in their
// place it says what the result says. It returns how many references there are.
func holdReferences(t rapid.TB, c *Shortening, text string) int {
	t.Helper()
	body, mark := text[:strings.LastIndex(text, plan.Mark)], text[strings.LastIndex(text, plan.Mark):]
	if !strings.Contains(mark, c.Name) {
		t.Fatalf("%q does not say where the whole is", mark)
	}
	was := rewritetest.TrimmedLines(c.Text)
	all := sawRef.FindAllStringSubmatchIndex(body, -1)
	if len(all) != len(c.Refers) {
		t.Fatalf("%d references, and %d items referred to", len(all), len(c.Refers))
	}
	line, from := 0, 0 // of the original, of the text
	own := func(part string) {
		t.Helper()
		for _, l := range rewritetest.TrimmedLines(part) {
			if part != "" && (line >= len(was) || was[line] != l) {
				t.Fatalf("%q is not line %d", l, line+1)
			}
			line++
		}
	}
	for k, at := range all {
		if part := body[from:at[0]]; part != "" {
			own(part)
		}
		said := sawRef.FindStringSubmatch(body[at[0]:at[1]])
		n := numbers(t, said[1:5])
		if n[0] != line+1 || n[1]-n[0] != n[3]-n[2] {
			t.Fatalf("%q stands behind line %d", body[at[0]:at[1]], line)
		}
		if c.Plan.Forms[c.Refers[k]] != nil || c.Refers[k] >= c.Result.Item {
			t.Fatalf("item %d is not sent whole, or not earlier", c.Refers[k])
		}
		earlier := &c.Plan.Hist.Results[c.Plan.Hist.ResultAt[c.Refers[k]]]
		if others := othersBetween(c, earlier); others != said[6] || earlier.About() != said[5] {
			t.Fatalf("%q: %q others of that call stand between", body[at[0]:at[1]], others)
		}
		there := rewritetest.TrimmedLines(c.Plan.TextOf(c.Refers[k]))
		if n[3] > len(there) || !rewritetest.SameLines(was[n[0]-1:n[1]], there[n[2]-1:n[3]]) {
			t.Fatalf("%q is not true", body[at[0]:at[1]])
		}
		line, from = n[1], at[1]
	}
	if part := body[from:]; part != "" {
		own(part)
	}
	if line != len(was) {
		t.Fatalf("the text ends with line %d of %d", line, len(was))
	}
	return len(all)
}

// holdArtifact holds that the text says where the whole lies, that it can be made again of that, and that it was worth
// it.
func holdArtifact(t rapid.TB, c *Shortening, text string) {
	t.Helper()
	content, _ := span.Unspell(c.Raw)
	if want := c.Plan.Shelf.Name(c.Plan.Route.Scope, content); c.Name != want || !strings.Contains(text, want) {
		t.Fatalf("%q names not %s, but %s", text, want, c.Name)
	}
	patch := decision.Patch{Spelling: c.Spelling}
	if back := patch.Restore(content); string(back) != string(c.Raw) {
		t.Fatalf("%q comes back as %q", c.Raw, back)
	}
	if saved := c.Tokens - c.Plan.Count(text); saved < limits.LeastSaving {
		t.Fatalf("it saves %d tokens", saved)
	}
}
