package proxy

import (
	"bytes"
	"io"
	"time"

	"epitome/sse"
	"epitome/window/overflow"
)

// What is held of an answer until it is known whether it refuses its request.
const (
	mostOfStream = 64 << 10        // bytes
	mostOfError  = 256 << 10       // bytes; what comes behind that is passed on as it comes
	mostOfSmall  = 8 << 10         // bytes of an answer that is no stream, and may be an error all the same
	holdFor      = 2 * time.Second // of a stream that does not begin
	errorFor     = 10 * time.Second
)

// holding reads the beginning of an answer, which stays with the answer to be passed on.
type holding struct {
	answer  *answer
	dialect Dialect
	http10  bool
	most    int
	until   time.Time // zero is for as long as it takes
	content []byte    // without framing
}

// hold reads of an answer what may tell that it refuses its request: an error whole, a stream up to its first content, and any
// other answer if it is small. What it says is returned without framing and coding; nothing if it has begun to answer.
func (x *exchange) hold(a *answer) (said []byte) {
	h := &holding{answer: a, dialect: x.dialect, http10: x.to.http10, most: mostOfError}
	kind, coding := find(a.block, "content-type"), values(a.block, "content-encoding")
	plain := len(coding) == 0 || equalFold(coding, "identity")
	x.listen(a)
	a.hears = func(run []byte) {
		h.content = append(h.content, run...)
		x.ear.hear(run)
	}
	defer func() { a.hears = x.ear.hear }()
	switch {
	case a.code < 200 || a.empty || !overflow.MayRefuse(a.code):
		return nil
	case a.code >= 300:
		h.until = time.Now().Add(errorFor)
		for h.more() {
		}
	case !plain:
		return nil
	case equalFold(kind[:min(len(kind), len(eventStream))], eventStream):
		h.most, h.until = mostOfStream, time.Now().Add(holdFor)
		if h.begun() {
			return nil
		}
	case a.length >= 0 && a.length <= mostOfSmall:
		for h.more() {
		}
	default:
		return nil
	}
	if !plain {
		return x.plainly(string(coding), h.content)
	}
	return h.content
}

const eventStream = "text/event-stream"

// plainly is what was held without its coding, as far as that can be read.
func (x *exchange) plainly(coding string, held []byte) []byte {
	r, err := decoder(coding, bytes.NewReader(held), mostOfError)
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }()
	said, _ := io.ReadAll(r) // what breaks off may tell enough
	return said
}

// more reads a piece, and reports whether there may be another one. What goes wrong is met again when the answer is passed on.
func (h *holding) more() bool {
	if h.answer.heldBytes() >= h.most {
		return false
	}
	wait := h.answer.readIdle
	if !h.until.IsZero() {
		if wait = time.Until(h.until); wait <= 0 {
			return false
		}
	}
	return h.answer.hold(wait, h.http10)
}

// begun reads a stream until it says anything, and reports whether that is an answer. One that is slow or talks of other things
// first is taken for one.
func (h *holding) begun() bool {
	read := 0
	var kind []byte
	if h.more() {
		h.content = sse.TrimMark(h.content)
	}
	for {
		f, rest, whole := sse.Next(h.content[read:])
		if !whole {
			if h.more() {
				continue
			}
			return !h.answer.complete() || len(rest) > 0
		}
		read = len(h.content) - len(rest)
		switch name := string(f.Name); {
		case f.Comment(): // it keeps the client waiting: it must go on
			return true
		case name == "event":
			kind = bytes.TrimSpace(f.Value)
		case name == "data" && h.dialect.Fails(kind, f.Value):
			for h.more() && !h.answer.complete() {
			}
			return false
		case name == "data" && h.dialect.Begins(kind, f.Value):
			return true
		}
	}
}
