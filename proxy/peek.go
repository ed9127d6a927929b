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

// How much of an answer is held back until it is known whether it refuses its request.
const (
	mostOfStream = 1 << 20   // bytes; frames may repeat all settings of the request, tools too
	mostOfError  = 256 << 10 // bytes; the rest is passed on as it comes
	mostOfSmall  = 64 << 10  // bytes of an answer that is no stream, and may be an error all the same
	errorFor     = 10 * time.Second
)

// peeked reads the beginning of an answer, which stays with the answer to be passed on.
type peeked struct {
	answer  *wire.Answer
	dialect Dialect
	most    int // bytes to hold
	until   time.Time
	content []byte // without framing
}

// peekAt reads as much of an answer as may tell that it refuses its request: an error whole, a stream up to its first
// word, and any other answer if it is small. It returns that without framing and coding; nil if the answer has begun to
// answer.
func peekAt(a *wire.Answer, d Dialect) (said []byte) {
	h := &peeked{answer: a, dialect: d, most: mostOfError}
	coding := wire.Values(a.Block, "content-encoding")
	hears := a.Hears
	defer func() { a.Hears = hears }()
	a.Hears = func(run []byte) {
		h.content = append(h.content, run...)
		hears(run)
	}
	switch {
	case a.Code < 200 || a.Empty || !window.MayRefuse(a.Code):
		return nil
	case a.Code >= 300:
		h.until = time.Now().Add(errorFor)
		h.readAll()
	case wire.IsEncoded(coding):
		return nil
	case isOfType(a, eventStream):
		h.most, h.until = mostOfStream, time.Now().Add(d.Holds())
		if h.begins() {
			return nil
		}
	case a.Length >= 0 && a.Length <= mostOfSmall:
		h.until = time.Now().Add(a.ReadIdle)
		h.readAll()
	default:
		return nil
	}
	if !wire.IsEncoded(coding) {
		return h.content
	}
	plain, err := wire.NewDecoder(string(coding), bytes.NewReader(h.content), mostOfError)
	if err != nil {
		return nil
	}
	defer func() { _ = plain.Close() }()
	said, _ = io.ReadAll(plain) // a part of it may tell enough
	return said
}

// readAll reads to the end of the answer, as far as may be.
func (h *peeked) readAll() {
	for h.more() {
	}
}

// more reads a piece, and reports whether there may be another one. An error is met again when the answer is passed on.
func (h *peeked) more() bool {
	wait := time.Until(h.until)
	return h.answer.Held() < h.most && wait > 0 && h.answer.Hold(wait)
}

// begins reads a stream until it says anything, and reports whether that is an answer. One that is slow, or that shows
// no known event first, is taken for one.
func (h *peeked) begins() bool {
	var kind []byte
	if h.more() {
		h.content = sse.TrimMark(h.content)
	}
	for read := 0; ; {
		f, rest, whole := sse.Next(h.content[read:])
		if !whole {
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
				h.readAll()
				return false
			}
		}
	}
}
