package rewrite

import (
	"fmt"
	"slices"
	"strings"
)

// apart are the parts of the span in mode lossless: one for each turn, and where a turn is long, several. When there are many, those
// of the older half become few.
func (c *compaction) apart(list []Group, from int) (all []Group, fresh int) {
	const part, row = 4_000, 60 // tokens of a part, about, and of its line
	fresh = len(list)
	start, have := from, 0
	for i := from; i < c.to; i++ {
		role := c.req.Items[c.req.Head+i].Role
		if i > start && (role == User || role == Assistant && have >= part) {
			list, start, have = append(list, Group{start, i}), i, 0
		}
		have += c.hist.sizes[i]
	}
	list = append(list, Group{start, c.to})
	if most := max(c.budgets.turns/row, 2); len(list) > most {
		var same int
		list, same = c.fewer(list, len(list)-most/2)
		fresh = min(fresh, same)
	}
	return list, fresh
}

// fewer makes one part of the first n, but for those that are larger than all behind them together: so no message is kept often.
// It says how many parts those are.
func (c *compaction) fewer(list []Group, n int) (all []Group, same int) {
	rest := 0
	for k := n - 1; k >= 0; k-- {
		bytes := len(c.req.run(list[k].First, list[k].End-list[k].First))
		if bytes <= rest || k == n-1 {
			same = k
		}
		rest += bytes
	}
	all = append(list[:same:same], Group{list[same].First, list[n-1].End})
	return append(all, list[n:]...), same
}

// perTurn is a line for each part: which messages, what was called in them, and where they are.
func (c *compaction) perTurn(list []Group, names []string) string {
	var b strings.Builder
	for k, g := range list {
		called := map[string]int{}
		for i := g.First; i < g.End; i++ {
			for _, call := range c.req.Items[c.req.Head+i].Calls {
				called[call.Name]++
			}
		}
		at := names[k]
		if a := c.shelf.Address(at); a != "" {
			at = a
		}
		fmt.Fprintf(&b, "messages %d-%d%s: %s\n", c.req.Head+g.First, c.req.Head+g.End-1, callList(called), at)
	}
	return b.String()
}

// callList names the tools that were called most.
func callList(called map[string]int) string {
	const most = 5
	names := make([]string, 0, len(called))
	for name := range called {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if called[a] != called[b] {
			return called[b] - called[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names[:min(len(names), most)] {
		names[i] = fmt.Sprintf("%s %d", name, called[name])
	}
	if len(names) == 0 {
		return ""
	}
	return ", calls " + strings.Join(names[:min(len(names), most)], ", ")
}
