package outline

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"epitome/rewrite/outline/census"
	"epitome/rewrite/outline/within"
	"epitome/rewrite/span"
)

// Bounds of a list that is told as one.
const (
	leastItems  = 8  // fewer are shown one by one
	deepestList = 8  // values in one another above it
	firstItems  = 3  // that stand whole in the outline
	leastAlike  = .8 // share of the items that are objects, for them to be fields of one table
)

// list is the list of a JSON text that matters: most of the text stands in it.
type list struct {
	body   []byte
	at     span.Span
	what   string // one value in it: "item", "key" or "line"
	path   string // to it from the root, as jq has it
	before int    // lines before the body
	laid   bool   // lines are counted as span.Layout has them
	items  []span.Span
	keys   []span.Span // of the items, with their quotes; none if it is no object
	last   int         // the number of the text's line in which the last item begins, once that was asked for
}

// findList goes down from the root, each time to the largest value, until there is a list of at least leastItems.
func (o *outliner) findList(root *outlined) *list {
	v, path := *root, ""
	for range deepestList {
		l := &list{body: o.body, at: v.at, what: v.what, path: path, before: o.before, laid: o.laid}
		largest := l.read(o)
		if l.isList() {
			return l
		}
		if largest < 0 || kindOf(o.body[l.items[largest].Start]) == "" {
			return nil
		}
		path = l.pathOf(largest)
		v = o.outlined(span.Span{}, l.items[largest])
	}
	return nil
}

// read fills in the items, and returns the index of the largest; -1 if there is none.
func (l *list) read(o *outliner) (largest int) {
	largest = -1
	v := outlined{at: l.at, what: l.what}
	o.eachValue(&v, func(key, at span.Span) {
		if largest < 0 || at.End-at.Start > l.items[largest].End-l.items[largest].Start {
			largest = len(l.items)
		}
		l.items = append(l.items, at)
		if l.what == "key" {
			l.keys = append(l.keys, key)
		}
	})
	return largest
}

// isList reports whether the values are many, and of an object alike.
func (l *list) isList() bool {
	if len(l.items) < leastItems {
		return false
	}
	return l.what != "key" || l.holdsObjects()
}

// holdsObjects reports whether nearly all items are objects.
func (l *list) holdsObjects() bool { return l.holds('{') }

// holdsRecords reports whether nearly all items are objects, or nearly all are lists, as rows of a sheet are.
func (l *list) holdsRecords() bool { return l.holds('{') || l.holds('[') }

// holds reports whether nearly all items begin with a byte.
func (l *list) holds(first byte) bool {
	n := 0
	for _, at := range l.items {
		if l.body[at.Start] == first {
			n++
		}
	}
	return float64(n) >= leastAlike*float64(len(l.items))
}

// pathOf returns the path to an item, as jq has it; of lines their number.
func (l *list) pathOf(i int) string {
	switch l.what {
	case "line":
		return "line " + strconv.Itoa(l.lineOf(i))
	case "item":
		if l.path == "" {
			return ".[" + strconv.Itoa(i) + "]"
		}
		return l.path + "[" + strconv.Itoa(i) + "]"
	}
	key := string(l.keys[i].Of(l.body))
	if within.IsWord(key[1 : len(key)-1]) {
		return l.path + "." + key[1:len(key)-1]
	}
	if l.path == "" {
		return ".[" + key + "]"
	}
	return l.path + "[" + key + "]"
}

// lineOf returns the number of the text's line in which an item begins.
func (l *list) lineOf(i int) int {
	return l.before + 1 + bytes.Count(l.body[:l.items[i].Start], []byte{'\n'})
}

// placeOf returns the path to an item, and its line where each item has lines of its own.
func (l *list) placeOf(i int) string {
	path := l.pathOf(i)
	if l.last == 0 {
		l.last = l.lineOf(len(l.items) - 1)
	}
	if l.what == "line" || l.last-l.before < len(l.items) {
		return path
	}
	return path + " in line " + strconv.Itoa(l.lineOf(i))
}

// laidLines returns in which lines the items stand when the text is laid out; nil if it is not.
func (l *list) laidLines(odd []census.Odd) []int {
	if !l.laid {
		return nil
	}
	at := make([]int, len(odd))
	for k, it := range odd {
		at[k] = l.items[it.Index].Start
	}
	return span.LayoutLines(l.body, at)
}

