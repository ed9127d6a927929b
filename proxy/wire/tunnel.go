package wire

import (
	"errors"
	"io"
	"net"
	"time"
)

// RunTunnel moves bytes both ways between a client and the upstream whose answer switched protocols, until one side
// breaks off, both have ended, or both are silent for the answer's ReadIdle. replayed is the client's connection
// with what had been read ahead of it. down is how many bytes went to the client.
func RunTunnel(replayed net.Conn, c *Client, a *Answer) (down int64, err error) {
	end := func() { a.Cut(); _ = c.Close() }
	silence := time.AfterFunc(a.ReadIdle, end)
	defer silence.Stop()
	move := func(dst net.Conn, src io.Reader) (int64, error) {
		n, err := io.Copy(&tunnelEnd{dst, silence, a.ReadIdle}, src)
		if err == nil {
			err = closeWrite(dst)
		}
		if err != nil {
			end() // the other direction ends, too
		}
		return n, err
	}
	_ = a.conn.SetDeadline(time.Time{})
	_ = c.Conn.SetReadDeadline(time.Time{})
	up := make(chan error, 1)
	go func() {
		_, err := move(a.conn.Conn, replayed)
		up <- err
	}()
	down, err = move(c, a.conn.reader)
	return down, errors.Join(err, <-up)
}

// tunnelEnd puts the end of the silence off with each Write.
type tunnelEnd struct {
	net.Conn
	silence *time.Timer
	idle    time.Duration
}

func (e *tunnelEnd) Write(p []byte) (int, error) {
	e.silence.Reset(e.idle)
	return e.Conn.Write(p)
}

// closeWrite tells the other end that nothing more will come.
func closeWrite(c net.Conn) error {
	if client, ok := c.(*Client); ok {
		c = client.Conn
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
