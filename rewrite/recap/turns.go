package recap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
)

// Turns returns a line for each turn of the span: its messages, the lines of Transcript in which it stands, and what
// was called most. A long turn has several lines; where there is no room for all, turns share one.
func Turns(s Span) string {
	const long, row = 4_000, 60 // tokens of a turn, and of a line
	starts, size := []int{s.From}, 0
	for i := s.From; i < s.To; i++ {
		it := &s.Request.Items[i]
		if i > s.From && (s.Request.Speaks(it) || size >= long && it.StartsAnswer) {
			starts, size = append(starts, i), 0
		}
		size += it.Size.Total()
	}
	most := max(s.Budgets.Turns/row, 2)
	each := (len(starts) + most - 1) / most
	t, number := newTranscript(s.Request, s.Calls, s.From, s.To, "", ""), numbers(s.Request)
	lines := append(t.lines, t.line)
	var b strings.Builder
	for k := 0; k < len(starts); k += each {
		first, end := starts[k], s.To
		if k+each < len(starts) {
			end = starts[k+each]
		}
		fmt.Fprintf(&b, "messages %d-%d: lines %d-%d%s\n", number[first], number[end-1],
			lines[first-s.From], lines[end-s.From]-1, called(s.Request.Items[first:end]))
	}
	return b.String()
}

// called names the tools that were called most.
func called(items []conversation.Item) string {
	const most = 5
	count := map[string]int{}
	for i := range items {
		for _, c := range items[i].Calls {
			count[c.Name]++
		}
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	names = names[:min(len(names), most)]
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, count[name])
	}
	if len(names) == 0 {
		return ""
	}
	return ", calls: " + strings.Join(names, ", ")
}
