package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// RunTunnel moves bytes both ways between a client and the upstream whose answer switched protocols, until one side
// breaks off, both have ended, or both are silent for the answer's read_idle. replayed is the client's connection
// with what had been read ahead of it. down is how many bytes went to the client.
func RunTunnel(replayed net.Conn, c *Client, a *Answer) (down int64, err error) {
	var last atomic.Int64 // when a byte last moved, either way
	last.Store(time.Now().UnixNano())
	toClient := pipe{src: a.conn.reader, from: a.conn, dst: c, idle: a.ReadIdle, last: &last}
	toUpstream := pipe{src: replayed, from: c.Conn, dst: a.conn, idle: a.ReadIdle, last: &last}
	ended := make(chan error, 1)
	go func() { ended <- toUpstream.run() }()
	if err = toClient.run(); err != nil {
		_ = c.Close()
	}
	return toClient.moved, errors.Join(err, <-ended)
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

// run moves bytes until src ends, and then ends dst's incoming side. Any error closes dst, which ends the other
// direction.
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
	case *Client:
		return closeWrite(t.Conn)
	case *upstreamConn:
		return closeWrite(t.Conn)
	case interface{ CloseWrite() error }:
		return t.CloseWrite()
	}
	return c.Close()
}
