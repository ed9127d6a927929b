package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"epitome/event"
	"epitome/proxy/wire"
)

// relay passes the answer on and reads its usage: the head together with the part of the body that is there, and then
// the rest as it comes. The end of life means that the client has left.
func (x *exchange) relay(a *wire.Answer) (err error) {
	defer a.End()
	defer func() { x.readUsage(a, err != nil) }()
	x.event.Status = a.Code
	x.endsByClose = !a.Empty && (a.Length == wire.UntilClose || a.Length == wire.ChunkedLength && x.reply.HTTP10)
	x.reply.Close = x.reply.Close || x.endsByClose || x.proxy.Stopping()
	var piece []byte
	if a.IsReady() {
		piece, _ = a.Next() // returns the error again
	}
	out := a.AppendTo(make([]byte, 0, len(a.Block)+len(x.reply.Extra)+len(piece)+128), x.reply)
	sent := -len(out) // bytes of the body
	out = append(out, piece...)
	for {
		if err := x.write(out); err != nil {
			return err
		}
		sent += len(out)
		x.event.ResponseBytes = int64(sent)
		switch out, err = a.Next(); {
		case err == io.EOF:
			return nil
		case err != nil && x.life.Err() != nil:
			return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
		case err != nil:
			return &wire.Failure{Fault: event.Truncated, Err: err}
		}
	}
}

// write puts b on the client's connection. A client that is gone or takes nothing ends the exchange.
func (x *exchange) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := x.client.Write(b)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &wire.Failure{Fault: event.ClientSlow, Err: fmt.Errorf("the client read nothing for too long: %w", err)}
	}
	return &wire.Failure{Fault: event.ClientGone, Err: err}
}

// letGo hands the connection back to fasthttp, which writes an empty answer that the connection drops: ours has been
// written already. The empty body stream makes it exactly one write.
func (x *exchange) letGo() {
	if x.ctx.Hijacked() {
		return
	}
	x.client.Answered = true
	x.ctx.Response.ImmediateHeaderFlush = true
	x.ctx.SetBodyStream(http.NoBody, 0)
	if x.reply.Close {
		x.ctx.SetConnectionClose()
	}
}

// tunnel passes the 101 on and then bytes both ways, until one side ends, or both are silent for read_idle. It runs
// behind the handler, on the goroutine that fasthttp gives a hijacked connection: the exchange ends there.
func (x *exchange) tunnel(a *wire.Answer) error {
	x.event.Status = a.Code
	if err := x.write(a.AppendTo(nil, x.reply)); err != nil {
		a.End()
		return err
	}
	x.client.Unwatch()
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(client net.Conn) {
		defer x.end()
		defer a.End()
		var err error
		if x.event.ResponseBytes, err = wire.RunTunnel(client, x.client, a); err != nil || x.life.Err() != nil {
			x.err = &wire.Failure{Fault: event.Truncated, Err: cmp.Or(err, context.Cause(x.life))}
		}
	})
	return nil
}
