package recap

import (
	"fmt"
	"iter"
	"strings"

	"epitome/prose"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/recap/agenda"
	"epitome/rewrite/recap/deed"
	"epitome/rewrite/recap/spoken"
)

// others are the calls of tools of which it is not known what they are for, but for failures that are open: they stand
// above.
func (c *calls) others(k *known, tokens int) string {
	if c.sum.p.Ask.Style.Mode == prose.ModeLLM && c.sum.says.Text != "" { // the model tells
		return ""
	}
	list, more := deed.Rows(othersOf(c), newRows(tokens).room-len(fmt.Sprintf(rowOfMore, 10_000)))
	text := strings.Join(list, "\n")
	k.tell(text)
	if more > 0 && text != "" && c.sum.read == c.sum.from {
		text += "\n" + fmt.Sprintf(rowOfMore, more)
	}
	return text
}

// othersOf are those calls, the newest first.
func othersOf(c *calls) iter.Seq[*deed.Call] {
	return func(yield func(*deed.Call) bool) {
		c.sum.backwards(func(res *history.Result) bool {
			isTold := agenda.Keeps(res.Name) || spoken.AsksUser(res.Name) || c.fateOf(res).isTold
			if res.Action.Kind != action.Other || len(res.Action.Reads) > 0 || isTold {
				return true
			}
			call := deedOf(c.sum, res)
			if ending := c.sum.endingOf(res); ending.Failed() {
				call.Failed = ending.InWords()
			}
			return yield(call)
		})
	}
}

// deedOf is the call that a result answers.
func deedOf(r *writer, res *history.Result) *deed.Call {
	tool := action.Source{Name: res.Name}
	d := &deed.Call{Tool: tool.About(), About: res.About(), Answer: func() string { return r.p.TextOf(res.Item) }}
	if call := r.callOf(res); call != nil && !call.FreeText {
		d.Arguments = call.ArgumentsIn(r.p.Req.Body)
	}
	return d
}
