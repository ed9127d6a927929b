package compact

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// stays reports whether item i of the span is sent all the same: it tells how things are done and nothing later tells
// that anew, is of an unknown kind, or answers a call of the opening.
func (c *compaction) stays(i int) bool {
	if c.outdated != nil && c.outdated[i] {
		return false
	}
	return plan.IsKeptInPlace(c.P, i) || c.callers[i] >= 0 && c.callers[i] < c.from
}

// outdatedNotes finds the messages of the system in the midst of a conversation that a later one says again with other
// numbers: how much room or time is left. Some clients send one with each turn, and the last one tells all. nil if
// there are none. Of the items before compactedTo those count that have gone already: what was left out stays as it
// is.
func outdatedNotes(p *plan.Plan, compactedTo int) (outdated []bool) {
	var later map[string]bool         // notes, without their numbers
	for i := p.End - 1; i >= 0; i-- { // what comes behind that, the client may take back
		note, ok := noteAt(p, i)
		if !ok {
			continue
		}
		if later[note] && (i >= compactedTo || p.Forms[i] != nil) {
			if outdated == nil {
				outdated = make([]bool, p.Hist.Len())
			}
			outdated[i] = true
		}
		if later == nil {
			later = map[string]bool{}
		}
		later[note] = true
	}
	return outdated
}

// noteAt is the text of item i without its numbers; ok is false unless it is a message of the system, nothing but a
// text, and has numbers.
func noteAt(p *plan.Plan, i int) (note string, ok bool) {
	it := &p.Req.Items[p.Req.Head+i]
	if it.Role != conversation.System || it.Pinned || it.Opaque || plan.IsFixed(p, i) {
		return "", false
	}
	if texts := p.Req.TextSpans(it); len(texts) == 1 {
		return withoutNumbers(span.TextOf(texts[0].Of(p.Req.Body)))
	}
	return "", false
}

// withoutNumbers is a text with a sign in the place of each number, with its points and commas. found says that there
// are numbers.
func withoutNumbers(text []byte) (shape string, found bool) {
	const sign = '0'
	b := make([]byte, 0, len(text))
	inNumber := false
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			if !inNumber {
				b = append(b, sign)
			}
			inNumber, found = true, true
		case inNumber && (c == '.' || c == ',' || c == '_'):
		default:
			b, inNumber = append(b, c), false
		}
	}
	return string(b), found
}
