// Package aside relays an answer of several rounds as one.
//
// It promises one head, one beginning and one end, whatever number of requests was sent; that what a model said in an
// aside is recorded before the client has the end of the answer; that an answer which is none to hear passes with every
// byte of its content; and that one which breaks off, in whatever round, is never completed. It knows no exchange: how
// a round is sent, and whose the client is, are its caller's to know.
package aside

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/aside"
)

// Turn is what becomes of the conversation, as aside.Turn has it.
type Turn interface {
	Hear() aside.Hearing
	Next() (more bool, err error)
	Keep() error
	Alone() bool // the client is to be given the last round, and nothing of those before it
}

// Relay is one answer on its way.
type Relay struct {
	Turn   Turn
	HTTP10 bool // the client knows no chunks
	// Begin gives the client the head, once. empty says that no body follows.
	Begin func(h *wire.Head, empty bool) error
	Write func(b []byte) error // gives it what follows
	Call  *wire.Call           // that ends with the client
	Heard func(a *wire.Answer) // a round has come whole
	Broke func(a *wire.Answer) // a round has not
	// Send sends the conversation as it is now, and returns the answer. What was answered before has ended.
	Send func() (*wire.Answer, error)
	Lost func(err error) // something could not be recorded, and the answer goes on
	// Hold makes room for so many bytes that are held of the answer, all rounds together.
	Hold func(size int) error

	now   *wire.Answer
	heard bool       // now has come whole
	head  *wire.Head // as the client has it; nil if it has none
	kept  bool       // what is to be recorded is
	room  int        // bytes for which Hold has made room
}

// holdStep is by how many bytes the room grows. The first step is every answer's.
const holdStep = 1 << 20

// hold makes room for so many bytes of the answer.
func (r *Relay) hold(size int) error {
	if size <= max(r.room, holdStep) {
		return nil
	}
	r.room = size + holdStep
	if err := r.Hold(r.room); err != nil {
		return &wire.Failure{Fault: event.Truncated, Err: fmt.Errorf("cannot hold more of the answer: %w", err)}
	}
	return nil
}

// Run passes on the answer that begins with a. When it returns, each answer has ended that was sent for.
func (r *Relay) Run(a *wire.Answer) (err error) {
	r.now = a
	defer func() {
		if err != nil && !r.heard {
			r.Broke(r.now)
		}
		r.end()
	}()
	for {
		var more bool
		switch kindOf(r.now) {
		case streamed:
			more, err = r.stream()
		case document:
			more, err = r.document()
		default:
			return r.pass()
		}
		if err != nil || !more {
			return err
		}
		r.end()
		next, err := r.Send()
		if err != nil {
			return err
		}
		r.room = 0 // what is sent has taken its place
		if r.now, r.heard = next, false; r.head != nil && kindOf(next) != streamed {
			why := fmt.Errorf("%w: it does not go on after a call of epitome's tool, and answers %d", wire.ErrTruncated, next.Code)
			return &wire.Failure{Fault: event.Truncated, Err: why}
		}
	}
}

// hears tells that the round has come whole.
func (r *Relay) hears() {
	r.heard = true
	r.Heard(r.now)
}

// end lets go of the answer. Its connection may be another exchange's then, which the client's leaving must not cut.
func (r *Relay) end() {
	if !r.now.IsOver() {
		r.Call.OnCut(nil)
		r.now.End()
	}
}

// How an answer comes.
type kind int

const (
	unheard  kind = iota // it is none to hear
	streamed             // as events
	document             // whole
)

func kindOf(a *wire.Answer) kind {
	typed, coding := wire.Find(a.Block, "content-type"), wire.Values(a.Block, "content-encoding")
	typed, _, _ = bytes.Cut(typed, []byte(";"))
	typed = bytes.ToLower(bytes.TrimSpace(typed))
	switch {
	case a.Code != 200 || a.Empty || len(coding) > 0 && !wire.EqualFold(coding, "identity"):
		return unheard
	case string(typed) == "text/event-stream":
		return streamed
	case string(typed) == "application/json":
		return document
	}
	return unheard
}

