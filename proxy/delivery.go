package proxy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/wire"
)

// delivery is the client of an exchange, and how its answer gets there.
type delivery struct {
	client      *wire.Client
	to          wire.ClientSide
	own         bool // epitome itself answers
	modeless    bool // the request's own mode is none: it is refused
	begun       bool // bytes of an answer have gone to the client
	parted      bool // a tunnel has taken the exchange over and ends it
	endsByClose bool // the client takes the connection's end for the answer's
}

// clientOf is the connection that a request came over.
func clientOf(ctx *fasthttp.RequestCtx) *wire.Client {
	c, ok := ctx.Conn().(*wire.Client)
	if !ok {
		panic("BUG: a connection came from a listener that is not the proxy's")
	}
	return c
}

// frame says how the client learns where an answer's body ends.
func (d *delivery) frame(a *wire.Answer) {
	d.endsByClose = !a.Empty && (a.Length == wire.UntilClose || a.Length == wire.ChunkedLength && d.to.HTTP10)
	d.to.Close = d.to.Close || d.endsByClose
}

// heads are the buffers in which an answer's head, and what of its body is there with it, go out in one write.
var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// relayHead passes the head on, in one write with what of the body is there. Its buffer is not kept while the rest
// streams. sent counts the bytes of the body.
func (d *delivery) relayHead(a *wire.Answer, sent *int64) error {
	buf := heads.Get().(*[]byte)
	defer heads.Put(buf)
	*buf = a.AppendTo((*buf)[:0], d.to)
	held, bad := a.TakeHeld()
	headBytes := len(*buf)
	pending := append(*buf, held...)
	*buf = pending
	if bad == nil && !a.IsComplete() && a.Buffered() > 0 {
		first, err := a.Take(d.to.HTTP10)
		pending = append(pending, first...)
		*buf = pending
		if err != nil {
			d.begun = false
			return &wire.Failure{Fault: event.Broken, Err: err}
		}
	}
	if err := d.write(pending); err != nil {
		return err
	}
	*sent = int64(len(pending) - headBytes)
	if bad != nil {
		return &wire.Failure{Fault: event.Truncated, Err: bad}
	}
	return nil
}

// relayRest passes the rest of the body on, piece by piece as it comes. A call that is cut means that
// the client has left. sent counts the bytes of the body.
func (d *delivery) relayRest(a *wire.Answer, call *wire.Call, sent *int64) error {
	for !a.IsComplete() {
		switch err := a.Wait(); {
		case err == io.EOF:
			return nil
		case err != nil && call.IsCut():
			return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
		case err != nil:
			return &wire.Failure{Fault: event.Truncated, Err: err}
		}
		piece, bad := a.Take(d.to.HTTP10)
		if err := d.write(piece); err != nil {
			return err
		}
		*sent += int64(len(piece))
		if bad != nil {
			return &wire.Failure{Fault: event.Truncated, Err: bad}
		}
	}
	return nil
}

// write puts b on the client's connection. A client that is gone or takes nothing ends the exchange.
func (d *delivery) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := d.client.Write(b)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &wire.Failure{Fault: event.ClientSlow, Err: fmt.Errorf("the client took nothing for too long: %w", err)}
	}
	return &wire.Failure{Fault: event.ClientGone, Err: err}
}

// letGo hands the connection back to fasthttp, which writes an empty answer that the connection drops: ours has
// been written already. The empty body stream makes it exactly one write.
func (d *delivery) letGo(ctx *fasthttp.RequestCtx) {
	if ctx.Hijacked() {
		return
	}
	d.client.SkipNextWrite()
	ctx.Response.ImmediateHeaderFlush = true
	ctx.SetBodyStream(noBody{}, 0)
	if d.to.Close {
		ctx.SetConnectionClose()
	}
}

type noBody struct{}

func (noBody) Read([]byte) (int, error) { return 0, io.EOF }

// sayAction puts what was done into the answer's head.
func (d *delivery) sayAction(e *event.Exchange) {
	s := &e.Shaping
	d.to.Extra = wire.AppendField(make([]byte, 0, 128), []byte("x-epitome-action"), e.Action)
	if tokens := s.Totals(); tokens != "" {
		d.to.Extra = wire.AppendField(d.to.Extra, []byte("x-epitome-tokens"), tokens)
	}
	if s.Conversation != "" {
		d.to.Extra = wire.AppendField(d.to.Extra, []byte("x-epitome-conversation"), s.Conversation)
	}
}
