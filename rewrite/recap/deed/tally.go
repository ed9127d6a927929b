package deed

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"epitome/rewrite/mark"
	"epitome/rewrite/span"
)

// What is counted of calls that were made very often.
const (
	leastTallied = 16  // calls of one tool
	mostTallied  = 12  // values of one key: more tell them apart, and not what kinds there are
	mostTools    = 4   // that are told
	bytesOfTally = 400 // bytes of what is told of one tool
	bytesOfKind  = 48  // bytes of a value
)

// tally is how often the calls of one tool were given which values.
type tally struct {
	tool   string
	calls  int
	failed int                       // of those
	keys   []string                  // in the order in which they came
	counts map[string]map[string]int // by key and value; nil for a key that has too many values
	kinds  map[string][]string       // the values of a key, in the order in which they came
}

// Tally counts, for each tool of which very many calls may have changed something, the values of those keys that have
// few. What it tells is exact of the calls, whether they failed or not, and how many did.
func Tally(calls iter.Seq[*Call]) (rows []string) {
	var all []*tally
	of := map[string]*tally{}
	for c := range calls {
		if Looks(c.Tool, c.Arguments) {
			continue
		}
		t := of[c.Tool]
		if t == nil {
			t = &tally{tool: c.Tool, counts: map[string]map[string]int{}, kinds: map[string][]string{}}
			of[c.Tool], all = t, append(all, t)
		}
		if t.calls++; c.Failed != "" {
			t.failed++
		}
		eachArgument(c.Arguments, func(key string, v span.Span) { t.count(key, c.Arguments, v) })
	}
	slices.SortStableFunc(all, func(a, b *tally) int { return b.calls - a.calls })
	for _, t := range all {
		if row := t.row(); row != "" && len(rows) < mostTools {
			rows = append(rows, row)
		}
	}
	return rows
}

// count counts one value. A key with a long value, or with very many, is not counted any more.
func (t *tally) count(key string, arguments []byte, v span.Span) {
	counts, isKnown := t.counts[key]
	if isKnown && counts == nil {
		return
	}
	if !isKnown {
		const mostKeys = 32
		if len(t.keys) == mostKeys {
			return
		}
		counts = map[string]int{}
		t.keys, t.counts[key] = append(t.keys, key), counts
	}
	if v.End-v.Start > bytesOfKind {
		t.counts[key] = nil
		return
	}
	value := span.InOneLine(arguments, v)
	if counts[value] == 0 {
		if len(counts) == mostTallied {
			t.counts[key] = nil
			return
		}
		t.kinds[key] = append(t.kinds[key], value)
	}
	counts[value]++
}

// row tells the tally; empty if nothing in it is worth a line.
func (t *tally) row() string {
	if t.calls < leastTallied {
		return ""
	}
	head := fmt.Sprintf("%s, %d calls by values", t.tool, t.calls)
	if t.failed > 0 {
		head += fmt.Sprintf(", %d of which failed", t.failed)
	}
	var parts []string
	room := bytesOfTally - len(head)
	for _, key := range t.keys {
		counts, kinds := t.counts[key], t.kinds[key]
		if len(counts) < 2 {
			continue
		}
		slices.SortStableFunc(kinds, func(a, b string) int { return counts[b] - counts[a] })
		list := make([]string, len(kinds))
		for k, value := range kinds {
			list[k] = fmt.Sprintf("%s %d", value, counts[value])
		}
		part := key + ": " + strings.Join(list, ", ")
		if room -= len(part) + len("; "); room < 0 {
			break
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 || mark.IsForged(strings.Join(parts, "; ")) {
		return ""
	}
	return head + "; " + strings.Join(parts, "; ")
}
