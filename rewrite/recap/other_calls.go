package recap

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"epitome/pattern"
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

// othersOf are those calls, the newest first; of such as have lists of tasks none that a newer one has whole.
func othersOf(c *calls) iter.Seq[*deed.Call] {
	return func(yield func(*deed.Call) bool) {
		tasks := newerTasks{}
		c.span.Backwards(func(res *history.Result) bool {
			isTold := spoken.AsksUser(res.Name) || c.isTold[res]
			if res.Action.Kind != action.Other || len(res.Action.Reads) > 0 || isTold {
				return true
			}
			call := deedOf(c.span, res)
			if agenda.Keeps(res.Name, call.Arguments) || tasks.have(call) {
				return true
			}
			if ending := c.span.EndingOf(res); ending.Failed() {
				call.Failed = ending.InWords()
			}
			return yield(call)
		})
	}
}

// newerTasks are the tasks in the newest calls of tools, by these.
type newerTasks map[string]map[string]bool

// have reports whether all tasks that a call has stand in a newer one of its tool. It takes them in.
func (n newerTasks) have(call *deed.Call) bool {
	if !listsTasks.MatchString(call.Tool) {
		return false
	}
	titles := agenda.Titles(call.Arguments)
	if len(titles) == 0 {
		return false
	}
	newer := n[call.Tool]
	if !slices.ContainsFunc(titles, func(title string) bool { return !newer[title] }) {
		return true
	}
	n[call.Tool] = make(map[string]bool, len(titles))
	for _, title := range titles {
		n[call.Tool][title] = true
	}
	return false
}

// listsTasks finds the name of a tool that may have lists of tasks.
var listsTasks = pattern.Of(`(?i)todo|plan|task`)

// deedOf is the call that a result answers.
func deedOf(s *past.Span, res *history.Result) *deed.Call {
	tool := action.Source{Name: res.Name}
	return &deed.Call{Tool: tool.About(), About: res.About(), Arguments: s.ValuesOf(res),
		Answer: func() string { return s.TextOf(res) }}
}
