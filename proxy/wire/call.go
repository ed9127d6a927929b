// Package wire is HTTP/1.1 as a transparent proxy needs it: heads, bodies in chunks and in content codings, the
// connections of clients, those to upstreams, and tunnels.
//
// It passes on what it reads to the byte, never takes a cut answer for a complete one, and refuses what could be read
// in two ways. Every wait has a deadline, and ends at once with the context of a call or when a Client is cut.
package wire

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"epitome/event"
)

// Failure says why no answer came, or not the whole one: whose fault it is, and the error.
type Failure struct {
	Fault event.Fault
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// ErrGone is the error of everything that ends because the client has left.
var ErrGone = errors.New("the client closed its connection")

// Do sends the request and reads the head of its answer. It sends the request a second time only if not a byte of it
// can have arrived: over a connection that had been used before and took nothing. The end of ctx closes the connection
// until the answer's End, wherever the call is. The error is a *Failure, or one of out.Interim.
func (p *Pool) Do(ctx context.Context, out Request) (*Answer, error) {
	head := p.head(&out)
	for {
		conn, err := p.take(ctx)
		if err != nil {
			return nil, failure(ctx, event.Unreachable, err)
		}
		a := &Answer{conn: conn, stop: context.AfterFunc(ctx, conn.cut), readIdle: out.ReadIdle, dechunk: out.Dechunk}
		n, sendErr := conn.send(head, out.Body)
		if sendErr != nil && n == 0 && conn.reused && ctx.Err() == nil {
			a.stop()
			conn.cut()
			continue
		}
		if err := a.readHead(ctx, &out, sendErr); err != nil {
			a.stop()
			conn.cut()
			return nil, err
		}
		return a, nil
	}
}

// failure returns why a call failed: the end of its context, or the given error.
func failure(ctx context.Context, fault event.Fault, err error) *Failure {
	if ctx.Err() != nil {
		return &Failure{event.ClientGone, context.Cause(ctx)}
	}
	return &Failure{fault, err}
}

const (
	earlyAnswer = time.Second // for an upstream that stopped reading a request, to say why
	maxInterim  = 16          // heads before the answer's own
)

// readHead reads the answer's head, and hands on those that come before it. sendErr is why the request was not taken
// whole; nil if it was.
func (a *Answer) readHead(ctx context.Context, out *Request, sendErr error) error {
	wait := out.FirstByte
	if sendErr != nil {
		wait = earlyAnswer
	}
	for range maxInterim {
		_ = a.conn.SetReadDeadline(time.Now().Add(wait))
		head, err := readHead(a.conn.reader)
		if err != nil {
			fault := event.Broken
			if sendErr == nil && errors.Is(err, os.ErrDeadlineExceeded) {
				fault = event.Timeout
			}
			return failure(ctx, fault, cmp.Or(sendErr, err))
		}
		if head.Code == 101 && !out.Upgrade {
			return failure(ctx, event.Broken, errors.New("the upstream switched protocols without being asked"))
		}
		if head.Code >= 200 || head.Code == 101 {
			a.Head = head
			a.closing = a.closing || sendErr != nil || a.Code == 101
			isToHead := string(out.Method) == "HEAD"
			a.Empty = isToHead || a.Code < 200 || a.Code == 204 || a.Code == 304 // whatever the header lines say
			a.remaining = a.Length
			return nil
		}
		if out.Interim == nil {
			continue
		}
		if err := out.Interim(head); err != nil {
			return err
		}
	}
	return failure(ctx, event.Broken, errors.New("the upstream sent one interim answer after another"))
}
