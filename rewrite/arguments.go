package rewrite

import "fmt"

// Arguments of a call that are longer than so many bytes may be cleared; each text in them that is.
const longArgument = 600

// clearableCalls are the assistant's messages of which old long arguments may be cleared. since says when each result
// had become old; a message is as old as the first result behind it.
func (p *plan) clearableCalls(since []int, now int) (list []candidate) {
	k := 0
	for i := range p.stable {
		for k < len(p.hist.results) && p.hist.results[k].item < i {
			k++
		}
		it := &p.req.Items[p.req.Head+i]
		if it.Role != Assistant || p.forms[i] != nil || k == len(p.hist.results) || since[k] > now {
			continue
		}
		c := candidate{item: i, since: since[k], why: "old arguments"}
		if c.freed = p.sent(i) - p.shortened(i); c.freed > leastSaving {
			list = append(list, c)
		}
	}
	return list
}

// shortened is about how many tokens an assistant's message takes without the long texts in its arguments.
func (p *plan) shortened(i int) int {
	n, ok := p.hist.short[i]
	if !ok {
		n = p.hist.sizes[i]
		if f := p.withoutArguments(i); f != nil {
			n = f.Now
		}
		p.hist.short[i] = n
	}
	return n
}

// withoutArguments is the form of an assistant's message without the long texts in its calls' arguments; nil if there are none.
func (p *plan) withoutArguments(i int) *form {
	it := &p.req.Items[p.req.Head+i]
	f := &form{Rung: rungClear, Now: p.hist.sizes[i]}
	for k, c := range it.Calls {
		raw := c.Arguments.Of(p.req.Body)
		if len(raw) <= longArgument {
			continue
		}
		content, spelling := keepsake(raw)
		name := p.shelf.Name(p.scope, content)
		text := string(said(raw))
		short, ok := shortArguments(text, c.FreeText, p.where(name))
		if !ok {
			continue
		}
		f.Patches = append(f.Patches, patch{callInput, k, short, name, spelling})
		f.Now -= p.scale.text(raw, false) - p.count(short)
	}
	if len(f.Patches) == 0 {
		return nil
	}
	return f
}

// shortArguments is the arguments with a note in the place of each long text. What was JSON stays JSON.
func shortArguments(text string, free bool, where string) (string, bool) {
	note := func(size int) string {
		return fmt.Sprintf("%s%d bytes of an argument left out. %s]", mark, size, where)
	}
	if free {
		return note(len(text)), true
	}
	b := []byte(text)
	if !valid(b) {
		return "", false
	}
	var edits []Edit
	longStrings(b, space(b, 0), func(s Span) {
		edits = append(edits, Edit{s, appendQuoted(nil, note(s.End-s.Start-2))})
	})
	short, err := Splice(b, edits)
	return string(short), err == nil && len(edits) > 0
}

// longStrings gives f the long strings among the values of what begins at b[i], which is valid, and returns where it ends.
func longStrings(b []byte, i int, f func(Span)) (end int) {
	var err error
	deeper := func(i int) (int, error) { return longStrings(b, i, f), nil }
	switch b[i] {
	case '{':
		end, err = members(b, i, func(_ []byte, i int) (int, error) { return deeper(i) })
	case '[':
		end, err = elements(b, i, deeper)
	default:
		if end, err = value(b, i); err == nil && b[i] == '"' && end-i > longArgument {
			f(Span{i, end})
		}
	}
	if err != nil { // an object that is odd stays as it is from there on
		return len(b)
	}
	return end
}
