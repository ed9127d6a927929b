package proxy

import (
	"bytes"
	"errors"
	"net"

	"epitome/event"
)

// upgrade reports whether the request asks to switch protocols.
func (x *exchange) upgrade() bool {
	block := x.ctx.Request.Header.RawHeaders()
	return connectionHas(block, "upgrade") && find(block, "upgrade") != nil
}

// refusesUpgrade reports whether the path is one whose clients go on over plain HTTP when they are refused a
// WebSocket: there, requests and answers stay visible one by one.
func refusesUpgrade(target []byte) bool {
	path, _, _ := bytes.Cut(target, []byte("?"))
	return bytes.HasSuffix(path, []byte("/responses"))
}

// tunnel passes the 101 on and then bytes both ways, until one side breaks off, both have ended, or both are silent
// for read_idle. It runs behind the handler, on the goroutine that fasthttp gives a hijacked connection: the
// exchange ends there.
func (x *exchange) tunnel(a *answer) error {
	x.event.Status = a.code
	if err := x.write(a.appendTo(nil, x.to)); err != nil {
		a.drop()
		return err
	}
	x.parted = true
	x.client.beginTunnel()
	x.client.unwatch()
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(client net.Conn) {
		defer x.end()
		defer a.drop()
		moved, err := pump(client, x.client, a)
		x.event.ResponseBytes = moved
		switch {
		case x.call.isCut():
			x.err = &failure{event.Truncated, errors.New("the tunnel was cut at shutdown")}
		case err != nil:
			x.err = &failure{event.Truncated, err}
		}
	})
	return nil
}
