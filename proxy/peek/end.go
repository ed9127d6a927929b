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
	kind, _, _ := bytes.Cut(wire.Values(a.Block, "content-type"), []byte{';'})
	if !wire.EqualFold(bytes.TrimSpace(kind), eventStream) {
		return false
	}
	e := endingOf(torn, end)
	for _, at := range e.last[:min(e.count, lastEvents)] { // what fails and does not begin is an error, and no end
		if d.Fails(at.kind, at.data) && !d.Begins(at.kind, at.data) {
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
