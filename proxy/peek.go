package proxy

import (
	"bytes"
	"io"
	"time"

	"epitome/internal/sse"
	"epitome/proxy/wire"
	"epitome/rewrite/answer"
	"epitome/window"
)

// What is held of an answer until it is known whether it refuses its request.
const (
	mostOfStream = 1 << 20   // bytes; frames may repeat all settings of the request, tools too
	mostOfError  = 256 << 10 // bytes; what comes behind that is passed on as it comes
	mostOfSmall  = 64 << 10  // bytes of an answer that is no stream, and may be an error all the same
	errorFor     = 10 * time.Second
)

// peeked reads the beginning of an answer, which stays with the answer to be passed on.
type peeked struct {
	answer  *wire.Answer
	dialect Dialect
	http10  bool
	most    int
	until   time.Time // zero is for as long as it takes
	content []byte    // without framing
	framed  bool      // what is held has framing, or so it must be taken
}

// peekAt reads of an answer what may tell that it refuses its request: an error whole, a stream up to its first content,
// and any other answer if it is small. What it says is returned without framing and coding; nothing if it has begun to
// answer. hear gets all that is read. http10 says that the client knows no chunks.
func peekAt(a *wire.Answer, d Dialect, http10 bool, hear func(run []byte)) (said []byte) {
	h := &peeked{answer: a, dialect: d, http10: http10, most: mostOfError, framed: true}
	kind, coding := wire.Find(a.Block, "content-type"), wire.Values(a.Block, "content-encoding")
	plain := len(coding) == 0 || wire.EqualFold(coding, "identity")
	a.Hears = func(run []byte) {
		if h.framed {
			h.content = append(h.content, run...)
		}
		hear(run)
	}
	defer func() { a.Hears = hear }()
	switch {
	case a.Code < 200 || a.Empty || !window.MayRefuse(a.Code):
		return nil
	case a.Code >= 300:
		h.until = time.Now().Add(errorFor)
		for h.more() {
		}
	case !plain:
		return nil
	case wire.EqualFold(kind[:min(len(kind), len(eventStream))], eventStream):
		h.most, h.until = mostOfStream, time.Now().Add(d.Holds())
		if h.begun() {
			return nil
		}
	case a.Length >= 0 && a.Length <= mostOfSmall: // nearly all: what is held is the content
		for h.framed = false; h.more(); {
		}
		return a.HeldBytes()
	default:
		return nil
	}
	if !plain {
		return plainly(string(coding), h.content)
	}
	return h.content
}

const eventStream = "text/event-stream"

// plainly is what was held without its coding, as far as that can be read.
func plainly(coding string, held []byte) []byte {
	plain, err := wire.NewDecoder(coding, bytes.NewReader(held), mostOfError)
	if err != nil {
		return nil
	}
	defer func() { _ = plain.Close() }()
	said, _ := io.ReadAll(plain) // what breaks off may tell enough
	return said
}

// more reads a piece, and reports whether there may be another one. What goes wrong is met again when the answer is
// passed on.
func (h *peeked) more() bool {
	if len(h.answer.HeldBytes()) >= h.most {
		return false
	}
	wait := h.answer.ReadIdle
	if !h.until.IsZero() {
		if wait = time.Until(h.until); wait <= 0 {
			return false
		}
	}
	return h.answer.Hold(wait, h.http10)
}

// begun reads a stream until it says anything, and reports whether that is an answer. One that is slow or talks of
// other things first is taken for one.
func (h *peeked) begun() bool {
	read, looked := 0, 0 // up to where lines are known, and where none ends
	var kind []byte
	if h.more() {
		h.content = sse.TrimMark(h.content)
	}
	for {
		var f sse.Field
		rest, whole := h.content[read:], false
		if bytes.ContainsAny(h.content[max(read, looked):], "\r\n") {
			f, rest, whole = sse.Next(rest)
		}
		if !whole {
			looked = max(len(h.content)-1, 0) // a CR there ends a line when something follows
			if h.more() {
				continue
			}
			return !h.answer.IsComplete() || len(rest) > 0
		}
		read = len(h.content) - len(rest)
		switch name := string(f.Name); {
		case f.Comment(): // it keeps the client waiting: it must go on
			return true
		case name == "event":
			kind = bytes.TrimSpace(f.Value)
		case name == "data":
			switch h.dialect.Step(kind, f.Value) {
			case answer.SaidStep:
				return true
			case answer.EndStep, answer.ErrorStep:
				for h.more() && !h.answer.IsComplete() {
				}
				return false
			}
		}
	}
}

// lastEvents is how many events at the end of a stream may tell of an error: it, what is told of tokens, and the end.
const lastEvents = 3

// lastOfStream is the events at the end of a stream, the last of them in a ring.
type lastOfStream struct {
	last  [lastEvents]struct{ kind, data []byte }
	count int
}

func (e *lastOfStream) add(kind, data []byte) {
	e.last[e.count%lastEvents].kind, e.last[e.count%lastEvents].data = kind, data
	e.count++
}

// failsAtEnd reports whether a streamed answer told of an error at its end, of which end is what was kept: it may begin
// within a line, of an event that is called torn.
func failsAtEnd(a *wire.Answer, d Dialect, torn, end []byte) bool {
	return isOfType(a, eventStream) && hasLast(d, torn, end, answer.ErrorStep)
}

// endsWhole reports whether an answer whose body did not come whole has told all the same that it is over, and so all of its
// tokens. end and torn are as failsAtEnd has them. A document that tells its tokens was over before it was sent.
func endsWhole(a *wire.Answer, d Dialect, torn, end []byte) bool {
	return isOfType(a, "application/json") || isOfType(a, eventStream) && hasLast(d, torn, end, answer.EndStep)
}

// isOfType reports whether an answer has a type of content.
func isOfType(a *wire.Answer, content string) bool {
	kind, _, _ := bytes.Cut(wire.Values(a.Block, "content-type"), []byte{';'})
	return wire.EqualFold(bytes.TrimSpace(kind), content)
}

// hasLast reports whether one of the last events is such a step.
func hasLast(d Dialect, torn, end []byte, step answer.Step) bool {
	e := lastOf(torn, end)
	for _, at := range e.last[:min(e.count, lastEvents)] {
		if d.Step(at.kind, at.data) == step {
			return true
		}
	}
	return false
}

func lastOf(torn, end []byte) (e lastOfStream) {
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
