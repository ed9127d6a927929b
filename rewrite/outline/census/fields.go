// Package census counts what the items of a list have in common: how often each field has each value, and between which
// numbers or times it lies; and it finds the items that differ.
//
// It promises that its counts are true, and that its time grows with the items and no faster. It remembers a bounded
// number of fields and of values.
package census

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"epitome/rewrite/mark"
	"epitome/rewrite/span"
)

// Bounds of what is learned of the fields of a list.
const (
	mostFields   = 200 // of a list, those of objects in its items too
	deepestField = 6   // objects in one another
	mostValues   = 24  // of a field that are counted one by one
	longestValue = 80  // bytes of one that is
)

// Census is what is known of the items of a list: values of JSON, or rows of cells. Learn all of them first.
type Census struct {
	n      int // items
	root   field
	fields []*field // in the order in which they came
	usual  []*field // of them, those that only few items lack; nil until items are asked for
}

// New returns a census of no item.
func New() *Census { return &Census{root: field{seen: -1}} }

// OfColumns returns a census of no row; it has a field for each column.
func OfColumns(names []string) *Census {
	t := New()
	for _, name := range names {
		t.fields = append(t.fields, &field{path: name, seen: -1, fails: tellsFailure(name)})
	}
	return t
}

// LearnCell takes in the value of a column in the row that comes next.
func (t *Census) LearnCell(column int, value []byte) { t.fields[column].add(value, t.n) }

// EndRow says that the next row begins.
func (t *Census) EndRow() { t.n++ }

// HasFields reports whether the items have any.
func (t *Census) HasFields() bool { return len(t.fields) > 0 }

// field is one field of the items: under one path of keys.
type field struct {
	path     string
	fails    bool // it tells what went wrong, by its name
	children map[string]*field
	cells    []*field // of items that are lists, by their place
	items    int      // that have it
	seen     int      // the last of them
	asked    int      // one behind the last of them that was asked for
	n        int      // values; more than items if it stands in an array
	types    [len(typeNames)]int
	failing  int    // texts that speak of what went wrong
	values   Counts // as they are written, of those that are short
	forms    Counts // of strings: what stands where
	texts    texts  // strings as what they say
	numbers  extremes
	times    times
}

// typeNames name what a value can be. The first byte tells them apart, but for what is empty.
var typeNames = [...]string{"string", "empty string", "number", "boolean", "null", "object", "list", "empty list"}

// typeOf is the index of the value's type among typeNames.
func typeOf(v []byte) int {
	switch v[0] {
	case '"':
		if len(v) == 2 {
			return 1
		}
		return 0
	case 't', 'f':
		return 3
	case 'n':
		return 4
	case '{':
		return 5
	case '[':
		if span.SkipSpace(v, 1) == len(v)-1 {
			return 7
		}
		return 6
	}
	return 2
}

// Tells reports whether nearly all items have a text of their own under this key.
func (t *Census) Tells(key string) bool {
	const nearly = .9
	f := t.root.children[key]
	return f != nil && float64(f.types[0]) >= nearly*float64(t.n) && !f.isLow()
}

// Learn takes the next item in.
func (t *Census) Learn(body []byte, at span.Span) {
	t.visit(&t.root, body, at, visit{item: t.n, add: true})
	t.n++
}

// visit is one walk over an item.
type visit struct {
	item  int
	depth int
	add   bool // the values are learned
	found func(f *field, value span.Span)
}

// visit goes over a value of a field and those in it.
func (t *Census) visit(f *field, body []byte, at span.Span, v visit) {
	value := at.Of(body)
	if v.add {
		f.add(value, v.item)
	}
	if v.found != nil {
		v.found(f, at)
	}
	if v.depth++; v.depth > deepestField {
		return
	}
	switch value[0] {
	case '{':
		_, _ = span.Entries(body, at.Start, func(key []byte, i int) (int, error) {
			end, err := span.EndOfValue(body, i)
			if err != nil {
				return 0, err
			}
			if child := t.child(f, key, v.add); child != nil {
				t.visit(child, body, span.Span{Start: i, End: end}, v)
			}
			return end, nil
		})
	case '[':
		if f == &t.root {
			t.visitCells(body, at, v)
			return
		}
		_, _ = span.Elements(body, at.Start, func(i int) (int, error) {
			end, err := span.EndOfValue(body, i)
			if err != nil || body[i] != '{' {
				return end, err
			}
			if child := t.child(f, nil, v.add); child != nil {
				t.visit(child, body, span.Span{Start: i, End: end}, v)
			}
			return end, nil
		})
	}
}

