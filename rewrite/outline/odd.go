package outline

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of what is odd.
const (
	rareShare = 40 // one of so many is rare
	mostOdd   = 64 // items that are remembered as odd
	farAway   = 5  // times the next number
)

// oddItem is an item that differs from the others.
type oddItem struct {
	index int
	score float64
	why   []string // fields; at least one
}

// rare is how often at most what is rare comes.
func (t *table) rare() int { return max(1, t.n/rareShare) }

// settle forgets which item came last.
func (t *table) settle() {
	for _, f := range t.fields {
		f.seen = -1
	}
}

// oddItems returns the items that differ most, in their order.
func (t *table) oddItems(l *list) []oddItem {
	var odd []oddItem
	for i, at := range l.items {
		it := oddItem{index: i}
		note := func(f *field, score float64) {
			if score > 0 {
				it.score += score
				if name := cmp.Or(f.path, "type"); len(it.why) < 3 && !slices.Contains(it.why, name) {
					it.why = append(it.why, name)
				}
			}
		}
		t.visit(&t.root, l.body, at, visit{item: i, found: func(f *field, value []byte) {
			f.seen = i
			note(f, t.oddity(f, value, i))
		}})
		for _, f := range t.fields { // what all others have
			if f.seen != i && !strings.Contains(f.path, "[]") && t.n-f.items <= t.rare() && f.items < t.n &&
				!strings.Contains(f.path, ".") {
				note(f, 1/float64(t.n-f.items))
			}
		}
		if it.score > 0 {
			odd = append(odd, it)
		}
		if len(odd) >= 2*mostOdd {
			odd = mostly(odd)
		}
	}
	if odd = mostly(odd); len(odd)*3 > t.n && t.n > 2*leastItems {
		odd = strongest(odd)
	}
	slices.SortFunc(odd, func(a, b oddItem) int { return a.index - b.index })
	return odd
}

// mostly keeps those that differ most.
func mostly(odd []oddItem) []oddItem {
	slices.SortStableFunc(odd, func(a, b oddItem) int {
		return cmp.Or(cmp.Compare(b.score, a.score), a.index-b.index)
	})
	return odd[:min(len(odd), mostOdd)]
}

// strongest keeps of items that differ in many ways those that differ more than half as much as the first. Where
// everything differs, nothing is odd.
func strongest(odd []oddItem) []oddItem {
	n := slices.IndexFunc(odd, func(it oddItem) bool { return 2*it.score < odd[0].score })
	if n < 0 {
		return nil
	}
	return odd[:n]
}

// oddity says how much a value differs from the others of its field; 0 if it does not.
func (t *table) oddity(f *field, value []byte, item int) float64 {
	rare := max(1, f.n/rareShare)
	kind := typeOf(value)
	score := 0.
	if f.fails && kind != 1 && kind != 4 && kind != 7 && string(value) != "false" && string(value) != "0" &&
		f.saysNothing(t.n) {
		score += 2
	}
	switch {
	case f.n < leastItems:
		if f != &t.root && f.items <= t.rare() && f.items < t.n && !strings.ContainsAny(f.path, ".[") {
			score += 1 / float64(f.items)
		}
		return score
	case f.types[kind] <= rare && f.types[kind] < f.n:
		return score + 1/float64(f.types[kind])
	case f == &t.root:
		return 0
	case f.isLow() && kind != 5:
		if n := f.values.of(value); n > 0 && n <= rare && n < f.n {
			score += 1 / float64(n)
		}
		return score
	}
	if n := f.forms.of(formOf(value)); kind == 0 && n > 0 && n <= rare && f.hasOneForm() {
		score += .5 / float64(n)
	}
	if kind == 2 && f.numbers.isFar(item) {
		score += .5
	}
	return score
}

// hasOneForm reports whether nearly all strings have one form.
func (f *field) hasOneForm() bool {
	return !f.forms.many && slices.ContainsFunc(f.forms.list, func(c counted) bool { return 10*c.n >= 9*f.n })
}

// saysNothing reports whether most values are empty or null, or the field is not there: then one that is there tells.
func (f *field) saysNothing(items int) bool {
	zero := f.values.of([]byte("false")) + f.values.of([]byte("0"))
	return 2*(f.types[1]+f.types[4]+f.types[7]+zero) >= f.n || 2*f.items <= items
}

// isFar reports whether the item's number is far from all others.
func (e *extremes) isFar(item int) bool {
	switch item {
	case e.mostAt:
		return e.most > farAway*e.nextToMost && e.nextToMost > 0
	case e.leastAt:
		return e.least < 0 && e.second >= 0 || e.least > 0 && e.second > farAway*e.least
	}
	return false
}

// tellsFailure reports whether a field of this path tells what went wrong.
func tellsFailure(path string) bool {
	name := strings.ToLower(path[strings.LastIndexAny(path, ".]")+1:])
	for _, w := range [...]string{"error", "exception", "fail", "fault", "stderr", "traceback", "panic", "warning"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}
