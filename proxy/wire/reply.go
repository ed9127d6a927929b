package wire

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// Ask sends a question of epitome's own and returns when the head of its answer has come. The body is without content
// coding, of at most most bytes. Reading it to its end or Close gives the connection back; Close may be called twice,
// and while a Read waits, which then returns. The end of ctx ends the call, and whatever waits for it fails with the
// cause. ended is called once, when the connection has been given back.
func Ask(ctx context.Context, p *Pool, out Request, most int64, ended func()) (*Head, io.ReadCloser, error) {
	r := &reply{ctx: ctx, ended: ended, most: most}
	r.stop = context.AfterFunc(ctx, r.call.Cut)
	out.Dechunk = true
	var err error
	if r.answer, err = r.call.Do(p, out); err != nil {
		return nil, nil, r.end(err)
	}
	return r.answer.Head, r, nil
}

// reply is the body of an answer to a question of epitome's own.
type reply struct {
	ctx   context.Context
	call  Call
	stop  func() bool // of what waits for the end of ctx
	ended func()
	most  int64

	mu     sync.Mutex // guards all below; a Read holds it while it waits
	answer *Answer
	plain  io.Reader // the body without its content coding; nil before the first Read
	err    error     // why nothing more comes; set when the connection has been given back
}

func (r *reply) Read(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	if r.plain == nil {
		r.plain, err = NewDecoder(string(Values(r.answer.Block, "content-encoding")), r.answer, r.most)
	}
	if err == nil {
		n, err = r.plain.Read(p)
	}
	switch {
	case err == io.EOF:
		err = r.end(err)
	case err != nil:
		err = r.end(fmt.Errorf("cannot read the answer to its end: %w", err))
	}
	return n, err
}

// Close ends the answer wherever it is.
func (r *reply) Close() error {
	r.call.Cut() // a Read that waits returns; a connection that was given back is out of reach
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.end(os.ErrClosed)
	return nil
}

// end gives everything back, once, and returns why nothing more comes: why, or the reason that ctx has ended for.
func (r *reply) end(why error) error {
	first := r.err == nil
	if r.err = why; r.ctx.Err() != nil && why != io.EOF {
		r.err = context.Cause(r.ctx)
	}
	if !first {
		return r.err
	}
	r.stop()
	r.call.OnCut(nil)
	switch {
	case r.answer == nil: // there is no connection
	case r.call.IsCut():
		r.answer.Drop()
	default:
		r.answer.End()
	}
	r.ended()
	return r.err
}
