// Package peek reads the beginning of an answer before it is passed on.
//
// It promises that what it has read stays with the answer, to be passed on to the byte, and that it reads no more, and
// for no longer, than it takes to know whether the answer refuses its request, within bounds.
package peek

import (
	"bytes"
	"io"
	"time"

	"epitome/proxy/wire"
	"epitome/sse"
	"epitome/window"
)

// Dialect tells how a stream begins, and how it fails.
type Dialect interface {
	// Begins reports whether an event of a streamed answer is more than the frame of one. kind is what the stream calls
	// the event; empty if it has no name.
	Begins(kind, data []byte) bool
	// Fails reports whether an event of a streamed answer tells of an error, or of an end before anything was said.
	Fails(kind, data []byte) bool
	// Holds is for how long the frame of a stream that does not begin may be held.
	Holds() time.Duration
}

// What is held of an answer until it is known whether it refuses its request.
const (
	mostOfStream = 1 << 20   // bytes; frames may repeat all settings of the request, tools too
	mostOfError  = 256 << 10 // bytes; what comes behind that is passed on as it comes
	mostOfSmall  = 64 << 10  // bytes of an answer that is no stream, and may be an error all the same
	errorFor     = 10 * time.Second
)

// holding reads the beginning of an answer, which stays with the answer to be passed on.
type holding struct {
	answer  *wire.Answer
	dialect Dialect
	http10  bool
	most    int
	until   time.Time // zero is for as long as it takes
	content []byte    // without framing
	framed  bool      // what is held has framing, or so it must be taken
}

// At reads of an answer what may tell that it refuses its request: an error whole, a stream up to its first content,
// and any other answer if it is small. What it says is returned without framing and coding; nothing if it has begun to
// answer. hear gets all that is read. http10 says that the client knows no chunks.
func At(a *wire.Answer, d Dialect, http10 bool, hear func(run []byte)) (said []byte) {
	h := &holding{answer: a, dialect: d, http10: http10, most: mostOfError, framed: true}
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
func (h *holding) more() bool {
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
func (h *holding) begun() bool {
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
		case name == "data" && h.dialect.Fails(kind, f.Value):
			for h.more() && !h.answer.IsComplete() {
			}
			return false
		case name == "data" && h.dialect.Begins(kind, f.Value):
			return true
		}
	}
}
