package wire

import (
	"io"
	"time"
)

// RunTunnel moves bytes both ways between a client and the upstream whose answer switched protocols, until one side
// ends, or both are silent for the request's ReadIdle. fromClient reads the client's connection after the bytes that
// had been read ahead of it. down is how many bytes went to the client; the error is why the side that ended first
// broke off, nil if it ended in order.
func RunTunnel(fromClient io.Reader, c *Client, a *Answer) (down int64, err error) {
	end := func() {
		a.conn.cut()
		_ = c.Close()
	}
	silence := time.AfterFunc(a.readIdle, end)
	defer silence.Stop()
	_ = a.conn.SetDeadline(time.Time{})
	_ = c.SetReadDeadline(time.Time{})
	up := make(chan error, 1)
	go func() {
		_, err := io.Copy(tunnelEnd{a.conn, silence, a.readIdle}, fromClient)
		up <- err
		end()
	}()
	down, err = io.Copy(tunnelEnd{c, silence, a.readIdle}, a.conn.reader)
	select {
	case err = <-up: // the client ended first
	default:
		end()
		<-up
	}
	return down, err
}

// tunnelEnd is one end of a tunnel. Each Write puts off the end of the silence.
type tunnelEnd struct {
	io.Writer
	silence *time.Timer
	idle    time.Duration
}

func (e tunnelEnd) Write(p []byte) (int, error) {
	e.silence.Reset(e.idle)
	return e.Writer.Write(p)
}
