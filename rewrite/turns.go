package rewrite

import (
	"fmt"
	"slices"
	"strings"
)

// apart are the parts of the span in mode lossless: one for each turn, and where a turn is long, several. When there are many, the
// older half becomes one part again.
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
		older := list[:len(list)-most/2]
		list = append([]Group{{older[0].First, older[len(older)-1].End}}, list[len(older):]...)
		fresh = 0
	}
	return list, fresh
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
