package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

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
		a.conn.drop()
		return err
	}
	x.parted, x.client.tunnelled = true, true
	x.client.unwatch()
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(client net.Conn) {
		defer x.end()
		defer a.conn.drop()
		x.err = x.pump(client, a)
	})
	return nil
}

// pump moves bytes both ways. client replays what fasthttp had read ahead.
func (x *exchange) pump(client net.Conn, a *answer) error {
	var last atomic.Int64 // when a byte last moved, either way
	last.Store(time.Now().UnixNano())
	idle := a.readIdle
	down := pipe{src: a.conn.reader, from: a.conn, dst: x.client, idle: idle, last: &last}
	up := pipe{src: client, from: x.client.Conn, dst: a.conn, idle: idle, last: &last}
	ended := make(chan error, 1)
	go func() { ended <- up.run() }()
	err := down.run()
	if err != nil {
		_ = x.client.Close()
	}
	upErr := <-ended
	x.event.ResponseBytes = down.moved
	if x.call.isCut() {
		return &failure{event.Truncated, errors.New("the tunnel was cut at shutdown")}
	}
	if err = errors.Join(err, upErr); err != nil {
		return &failure{event.Truncated, err}
	}
	return nil
}

// pipe is one direction of a tunnel.
type pipe struct {
	src   io.Reader
	from  net.Conn // below src, for its deadlines
	dst   net.Conn
	idle  time.Duration
	last  *atomic.Int64
	moved int64
}

// run moves bytes until src ends, and then ends dst's incoming side. Any error closes dst, which ends the other direction.
func (p *pipe) run() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in a tunnel: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			_ = p.dst.Close()
		}
	}()
	buf := make([]byte, 8<<10)
	for {
		_ = p.from.SetReadDeadline(time.Now().Add(p.idle))
		n, err := p.src.Read(buf)
		if n > 0 {
			p.last.Store(time.Now().UnixNano())
			p.moved += int64(n)
			_ = p.dst.SetWriteDeadline(time.Now().Add(p.idle))
			if _, err := p.dst.Write(buf[:n]); err != nil {
				return err
			}
		}
		quiet := time.Since(time.Unix(0, p.last.Load()))
		switch {
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && quiet < p.idle:
		case err == io.EOF:
			return closeWrite(p.dst)
		default:
			return err
		}
	}
}

// closeWrite tells the other end that nothing more will come.
func closeWrite(c net.Conn) error {
	switch t := c.(type) {
	case *clientConn:
		return closeWrite(t.Conn)
	case *upstreamConn:
		return closeWrite(t.Conn)
	case interface{ CloseWrite() error }:
		return t.CloseWrite()
	}
	return c.Close()
}
