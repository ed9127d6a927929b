package peek

import (
	"bytes"

	"epitome/proxy/wire"
	"epitome/sse"
)

// lastEvents is how many events at the end of a stream may tell of an error: it, what is told of tokens, and the end.
const lastEvents = 3

// Fails reports whether a streamed answer told of an error at its end, of which end is what was kept: it may begin
// within a line.
func Fails(a *wire.Answer, d Dialect, end []byte) bool {
	kind, _, _ := bytes.Cut(wire.Values(a.Block, "content-type"), []byte{';'})
	if !wire.EqualFold(bytes.TrimSpace(kind), eventStream) {
		return false
	}
	var last [lastEvents]struct{ kind, data []byte }
	count := 0
	kind = nil
	for f := range sse.Fields(end) {
		switch string(f.Name) {
		case "event":
			kind = bytes.TrimSpace(f.Value)
		case "data":
			last[count%lastEvents].kind, last[count%lastEvents].data = kind, f.Value
			kind, count = nil, count+1
		}
	}
	for _, at := range last[:min(count, lastEvents)] { // what fails and does not begin is an error, and no end
		if d.Fails(at.kind, at.data) && !d.Begins(at.kind, at.data) {
			return true
		}
	}
	return false
}
