package census

import (
	"cmp"
	"slices"
	"strings"

	"epitome/rewrite/span"
)

// Bounds of what is odd.
const (
	rareShare = 40 // one of so many is rare
	mostOdd   = 64 // items that are remembered as odd

	leastValues = 8 // of a field, for one of them to be odd
	farAway     = 5 // times the next number
)

// Odd is an item that differs from the others.
type Odd struct {
	Index int
	Score float64  // how much it differs; 0 if it does not
	Why   []string // fields
	// Most is the value that differs most, of those that are no object or list.
	Most span.Span
	most float64 // how much it does
}

// note says that a field of the item differs.
func (o *Odd) note(f *field, score float64) {
	const most = 6
	if o.Score += score; score == 0 || len(o.Why) == most {
		return
	}
	if name := cmp.Or(f.path, "type"); !slices.Contains(o.Why, name) {
		o.Why = append(o.Why, name)
	}
}

// weigh keeps a value that begins with first, if it tells more than those before it; of equal ones a text does.
func (o *Odd) weigh(at span.Span, first byte, score float64) {
	const text = .1
	if score == 0 || first == '{' || first == '[' {
		return
	}
	if first == '"' {
		score += text
	}
	if score > o.most {
		o.Most, o.most = at, score
	}
}

// alone says how much a field tells because few items have it; 0 if more do.
func (t *Census) alone(f *field) float64 {
	if f == &t.root || f.items > max(1, t.n/rareShare) || f.items == t.n {
		return 0
	}
	return 1 / float64(f.items)
}

// OddItem says how much an item differs. Items are asked for in their order, or not at all.
func (t *Census) OddItem(body []byte, at span.Span, item int) Odd {
	o := Odd{Index: item}
	t.visit(&t.root, body, at, visit{item: item, found: func(f *field, at span.Span) {
		f.asked = item + 1
		score := t.oddity(f, at.Of(body), item)
		o.note(f, score)
		o.weigh(at, body[at.Start], score+t.alone(f))
	}})
	if t.usual == nil {
		t.usual = t.fieldsOfNearlyAll()
	}
	for _, f := range t.usual { // what all others have
		if f.asked != item+1 {
			o.note(f, 1/float64(t.n-f.items))
		}
	}
	return o
}

// fieldsOfNearlyAll are the fields that only few items lack.
func (t *Census) fieldsOfNearlyAll() []*field {
	list, rare := []*field{}, max(1, t.n/rareShare)
	for _, f := range t.fields {
		if t.n-f.items <= rare && f.items < t.n && !strings.ContainsAny(f.path, ".[") {
			list = append(list, f)
		}
	}
	return list
}

// OddCell says how much the value of a column differs in a row.
func (t *Census) OddCell(o *Odd, column int, value []byte) {
	o.note(t.fields[column], t.oddity(t.fields[column], value, o.Index))
}

// OddItems returns the items that differ most, in their order, and how many differ in all. odd is asked once for each
// item. Where everything differs, nothing is odd.
func (t *Census) OddItems(odd func(item int) Odd) (list []Odd, all int) {
	for _, f := range t.fields {
		f.texts.next = 0
	}
	for i := range t.n {
		if o := odd(i); o.Score > 0 {
			list = append(list, o)
			all++
		}
		if len(list) >= 2*mostOdd {
			list = mostly(list)
		}
	}
	if list = mostly(list); 3*all > t.n && t.n > 2*leastValues {
		list = strongest(list)
		all = len(list)
	}
	slices.SortFunc(list, func(a, b Odd) int { return a.Index - b.Index })
	return list, all
}

// mostly keeps those that differ most.
func mostly(odd []Odd) []Odd {
	slices.SortStableFunc(odd, func(a, b Odd) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.Index-b.Index)
	})
	return odd[:min(len(odd), mostOdd)]
}

// strongest keeps of items those that differ more than half as much as the first; none if all do.
func strongest(odd []Odd) []Odd {
	n := slices.IndexFunc(odd, func(it Odd) bool { return 2*it.Score < odd[0].Score })
	if n < 0 {
		return nil
	}
	return odd[:n]
}

// oddity says how much a value differs from the others of its field; 0 if it does not.
func (t *Census) oddity(f *field, value []byte, item int) float64 {
	rare := max(1, f.n/rareShare)
	kind := typeOf(value)
	score, said := 0., 0.
	if kind == 0 {
		said = f.texts.oddity(value)
	}
	if f.fails && kind != 1 && kind != 4 && kind != 7 && string(value) != "false" && string(value) != "0" &&
		f.saysNothing(t.n) {
		score += 2
	}
	switch {
	case f.n < leastValues:
		if f != &t.root && f.items <= max(1, t.n/rareShare) && f.items < t.n && !strings.ContainsAny(f.path, ".[") {
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
		return score + f.failure(value)
	}
	score += f.failure(value) + said
	if kind == 0 && f.hasOneForm() {
		var room [longestForm]byte
		if n := f.forms.of(formOf(value, room[:0])); n > 0 && n <= rare {
			score += .5 / float64(n)
		}
	}
	if kind == 2 && f.numbers.isFar(item) {
		score += .5
	}
	return score
}

// failure says how much a value differs because it tells what went wrong, and few do.
func (f *field) failure(value []byte) float64 {
	const fewOf, weight = 5, .3
	if f.failing == 0 || fewOf*f.failing > f.n || value[0] != '"' || !mentionsFailure(value) {
		return 0
	}
	return weight
}

// mentionsFailure reports whether a text has a word of what went wrong, anywhere.
func mentionsFailure(text []byte) bool {
	for i, c := range text {
		found := false
		switch rest := text[i:]; c | ' ' {
		case 'e':
			found = begins(rest, "error") || begins(rest, "exception")
		case 'f':
			found = begins(rest, "fail") || begins(rest, "fatal")
		case 'p':
			found = begins(rest, "panic")
		case 'c':
			found = begins(rest, "critical")
		case 't':
			found = begins(rest, "timed out")
		case 'r':
			found = begins(rest, "refused")
		case 'd':
			found = begins(rest, "denied")
		}
		if found {
			return true
		}
	}
	return false
}

// begins reports whether a text begins with a word, in capitals or not.
func begins(text []byte, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(string(text[:len(word)]), word)
}

// hasOneForm reports whether nearly all strings have one form.
func (f *field) hasOneForm() bool {
	return !f.forms.many && slices.ContainsFunc(f.forms.list, func(c Counted) bool { return 10*c.N >= 9*f.n })
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
