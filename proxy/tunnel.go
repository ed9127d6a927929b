package proxy

import (
	"bytes"
	"errors"
	"net"

	"epitome/event"
	"epitome/proxy/wire"
)

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
	if err := x.delivery.write(a.AppendTo(nil, x.delivery.to)); err != nil {
		a.Drop()
		return err
	}
	x.delivery.parted = true
	x.delivery.client.BeginTunnel()
	x.delivery.client.Unwatch()
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(client net.Conn) {
		defer x.end()
		defer a.Drop()
		moved, err := wire.RunTunnel(client, x.delivery.client, a)
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
