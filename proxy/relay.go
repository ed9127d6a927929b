package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"epitome/event"
	"epitome/proxy/wire"
)

// relay passes the answer on, and reads its usage.
func (x *exchange) relay(a *wire.Answer) error {
	x.event.FirstByte = time.Since(x.event.Start)
	x.event.Status = a.Code
	x.begun = true // from here on no other answer can be sent
	switch a.Code {
	case 101:
		return x.tunnel(a)
	case 404:
		x.event.Err = whyNotFound(x.target)
	}
	defer a.End()
	x.endsByClose = !a.Empty && (a.Length == wire.UntilClose || a.Length == wire.ChunkedLength && x.reply.HTTP10)
	x.reply.Close = x.reply.Close || x.endsByClose || x.proxy.Stopping()
	err := x.copyAnswer(a)
	x.readUsage(a, err != nil)
	x.noteMaker(a)
	return err
}

// copyAnswer writes the head of an answer together with the part of its body that is there, and then the rest as it
// comes. The end of life means that the client has left.
func (x *exchange) copyAnswer(a *wire.Answer) (err error) {
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
		out, err = a.Next()
		switch {
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
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &wire.Failure{Fault: event.ClientSlow, Err: fmt.Errorf("the client read nothing for too long: %w", err)}
	}
	if err != nil {
		return &wire.Failure{Fault: event.ClientGone, Err: err}
	}
	return nil
}

// tunnel passes the 101 on and then bytes both ways, until one side ends, or both are silent for read_idle. It runs
// behind the handler, on the goroutine that fasthttp gives a hijacked connection: the exchange ends there.
func (x *exchange) tunnel(a *wire.Answer) error {
	if err := x.write(a.AppendTo(nil, x.reply)); err != nil {
		a.End()
		return err
	}
	x.client.Unwatch()
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(client net.Conn) {
		defer x.end()
		defer a.End()
		down, err := wire.RunTunnel(client, x.client, a)
		x.event.ResponseBytes = down
		if err != nil || x.life.Err() != nil {
			x.err = &wire.Failure{Fault: event.Truncated, Err: cmp.Or(err, context.Cause(x.life))}
		}
	})
	return nil
}
