package compact

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// partsByTurn are the parts of the span in mode lossless: one for each turn, and where a turn is long, several. When
// there are many, those of the older half become few.
func partsByTurn(c *compaction, list []conversation.Group, from int) (all []conversation.Group, fresh int) {
	const part, row = 4_000, 60 // tokens of a part, about, and of its line
	fresh = len(list)
	start, have := from, 0
	for i := from; i < c.to; i++ {
		isLong := have >= part && c.P.Req.Items[c.P.Req.Head+i].Role == conversation.Assistant
		if i > start && (isLong || plan.UserSpeaks(c.P, i)) {
			list, start, have = append(list, conversation.Group{First: start, End: i}), i, 0
		}
		have += c.P.Hist.Sizes[i]
	}
	list = append(list, conversation.Group{First: start, End: c.to})
	if most := max(c.room.Turns/row, 2); len(list) > most {
		var same int
		list, same = mergeParts(c, list, len(list)-most/2)
		fresh = min(fresh, same)
	}
	return list, fresh
}

// mergeParts makes one part of the first n, but for those that are larger than all behind them together: so no message
// is kept often. It says how many parts those are.
func mergeParts(c *compaction, list []conversation.Group, n int) (all []conversation.Group, same int) {
	rest := 0
	for k := n - 1; k >= 0; k-- {
		bytes := len(c.P.Req.BytesOf(list[k].First, list[k].End-list[k].First))
		if bytes <= rest || k == n-1 {
			same = k
		}
		rest += bytes
	}
	all = append(list[:same:same], conversation.Group{First: list[same].First, End: list[n-1].End})
	return append(all, list[n:]...), same
}

// partLines is a line for each part: which messages, what was called in them, and where they are.
func partLines(c *compaction, list []conversation.Group, names []string) string {
	var b strings.Builder
	for k, g := range list {
		called := map[string]int{}
		for i := g.First; i < g.End; i++ {
			for _, call := range c.P.Req.Items[c.P.Req.Head+i].Calls {
				called[call.Name]++
			}
		}
		at := names[k]
		if a := plan.AddressOf(c.P, at); a != "" {
			at = a
		}
		fmt.Fprintf(&b, "messages %d-%d%s: %s\n", plan.NumberOf(c.P, g.First), plan.NumberOf(c.P, g.End-1), callList(called), at)
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
