package peek

import (
	"bytes"

	"epitome/proxy/wire"
	"epitome/sse"
)

// lastEvents is how many events at the end of a stream may tell of an error: it, what is told of tokens, and the end.
const lastEvents = 3

// ending is the events at the end of a stream, the last of them in a ring.
type ending struct {
	last  [lastEvents]struct{ kind, data []byte }
	count int
}

func (e *ending) add(kind, data []byte) {
	e.last[e.count%lastEvents].kind, e.last[e.count%lastEvents].data = kind, data
	e.count++
}

// Fails reports whether a streamed answer told of an error at its end, of which end is what was kept: it may begin
// within a line, of an event that is called torn.
func Fails(a *wire.Answer, d Dialect, torn, end []byte) bool {
	return isOf(a, eventStream) && isLast(d, torn, end, false)
}

// Ends reports whether an answer whose body did not come whole has told all the same that it is over, and so all of its
// tokens. end and torn are as Fails has them. A document that tells its tokens was over before it was sent.
func Ends(a *wire.Answer, d Dialect, torn, end []byte) bool {
	return isOf(a, "application/json") || isOf(a, eventStream) && isLast(d, torn, end, true)
}

// isOf reports whether an answer has a type of content.
func isOf(a *wire.Answer, content string) bool {
	kind, _, _ := bytes.Cut(wire.Values(a.Block, "content-type"), []byte{';'})
	return wire.EqualFold(bytes.TrimSpace(kind), content)
}

// isLast reports whether one of the last events is the end of the answer, which fails and begins, or an error, which
// fails only.
func isLast(d Dialect, torn, end []byte, over bool) bool {
	e := endingOf(torn, end)
	for _, at := range e.last[:min(e.count, lastEvents)] {
		if d.Fails(at.kind, at.data) && d.Begins(at.kind, at.data) == over {
			return true
		}
	}
	return false
}

func endingOf(torn, end []byte) (e ending) {
	kind := torn
	for f := range sse.Fields(end) {
		switch string(f.Name) {
		case "event":
			kind = bytes.TrimSpace(f.Value)
		case "data":
			e.add(kind, f.Value)
			kind = nil
		default:
			if e.count == 0 && len(torn) > 0 { // the rest of its data: what it is called must do
				e.add(torn, []byte("{}"))
				kind = nil
			}
		}
	}
	return e
}
