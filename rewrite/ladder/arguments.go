package ladder

import (
	"fmt"
	"strings"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Arguments of a call that are longer than so many bytes may be cleared; each text in them that is.
const longArgument = 600

// clearableCalls are the assistant's messages of which long arguments may be cleared: those of calls whose effect was
// shown or written over since, and that are as old as a result must be that is spent.
func clearableCalls(p *plan.Plan, now int) (list []candidate) {
	settled := plan.Why{Code: event.CodeArguments, Words: "what it wrote was read or written again"}
	k := 0
	for i := range p.End {
		for k < len(p.Hist.Results) && p.Hist.Results[k].Item < i {
			k++
		}
		it := &p.Req.Items[p.Req.Head+i]
		if it.Role != conversation.Assistant || p.Forms[i] != nil || plan.IsFixed(p, i) {
			continue
		}
		since := settledSince(p, i, p.Hist.Results[k:])
		if since > now {
			continue
		}
		c := candidate{item: i, since: since, why: settled}
		if c.freed = p.SentSize(i) - sizeWithoutArguments(p, i); limits.IsWorthClearing(p.SentSize(i), c.freed) {
			list = append(list, c)
		}
	}
	return list
}

// settledSince is the request at which the effects of all calls of item i with long arguments were settled and the
// item was of an age. behind are the results behind it.
func settledSince(p *plan.Plan, i int, behind []history.Result) int {
	var settled map[string]int // by call
	since := plan.Never
	for _, c := range p.Req.Items[p.Req.Head+i].Calls {
		if c.Arguments.End-c.Arguments.Start <= longArgument {
			continue
		}
		if settled == nil {
			settled, since = settledCalls(p, i, behind), p.Hist.Answers[i]+limits.SpentGroups
		}
		at := settled[c.ID]
		if at == 0 || at >= p.End {
			return plan.Never
		}
		since = max(since, p.Hist.Answers[at])
	}
	return since
}

// settledCalls says of the calls of item i, by their ids, at which item their effects were settled; 0 if they are not.
func settledCalls(p *plan.Plan, i int, behind []history.Result) map[string]int {
	settled := map[string]int{}
	for k := range behind {
		item := behind[k].Item
		if p.Hist.Answers[item] != p.Hist.Answers[i] {
			break
		}
		settled[p.Req.Items[p.Req.Head+item].Answers] = behind[k].Settled
	}
	return settled
}

// sizeWithoutArguments is about how many tokens an assistant's message takes without the long texts in its arguments.
func sizeWithoutArguments(p *plan.Plan, i int) int {
	short := history.ShortItem{Item: i, ReadAtOnce: plan.ReadAtOnce(p), ByTool: p.Case.ByTool,
		NoReader: p.Case.IsUnread()}
	n, ok := p.Hist.ShortSizes[short]
	if !ok {
		n = p.Hist.Sizes[i]
		if f := withoutArguments(p, i); f != nil {
			n = f.Now
		}
		p.Hist.ShortSizes[short] = n
	}
	return n
}

// withoutArguments is the form of an assistant's message without the long texts in its calls' arguments; nil if there
// are none.
func withoutArguments(p *plan.Plan, i int) *decision.Form {
	it, scale := &p.Req.Items[p.Req.Head+i], plan.ScaleOf(p, i)
	f := &decision.Form{Rung: decision.RungClear, Now: p.Hist.Sizes[i]}
	for k, c := range it.Calls {
		raw := c.Arguments.Of(p.Req.Body)
		if len(raw) <= longArgument {
			continue
		}
		name := p.Shelf.Name(p.Route.Scope, span.ContentOf(raw))
		text := string(span.TextOf(raw))
		short, ok := shortArguments(text, c.FreeText, p.Advice(name, plan.Content{Tokens: p.Count(text)}))
		if !ok {
			continue
		}
		f.Patches = append(f.Patches, decision.Patch{Place: conversation.CallInput, Index: k, Text: short,
			Artifact: name})
		f.Now -= scale.CountText(raw, false) - p.Count(short)
	}
	if len(f.Patches) == 0 {
		return nil
	}
	return f
}

// Bytes of whole lines that stay at the beginning of a long text in arguments, and at its end.
const keptArgument = 200

// shortArguments is the arguments with the first and the last lines of each long text. What was JSON stays JSON.
func shortArguments(text string, free bool, where string) (string, bool) {
	if free {
		return shortArgument(text, where)
	}
	b := []byte(text)
	if !span.Valid(b) {
		return "", false
	}
	var edits []span.Edit
	span.Leaves(b, span.SkipSpace(b, 0), func(s span.Span) {
		if b[s.Start] != '"' || s.End-s.Start <= longArgument {
			return
		}
		said, err := span.Unquote(b[s.Start:s.End])
		if err != nil {
			return
		}
		if short, ok := shortArgument(said, where); ok {
			edits = append(edits, span.Edit{Span: s, With: span.AppendQuoted(nil, short)})
		}
	})
	short, err := span.Splice(b, edits)
	return string(short), err == nil && len(edits) > 0
}

// shortArgument is a long text in arguments with its first and its last lines, whole, and between them how many are
// left out. A model imitates its own calls: so it begins and ends with what it wrote, and the gap cannot be taken for a
// part of that.
func shortArgument(text, where string) (string, bool) {
	head := 0
	for {
		end := strings.IndexByte(text[head:], '\n') + 1
		if end == 0 || head+end > keptArgument {
			break
		}
		head += end
	}
	tail := len(text)
	for tail > head {
		start := strings.LastIndexByte(text[head:tail-1], '\n') + 1 + head
		if len(text)-start > keptArgument || start == head {
			break
		}
		tail = start
	}
	if head == 0 || tail == len(text) {
		return "", false
	}
	from, n := shorten.CountLines(text[:head])+1, shorten.CountLines(text[head:tail])
	return fmt.Sprintf("%s%slines %d-%d of %d, %d bytes. %s]\n%s", text[:head], plan.ArgumentMark, from, from+n-1,
		shorten.CountLines(text), tail-head, where, text[tail:]), true
}
