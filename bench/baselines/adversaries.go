package baselines

import (
	"maps"
	"slices"
	"strings"

	"epitome/bench/policy"
	"epitome/rewrite/conversation"
)

// The adversaries' names in the report.
const (
	NamesName = "adversary: results as names"
	SoupName  = "adversary: one soup of names"
	LinesName = "adversary: a line for each name"
)

// Adversaries returns transformations that keep what a measure may look for, and nothing that an agent could work with.
// A measure by which one of them is cheaper than a policy and as good says nothing of that policy.
func Adversaries(unit policy.Unit) []policy.Policy {
	return []policy.Policy{
		{Name: NamesName, Open: opening(unit, func(w int) baseline { return boil(w, sortedNames) })},
		{Name: SoupName, Open: opening(unit, func(int) baseline { return soup() })},
		{Name: LinesName, Open: opening(unit, func(w int) baseline { return boil(w, namedLines) })},
	}
}

// The lines of the adversaries, as shares of the window.
const (
	boilAt   = 0.9  // where old results are replaced
	soupAt   = 0.9  // where a soup is made
	soupTail = 0.25 // of the newest that stay behind it
	soupSize = 0.25 // of the soup, at the most
)

// boil replaces a large result when it comes, and all results but the newest ten whenever there are twenty of them, by
// what is left of its text. Where that is too much all the same, it replaces all but the newest three, and drops the
// oldest groups.
func boil(window int, left func(text string) string) baseline {
	boiled := 0 // results that were looked at
	truncate := truncation(window)
	return func(t *thread) {
		replace := func(i int) {
			if t.all[i].now > 0 && t.all[i].with == nil {
				t.replace(i, left(t.text(i)))
			}
		}
		for _, i := range t.results {
			if i >= t.sent && policy.Size(t.text(i)) > shrinkOver {
				replace(i)
			}
		}
		older := len(t.results) - maskKeeps
		full := float64(t.total) > boilAt*float64(window)
		if full {
			older = len(t.results) - clearKeeps
		}
		if full || older-boiled >= maskBatch {
			for ; boiled < older; boiled++ {
				replace(t.results[boiled])
			}
		}
		truncate(t)
	}
}

// all is more than a text has names.
const all = 1 << 30

// sortedNames returns the names in a text, a line each.
func sortedNames(text string) string {
	var words []string
	for _, n := range policy.Find(text, all) {
		words = append(words, n.Text)
	}
	slices.Sort(words)
	return strings.Join(words, "\n")
}

// namedLines returns, for each name in a text, the shortest line that holds it; sorted, and each once.
func namedLines(text string) string {
	shortest := make(map[string]string)
	for line := range strings.SplitSeq(text, "\n") {
		for _, n := range policy.Find(line, all) {
			if was, has := shortest[n.Text]; !has || len(line) < len(was) {
				shortest[n.Text] = line
			}
		}
	}
	return strings.Join(slices.Compact(slices.Sorted(maps.Values(shortest))), "\n")
}

// soup replaces all but the newest of a full conversation by one message with the names in it: the last ones that there
// is room for.
func soup() baseline {
	var words []string // the newest last
	boiled := 0        // messages whose names are there
	return func(t *thread) {
		if float64(t.total) <= soupAt*float64(t.in.Window) {
			return
		}
		cut := max(t.head, t.tail(int(soupTail*float64(t.in.Window))))
		for boiled = max(boiled, t.head); boiled < cut; boiled++ {
			if t.all[boiled].role == conversation.System {
				continue
			}
			m := t.meter.ReadItem(t.request, boiled)
			for _, n := range policy.Find(m.Text+"\n"+m.Args, all) {
				words = append(words, n.Text)
			}
		}
		words = newestOnce(words)
		room := int(soupSize * float64(t.in.Window))
		for len(words) > 0 && t.meter.Text(strings.Join(words, "\n")) > room {
			words = words[(len(words)+9)/10:]
		}
		t.fold(cut, none, strings.Join(slices.Sorted(slices.Values(words)), "\n"))
	}
}

// newestOnce leaves of equal words the last one.
func newestOnce(words []string) []string {
	seen := make(map[string]bool)
	var out []string
	for _, word := range slices.Backward(words) {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	slices.Reverse(out)
	return out
}
