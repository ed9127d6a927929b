package recap

import (
	"fmt"
	"iter"
	"strings"

	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/recap/agenda"
	"epitome/rewrite/recap/deed"
	"epitome/rewrite/recap/past"
	"epitome/rewrite/recap/spoken"
)

// others are the calls of tools of which it is not known what they are for, but for failures that are open: they stand
// above.
func (c *calls) others(k *known, tokens int) string {
	room := newRows(tokens).room - len(fmt.Sprintf(rowOfMore, 10_000))
	list, more := deed.Rows(othersOf(c), room)
	if more > 0 && len(list) > 0 && c.span.IsReadWhole() {
		tallies := deed.Tally(othersOf(c))
		if size := len(strings.Join(tallies, "\n")) + 1; len(tallies) > 0 && size < room/2 {
			list, more = deed.Rows(othersOf(c), room-size)
			list = append(list, tallies...)
		}
	}
	text := strings.Join(list, "\n")
	k.tell(text)
	if more > 0 && text != "" && c.span.IsReadWhole() {
		text += "\n" + fmt.Sprintf(rowOfMore, more)
	}
	return text
}

// othersOf are those calls, the newest first.
func othersOf(c *calls) iter.Seq[*deed.Call] {
	return func(yield func(*deed.Call) bool) {
		c.span.Backwards(func(res *history.Result) bool {
			isTold := agenda.Keeps(res.Name) || spoken.AsksUser(res.Name) || c.isTold[res]
			if res.Action.Kind != action.Other || len(res.Action.Reads) > 0 || isTold {
				return true
			}
			call := deedOf(c.span, res)
			if ending := c.span.EndingOf(res); ending.Failed() {
				call.Failed = ending.InWords()
			}
			return yield(call)
		})
	}
}

// deedOf is the call that a result answers.
func deedOf(s *past.Span, res *history.Result) *deed.Call {
	tool := action.Source{Name: res.Name}
	return &deed.Call{Tool: tool.About(), About: res.About(), Arguments: s.ValuesOf(res),
		Answer: func() string { return s.TextOf(res) }}
}