// visitCells goes over the values of an item that is a list, as a row of a sheet is one: each place in it is a field.
func (t *Census) visitCells(body []byte, at span.Span, v visit) {
	n := 0
	_, _ = span.Elements(body, at.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		if cell := t.cell(n, v.add); cell != nil {
			t.visit(cell, body, span.Span{Start: i, End: end}, v)
		}
		n++
		return end, nil
	})
}

// cell returns the field at a place in items that are lists, which it makes if it may.
func (t *Census) cell(place int, add bool) *field {
	for len(t.root.cells) <= place {
		if !add || len(t.fields) == mostFields {
			return nil
		}
		c := &field{path: "[" + strconv.Itoa(len(t.root.cells)) + "]", seen: -1}
		t.root.cells, t.fields = append(t.root.cells, c), append(t.fields, c)
	}
	return t.root.cells[place]
}

// child returns the field under a key, which it makes if it may; the elements of an array are under no key. A key that
// may be taken for a path is told in its quotes.
func (t *Census) child(f *field, key []byte, add bool) *field {
	if c := f.children[string(key)]; c != nil || !add || len(t.fields) == mostFields {
		return c
	}
	path := string(key)
	if path == "" || strings.ContainsAny(path, ".[]:\"\\") {
		path = `"` + path + `"`
	}
	switch {
	case key == nil:
		path = f.path + "[]"
	case f.path != "":
		path = f.path + "." + path
	}
	c := &field{path: path, seen: -1, fails: tellsFailure(path)}
	if f.children == nil {
		f.children = map[string]*field{}
	}
	f.children[string(key)] = c
	t.fields = append(t.fields, c)
	return c
}

// add takes a value in.
func (f *field) add(value []byte, item int) {
	if f.seen != item {
		f.seen = item
		f.items++
	}
	f.n++
	kind := typeOf(value)
	f.types[kind]++
	switch kind {
	case 5:
		return
	case 2:
		if n, err := strconv.ParseFloat(string(value), 64); err == nil {
			f.numbers.add(n, value, item)
		}
	case 0:
		if n, shape, ok := timeOf(value); ok && (f.times.n == 0 || shape == f.times.shape) {
			f.times.shape = shape
			f.times.add(n, value, item)
		}
		if mentionsFailure(value) {
			f.failing++
		}
		var room [longestForm]byte
		f.forms.Add(formOf(value, room[:0]))
		f.texts.add(value)
	}
	f.values.Add(literalOf(value))
}

// literalOf is how a value is told: as it is written if it is short, of a list else how many bytes of it there are.
func literalOf(value []byte) []byte {
	if len(value) > longestValue || value[0] == '[' && len(value) > longestValue/2 {
		return nil
	}
	return value
}

// Counts counts texts, up to a number of different ones.
type Counts struct {
	list []Counted
	many bool // there are more than are counted
	at   map[string]int
}

// Counted is a text and how often it came.
type Counted struct {
	Text string
	N    int
}

// MostFrequent returns the texts, those first that came most often; none if there are too many of them.
func (c *Counts) MostFrequent() []Counted {
	list := slices.Clone(c.list)
	slices.SortStableFunc(list, func(a, b Counted) int { return b.N - a.N })
	return list
}

// AddAll counts what others counted too.
func (c *Counts) AddAll(others *Counts) {
	if others.many {
		c.add(nil, 0)
	}
	for _, o := range others.list {
		c.add([]byte(o.Text), o.N)
	}
}

