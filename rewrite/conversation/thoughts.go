package conversation

import (
	"bytes"

	"epitome/rewrite/span"
)

// SaysNothing reports whether an item is nothing but what the model thought.
func (it *Item) SaysNothing() bool {
	return len(it.Thinking) > 0 && it.Content.Empty() && len(it.Calls) == 0
}

// WithoutThinking is what takes all that the model thought out of an item that says something, too.
func WithoutThinking(r *Request, it *Item) (edits []span.Edit) {
	for k := 0; k < len(it.Thinking); {
		run := it.Thinking[k].Span
		next := span.SkipSpace(r.Body, run.End)
		for k++; k < len(it.Thinking) && r.Body[next] == ','; k++ {
			if span.SkipSpace(r.Body, next+1) != it.Thinking[k].Start {
				break
			}
			run.End = it.Thinking[k].End
			next = span.SkipSpace(r.Body, run.End)
		}
		if r.Body[next] == ',' {
			run.End = span.SkipSpace(r.Body, next+1)
		} else { // nothing stands behind it
			run.Start = len(bytes.TrimRight(r.Body[:run.Start], " \t\r\n,"))
		}
		edits = append(edits, span.Edit{Span: run})
	}
	return edits
}

// CountThinking measures what the model thought in an item, as far as that is shown, in the scale for the item.
func CountThinking(r *Request, s Scale, it *Item) (n int) {
	for _, t := range it.Thinking {
		n += s.CountText(t.Text.Of(r.Body), false)
	}
	return n
}

// InRound reports whether the request ends within what the model does for one message of the user: it waits for the
// results of its calls.
func InRound(r *Request) bool {
	for i := len(r.Items) - 1; i >= r.Head; i-- {
		switch r.Items[i].Role {
		case Tool:
			return true
		case Assistant:
			return false
		}
	}
	return false
}