// tell describes the list in at most keep tokens: counts of the values of its fields, and the items that differ, whole.
func (l *list) tell(keep int, count func(string) int) string {
	t := census.New()
	for _, at := range l.items {
		t.Learn(l.body, at)
	}
	odd, all := t.OddItems(func(i int) census.Odd { return t.OddItem(l.body, l.items[i], i) })
	heading := l.heading()
	room := keep - count(heading) - 1
	described := t.Describe(room*2/5, count)
	room -= count(described)
	differ := l.describeOdd(odd, all, room, count)
	names := l.describeNames(t, room-count(differ), count)
	if described+differ+names == "" {
		return ""
	}
	if described != "" {
		heading += ". Their fields:"
	}
	return heading + "\n" + described + differ + names
}

// namingField returns the key under which nearly all items have a name of their own; empty if there is none.
func (l *list) namingField(t *census.Census) string {
	for _, key := range [...]string{"name", "title", "path", "file", "filename"} {
		if t.Tells(key) {
			return key
		}
	}
	return ""
}

// describeNames lists the names of the items in their order, each whole, as many as fit.
func (l *list) describeNames(t *census.Census, room int, count func(string) int) string {
	const most, longest = 400, 120 // tokens, bytes
	key := l.namingField(t)
	if room = min(room, most) - restTokens/2; key == "" || room <= 0 {
		return ""
	}
	var names []string
	for _, at := range l.items {
		name := valueUnder(l.body, at, key)
		if len(name) > longest {
			break
		}
		if room -= count(name + ", "); room < 0 {
			break
		}
		names = append(names, name)
	}
	if len(names) <= firstItems {
		return ""
	}
	if left := len(l.items) - len(names); left > 0 {
		names = append(names, "… "+amount(left, true, l.what))
	}
	return "The " + key + " of each: " + strings.Join(names, ", ") + "\n"
}

// valueUnder returns the value under a key of an object as it is written; null if it has none.
func valueUnder(body []byte, at span.Span, key string) string {
	if found := within.Under(body, at, key); !found.Empty() {
		return string(found.Of(body))
	}
	return "null"
}

// heading says what the list is.
func (l *list) heading() string {
	n := amount(len(l.items), false, l.what)
	if l.what == "line" || l.path == "" {
		return n
	}
	return l.path + " has " + n
}

// describeOdd returns the items that differ, whole, those that differ most as long as they fit. all is how many differ.
func (l *list) describeOdd(odd []census.Odd, all, room int, count func(string) int) string {
	const heading = "Items that differ, whole:\n"
	if room -= count(heading) + restTokens; len(odd) == 0 || room < 0 {
		return ""
	}
	texts, laid := make([]string, len(odd)), l.laidLines(odd)
	for _, k := range mostFirst(odd) {
		it := odd[k]
		at := l.items[it.Index]
		if (at.End-at.Start)/widestToken > room {
			continue
		}
		place := l.placeOf(it.Index)
		if laid != nil {
			place = l.pathOf(it.Index) + " in line " + strconv.Itoa(laid[k])
		}
		text := place + " (" + strings.Join(it.Why, ", ") + "): " + span.InOneLine(l.body, at) + "\n"
		if n := count(text); n <= room {
			room -= n
			texts[k] = text
		}
	}
	shown := strings.Join(texts, "")
	if shown != "" {
		shown = heading + shown
	}
	return shown + l.describeRest(odd, texts, all)
}

// mostFirst returns the indexes of the items, those first that differ most.
func mostFirst(odd []census.Odd) []int {
	order := make([]int, len(odd))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(odd[b].Score, odd[a].Score) })
	return order
}

// restTokens is about what describeRest takes.
const restTokens = 100

// describeRest says how many items differ too, and where some of them are: those without a text.
func (l *list) describeRest(odd []census.Odd, texts []string, all int) string {
	const named, longestPath = 8, 60
	var list []string
	left := all
	for k, it := range odd {
		if texts[k] != "" {
			left--
			continue
		}
		if len(list) == named {
			continue
		}
		path := l.pathOf(it.Index)
		if len(path) > longestPath {
			path = "item " + strconv.Itoa(it.Index)
		}
		list = append(list, path+" ("+it.Why[0]+")")
	}
	if left == 0 {
		return ""
	}
	if left > len(list) {
		list = append(list, "…")
	}
	verb := "differ"
	if left < all {
		verb = "more differ"
	}
	return fmt.Sprintf("%d %s: %s\n", left, verb, strings.Join(list, ", "))
}
