package ladder

import (
	"fmt"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// Arguments of a call that are longer than so many bytes may be cleared; each text in them that is.
const longArgument = 600

// clearableCalls are the assistant's messages of which old long arguments may be cleared. since says when each result
// had become old; a message is as old as the first result behind it.
func clearableCalls(p *plan.Plan, since []int, now int) (list []candidate) {
	k := 0
	for i := range p.End {
		for k < len(p.Hist.Results) && p.Hist.Results[k].Item < i {
			k++
		}
		it := &p.Req.Items[p.Req.Head+i]
		if it.Role != conversation.Assistant || p.Forms[i] != nil || k == len(p.Hist.Results) || since[k] > now {
			continue
		}
		c := candidate{item: i, since: since[k], why: "old arguments"}
		if c.freed = p.SentSize(i) - sizeWithoutArguments(p, i); c.freed > limits.LeastSaving {
			list = append(list, c)
		}
	}
	return list
}

// sizeWithoutArguments is about how many tokens an assistant's message takes without the long texts in its arguments.
func sizeWithoutArguments(p *plan.Plan, i int) int {
	n, ok := p.Hist.ShortSizes[i]
	if !ok {
		n = p.Hist.Sizes[i]
		if f := withoutArguments(p, i); f != nil {
			n = f.Now
		}
		p.Hist.ShortSizes[i] = n
	}
	return n
}

// withoutArguments is the form of an assistant's message without the long texts in its calls' arguments; nil if there
// are none.
func withoutArguments(p *plan.Plan, i int) *decision.Form {
	it := &p.Req.Items[p.Req.Head+i]
	f := &decision.Form{Rung: decision.RungClear, Now: p.Hist.Sizes[i]}
	for k, c := range it.Calls {
		raw := c.Arguments.Of(p.Req.Body)
		if len(raw) <= longArgument {
			continue
		}
		content, spelling := span.Unspell(raw)
		name := p.Shelf.Name(p.Route.Scope, content)
		text := string(span.TextOf(raw))
		short, ok := shortArguments(text, c.FreeText, p.Advice(name, plan.Content{Tokens: p.Count(text)}))
		if !ok {
			continue
		}
		f.Patches = append(f.Patches, decision.Patch{Place: conversation.CallInput, Index: k, Text: short,
			Artifact: name, Spelling: spelling})
		f.Now -= p.Scale.CountText(raw, false) - p.Count(short)
	}
	if len(f.Patches) == 0 {
		return nil
	}
	return f
}

// shortArguments is the arguments with a note in the place of each long text. What was JSON stays JSON.
func shortArguments(text string, free bool, where string) (string, bool) {
	note := func(size int) string {
		return fmt.Sprintf("%s%d bytes of an argument left out. %s]", plan.Mark, size, where)
	}
	if free {
		return note(len(text)), true
	}
	b := []byte(text)
	if !span.Valid(b) {
		return "", false
	}
	var edits []span.Edit
	span.Leaves(b, span.SkipSpace(b, 0), func(s span.Span) {
		if b[s.Start] == '"' && s.End-s.Start > longArgument {
			edits = append(edits, span.Edit{Span: s, With: span.AppendQuoted(nil, note(s.End-s.Start-2))})
		}
	})
	short, err := span.Splice(b, edits)
	return string(short), err == nil && len(edits) > 0
}
