package house_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What breaks a rule today stands here and is waived. Neither list may grow: what is repaired fails the tests until
// it is taken out, and a count is lowered by whoever has come below it.

// settled are the rules that may have something pending.
var settled = []string{"methods", "fields", "embedding", "package", "columns", "homonyms", "participles", "root",
	"architecture"}

// pendingNames are the things that break a rule, by the rule. A thing is named without its package, so that it may
// move.
var pendingNames = map[string]string{}

// pendingCounts are how many places break a rule, below some folders together: a place that is
// covered by several entries counts for the first.
var pendingCounts = []debt{}

// mostShown is how many breaches of a debt are listed when it has grown. Of more nobody would find the new ones among
// them.
const mostShown = 30

// debt is a number of breaches that is waived.
type debt struct {
	rule    string
	folders string // separated by spaces; what stands below them is meant too; "*" is all of the module
	most    int
}

// breach is one thing that breaks a rule.
type breach struct {
	rule      string
	folder    string // of the package
	name      string // of the thing, without its package
	complaint string
}

// settle fails the test for the breaches of a rule that are not pending, and for pending ones that are none any more.
func settle(t *testing.T, rule string, all []breach) {
	t.Helper()
	report(t, judge(rule, all, pendingNames, pendingCounts))
}

func judge(rule string, all []breach, names map[string]string, counts []debt) (complaints []string) {
	waived := strings.Fields(names[rule])
	for _, name := range waived {
		if !slices.ContainsFunc(all, func(b breach) bool { return b.name == name }) {
			complaints = append(complaints,
				fmt.Sprintf("%s: %s is no breach any more: take it out of pendingNames", rule, name))
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(b breach) bool { return slices.Contains(waived, b.name) })
	for _, d := range counts {
		if d.rule != rule {
			continue
		}
		var here []string
		all = slices.DeleteFunc(all, func(b breach) bool {
			in := d.covers(b.folder)
			if in {
				here = append(here, b.complaint)
			}
			return in
		})
		switch {
		case len(here) == 0:
			complaints = append(complaints,
				fmt.Sprintf("%s: nothing is left in %s: take it out of pendingCounts", rule, d.folders))
		case len(here) > d.most:
			if len(here) <= mostShown {
				complaints = append(complaints, here...)
			}
			complaints = append(complaints,
				fmt.Sprintf("%s: %d breaches in %s, at most %d are pending", rule, len(here), d.folders, d.most))
		}
	}
	for _, b := range all {
		complaints = append(complaints, b.complaint)
	}
	return complaints
}

// covers tells whether the debt is that of a folder.
func (d debt) covers(folder string) bool {
	return slices.ContainsFunc(strings.Fields(d.folders), func(f string) bool {
		return f == "*" || f == folder || f != "." && strings.HasPrefix(folder, f+"/")
	})
}

func TestEveryDebtNamesARule(t *testing.T) {
	for rule := range pendingNames {
		if !slices.Contains(settled, rule) {
			t.Errorf("pendingNames has the rule %s, which there is not", rule)
		}
	}
	for _, d := range pendingCounts {
		if !slices.Contains(settled, d.rule) || d.most < 1 {
			t.Errorf("pendingCounts has the rule %s with %d breaches, which there is not", d.rule, d.most)
		}
	}
}

func TestPendingCanOnlyShrink(t *testing.T) {
	names := map[string]string{"methods": "plan search"}
	counts := []debt{{"columns", "a b", 2}, {"columns", "c", 1}}
	f := func(rule, want string, all ...breach) {
		t.Helper()
		if got := strings.Join(judge(rule, all, names, counts), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
	plan, search := breach{"methods", "a", "plan", "plan breaks"}, breach{"methods", "b", "search", "search breaks"}
	f("methods", "", plan, search)
	f("methods", "methods: search is no breach any more: take it out of pendingNames", plan)
	f("methods", "other breaks", plan, search, breach{"methods", "a", "other", "other breaks"})
	in := func(folder string) breach { return breach{"columns", folder, "", folder + " is wide"} }
	f("columns", "", in("a"), in("b/x"), in("c"))
	f("columns", "columns: nothing is left in c: take it out of pendingCounts", in("a"))
	f("columns", "a is wide\nb is wide\na/x is wide\ncolumns: 3 breaches in a b, at most 2 are pending",
		in("a"), in("b"), in("a/x"), in("c"))
	f("columns", "d is wide", in("a"), in("c"), in("d"))
	counts = []debt{{"columns", "*", 1}}
	f("columns", "", in("a"))
	f("columns", "a is wide\nb is wide\ncolumns: 2 breaches in *, at most 1 are pending", in("a"), in("b"))
}