// Add counts a text; nil is one of which there are too many.
func (c *Counts) Add(text []byte) { c.add(text, 1) }

// add counts a text that came n times.
func (c *Counts) add(text []byte, n int) {
	if c.many {
		return
	}
	if i, ok := c.at[string(text)]; ok && text != nil {
		c.list[i].N += n
		return
	}
	if text == nil || len(c.list) == mostValues {
		c.many, c.list, c.at = true, nil, nil
		return
	}
	if c.at == nil {
		c.at = map[string]int{}
	}
	c.at[string(text)] = len(c.list)
	c.list = append(c.list, Counted{string(text), n})
}

// of returns how often a text came; 0 if that is not known.
func (c *Counts) of(text []byte) int {
	if i, ok := c.at[string(text)]; ok {
		return c.list[i].N
	}
	return 0
}

// longestForm is how many bytes a string may have of which the form counts.
const longestForm = 48

// formOf appends a string with every run of letters as a and every run of digits as 0; nil if it is long.
func formOf(value, out []byte) []byte {
	if len(value) > longestForm {
		return nil
	}
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			c = '0'
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
			c = 'a'
		}
		if n := len(out); n > 0 && out[n-1] == c && (c == 'a' || c == '0') {
			continue
		}
		out = append(out, c)
	}
	return out
}

// Describe says what values the fields have, a field in a line, in at most keep tokens.
func (t *Census) Describe(keep int, count func(string) int) string {
	var b strings.Builder
	left := 0
	for _, f := range t.fields {
		line := f.describe(t.n)
		if line == "" {
			continue
		}
		if line = " " + line + "\n"; mark.IsForged(line) {
			left++
			continue
		}
		if n := count(line); n > keep-10 {
			left++
			continue
		} else {
			keep -= n
		}
		b.WriteString(line)
	}
	if b.Len() > 0 && left > 0 && keep > 10 {
		fmt.Fprintf(&b, " … %s\n", more(left, "field"))
	}
	return b.String()
}

// describe says what values a field has; nothing if that would tell nothing.
func (f *field) describe(items int) string {
	if len(f.children) > 0 && f.items == items {
		return ""
	}
	what := f.describeValues()
	if what == "" && f.items == items {
		return ""
	}
	s := f.path + ": " + what
	if what == "" {
		s = f.path + ": " + f.describeTypes()
	}
	if f.items < items {
		s += fmt.Sprintf(" (in %d of %d)", f.items, items)
	}
	return s
}

// describeValues says how often each value came, or between which ones they lie.
func (f *field) describeValues() string {
	const mostTold = 8
	switch v := f.values.list; {
	case f.isLow() && len(v) > 0:
		v = f.values.MostFrequent()
		var list []string
		for _, c := range v[:min(mostTold, len(v))] {
			list = append(list, fmt.Sprintf("%s ×%d", c.Text, c.N))
		}
		if len(v) > mostTold {
			list = append(list, "… "+more(len(v)-mostTold, "value"))
		}
		return strings.Join(list, ", ")
	case f.numbers.n == f.n && f.n > 1:
		return f.numbers.leastText + " to " + f.numbers.mostText
	case f.times.n == f.n && f.n > 1:
		return f.times.leastText + " to " + f.times.mostText
	}
	if said := f.texts.describe(); said != "" && f.types[0] == f.n {
		return said
	}
	if several := f.describeTypes(); strings.Contains(several, ",") {
		return several
	}
	return ""
}

// describeTypes says how often each type came.
func (f *field) describeTypes() string {
	var list []string
	for i, n := range f.types {
		if n > 0 {
			list = append(list, fmt.Sprintf("%s ×%d", typeNames[i], n))
		}
	}
	return strings.Join(list, ", ")
}

// isLow reports whether the field has few values for how often it stands there.
func (f *field) isLow() bool {
	return !f.values.many && len(f.values.list) > 0 && (4*len(f.values.list) <= f.n || len(f.values.list) == 1)
}

// more says how many more of something there are.
func more(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " more ", what)
}
