package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/wire"
)

// relay passes the answer on, piece by piece as it comes, and reads its usage.
func (x *exchange) relay(a *wire.Answer) error {
	defer func() {
		x.call.OnCut(nil)
		a.End()
	}()
	x.event.Status = a.Code
	x.endsByClose = !a.Empty && (a.Length == wire.UntilClose || a.Length == wire.ChunkedLength && x.reply.HTTP10)
	x.reply.Close = x.reply.Close || x.endsByClose || x.proxy.Stopping()
	err := x.relayHead(a)
	if err == nil {
		err = x.relayRest(a)
	}
	x.readUsage(a, err != nil)
	return err
}

// relayHead passes the head on, in one write with the part of the body that is there.
func (x *exchange) relayHead(a *wire.Answer) error {
	out := a.AppendTo(make([]byte, 0, 4<<10), x.reply)
	headBytes := len(out)
	if a.IsReady() {
		piece, _ := a.Next() // returns the error again
		out = append(out, piece...)
	}
	if err := x.write(out); err != nil {
		return err
	}
	x.event.ResponseBytes = int64(len(out) - headBytes)
	return nil
}

// relayRest passes the rest of the body on. A call that is cut means that the client has left.
func (x *exchange) relayRest(a *wire.Answer) error {
	for {
		piece, err := a.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil && x.call.IsCut():
			return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
		case err != nil:
			return &wire.Failure{Fault: event.Truncated, Err: err}
		}
		if err := x.write(piece); err != nil {
			return err
		}
		x.event.ResponseBytes += int64(len(piece))
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
		return &wire.Failure{Fault: event.ClientSlow, Err: fmt.Errorf("the client took nothing for too long: %w", err)}
	}
	return &wire.Failure{Fault: event.ClientGone, Err: err}
}

// clientOf is the connection that a request came over.
func clientOf(ctx *fasthttp.RequestCtx) *wire.Client {
	c, ok := ctx.Conn().(*wire.Client)
	if !ok {
		panic("BUG: a connection came from a listener that is not the proxy's")
	}
	return c
}

// letGo hands the connection back to fasthttp, which writes an empty answer that the connection drops: ours has been
// written already. The empty body stream makes it exactly one write.
func (x *exchange) letGo() {
	if x.ctx.Hijacked() {
		return
	}
	x.client.SkipNextWrite()
	x.ctx.Response.ImmediateHeaderFlush = true
	x.ctx.SetBodyStream(noBody{}, 0)
	if x.reply.Close {
		x.ctx.SetConnectionClose()
	}
}

type noBody struct{}

func (noBody) Read([]byte) (int, error) { return 0, io.EOF }

// refusesUpgrade reports whether the path is one whose clients go on over plain HTTP when they are refused a
// WebSocket: there, requests and answers stay visible one by one.
func refusesUpgrade(target []byte) bool {
	path, _, _ := bytes.Cut(target, []byte("?"))
	return bytes.HasSuffix(path, []byte("/responses"))
}

// tunnel passes the 101 on and then bytes both ways, until one side breaks off, both have ended, or both are silent
// for read_idle. It runs behind the handler, on the goroutine that fasthttp gives a hijacked connection: the
// exchange ends there.
func (x *exchange) tunnel(a *wire.Answer) error {
	x.event.Status = a.Code
	if err := x.write(a.AppendTo(nil, x.reply)); err != nil {
		a.Drop()
		return err
	}
	x.tunnelled = true
	x.client.BeginTunnel()
	x.client.Unwatch()
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(client net.Conn) {
		defer x.end()
		defer a.Drop()
		moved, err := wire.RunTunnel(client, x.client, a)
		x.event.ResponseBytes = moved
		switch {
		case x.call.IsCut():
			x.err = &wire.Failure{Fault: event.Truncated, Err: errors.New("the tunnel was cut at shutdown")}
		case err != nil:
			x.err = &wire.Failure{Fault: event.Truncated, Err: err}
		}
	})
	return nil
}