// content gives f the body without framing, piece by piece, until it is over.
func (r *Relay) content(f func(piece []byte) error) error {
	held, bad := r.now.TakeHeld()
	if len(held) > 0 {
		if err := f(held); err != nil {
			return err
		}
	}
	for bad == nil && !r.now.IsComplete() {
		switch err := r.now.Wait(); {
		case err == io.EOF:
			return nil
		case err != nil && r.Call.IsCut():
			return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
		case err != nil:
			return &wire.Failure{Fault: event.Truncated, Err: err}
		}
		var piece []byte
		piece, bad = r.now.Take(true)
		if err := f(piece); err != nil {
			return err
		}
	}
	if bad != nil {
		return &wire.Failure{Fault: event.Truncated, Err: bad}
	}
	return nil
}

// begin gives the client the head, unless it has one. length is that of the body as it gets it.
func (r *Relay) begin(length int64) error {
	if r.head != nil {
		return nil
	}
	r.head = framed(r.now.Head, length)
	return r.Begin(r.head, r.now.Empty)
}

// framed is a head of a body with that length.
func framed(h *wire.Head, length int64) *wire.Head {
	own := *h
	if own.Length == length {
		return &own
	}
	own.Block, own.Length = nil, length
	for l := wire.LinesOf(h.Block); l.Next(); {
		if !l.Is("content-length") && !l.Is("transfer-encoding") {
			own.Block = l.AppendTo(own.Block)
		}
	}
	if length == wire.ChunkedLength {
		own.Block = wire.AppendField(own.Block, []byte("Transfer-Encoding"), "chunked")
	} else {
		own.Block = wire.AppendField(own.Block, []byte("Content-Length"), strconv.FormatInt(length, 10))
	}
	return &own
}

// give gives the client a piece of the body.
func (r *Relay) give(piece []byte) error {
	if len(piece) == 0 || r.head.Length != wire.ChunkedLength || r.HTTP10 {
		return r.Write(piece)
	}
	out := strconv.AppendInt(make([]byte, 0, len(piece)+16), int64(len(piece)), 16)
	out = append(append(append(out, "\r\n"...), piece...), "\r\n"...)
	return r.Write(out)
}

// finish gives it the end.
func (r *Relay) finish() error {
	if r.head.Length == wire.ChunkedLength && !r.HTTP10 {
		return r.Write([]byte("0\r\n\r\n"))
	}
	return nil
}

// pass passes on an answer that is none to hear.
func (r *Relay) pass() error {
	if err := r.begin(r.now.Length); err != nil || r.now.Empty {
		return err
	}
	if err := r.content(r.give); err != nil {
		return err
	}
	r.hears()
	return r.finish()
}

// keep has the answer recorded, once.
func (r *Relay) keep() {
	if r.kept {
		return
	}
	r.kept = true
	if err := r.Turn.Keep(); err != nil {
		r.Lost(err)
	}
}

// mostDocument is the largest answer in bytes that is read whole. A larger one passes as it is, and so does one for
// which there is no room.
const mostDocument = 16 << 20

var errLarge = errors.New("the answer is too large to be read")

// document reads an answer that is no stream. more says that another round follows.
func (r *Relay) document() (more bool, err error) {
	h := r.Turn.Hear()
	var all []byte
	err = r.content(func(piece []byte) error {
		if all = append(all, piece...); len(all) > mostDocument || r.hold(h.Size()+len(all)) != nil {
			return errLarge
		}
		return nil
	})
	if err != nil { // what has come goes on, and the rest if there is one
		return false, r.passFrom(all, err)
	}
	give := h.Document(all)
	r.hears()
	if more, err = r.Turn.Next(); err != nil || more {
		return more, err
	}
	r.keep()
	length := int64(len(give))
	if bytes.Equal(give, all) {
		length = r.now.Length
	}
	if err = r.begin(length); err == nil {
		err = r.give(give)
	}
	if err == nil {
		err = r.finish()
	}
	return false, err
}

// passFrom passes on what has come of an answer, and what follows unless it failed.
func (r *Relay) passFrom(come []byte, failed error) error {
	if err := r.begin(r.now.Length); err != nil {
		return err
	}
	if err := r.give(come); err != nil {
		return err
	}
	if !errors.Is(failed, errLarge) {
		return failed
	}
	if err := r.content(r.give); err != nil {
		return err
	}
	r.hears()
	return r.finish()
}

// Plainly is a request's header lines with no content coding asked for: what is coded cannot be heard as it comes.
func Plainly(block []byte) (plain []byte) {
	for l := wire.LinesOf(block); l.Next(); {
		if l.Is("accept-encoding") && !bytes.Equal(l.Value, []byte("identity")) {
			plain = wire.AppendField(plain, l.Name, "identity")
			continue
		}
		plain = l.AppendTo(plain)
	}
	return plain
}
