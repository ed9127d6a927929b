package wire

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// Reply is the answer to a question of epitome's own, read by whoever asked. It gives its connection back as soon as
// the answer is at its end, and drops it when its life ends before.
type Reply struct {
	most   int64           // bytes that may come out of a content coding
	ended  func(*Reply)    // called once, when the reply is released
	life   context.Context // ends with the asker's context, by Close, and when the proxy is cut
	cancel context.CancelCauseFunc
	call   Call
	stop   func() bool // of what waits for the life's end

	mu     sync.Mutex // held by whoever sends or reads; guards all below
	answer *Answer    // nil before there is one, and once its connection has been given away
	over   bool       // the reply has been released
	err    error      // why nothing more comes
	piece  []byte     // of the answer, in the connection's buffer
	coding string     // content coding
	plain  io.Reader  // the body without it; nil before the first Read
}

// NewReply makes a reply, whose life ends with ctx. At most most bytes come out of its content coding. ended is
// called once, when all is given back that Ask has taken.
func NewReply(ctx context.Context, most int64, ended func(*Reply)) *Reply {
	r := &Reply{most: most, ended: ended}
	r.life, r.cancel = context.WithCancelCause(ctx)
	return r
}

// Ask sends the question over one of the pool's connections and reads the answer's head. From here on the end of the
// reply's life ends everything.
func (r *Reply) Ask(p *Pool, out Request) (*Head, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = context.AfterFunc(r.life, r.abort)
	if r.life.Err() != nil {
		r.release(context.Cause(r.life))
		return nil, r.err
	}
	a, err := r.call.Do(p, out)
	if err != nil {
		if r.life.Err() != nil {
			err = context.Cause(r.life)
		}
		r.release(err)
		return nil, err
	}
	r.answer, r.coding = a, string(Values(a.Block, "content-encoding"))
	if a.IsComplete() {
		r.release(io.EOF)
	}
	return a.Head, nil
}

// End ends the reply's life; what waits for it then fails with the cause.
func (r *Reply) End(cause error) { r.cancel(cause) }

// Read waits for the next bytes, at most read_idle.
func (r *Reply) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over && r.err != io.EOF {
		return 0, r.err
	}
	n, err := r.read(p)
	if err != nil {
		r.release(err)
		r.err = err // the wire may have come to its end before
	}
	return n, err
}

// read is Read, with the lock held.
func (r *Reply) read(p []byte) (int, error) {
	if r.plain == nil {
		// Unlike a client's body, this one takes no place among those that are decoded: it may come for minutes.
		plain, err := NewDecoder(r.coding, encoded{r}, r.most)
		if err != nil {
			return 0, err
		}
		r.plain = plain
	}
	return r.plain.Read(p)
}

// Close ends the answer wherever it is, a Read that waits for it too.
func (r *Reply) Close() error {
	r.cancel(os.ErrClosed)
	r.abort()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = os.ErrClosed // also where a decoder still holds what has come
	return nil
}

// abort is called when the life has ended.
func (r *Reply) abort() {
	r.call.Cut() // whoever holds the lock waits no longer
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release(context.Cause(r.life))
}

// release gives everything back, once.
func (r *Reply) release(why error) {
	if r.over {
		return
	}
	r.over, r.err, r.piece = true, why, nil
	r.stop() // or the cancel below would start it
	if r.answer != nil {
		r.call.OnCut(nil)
		if r.call.IsCut() {
			r.answer.Drop()
		} else {
			r.answer.End()
		}
		r.answer = nil
	}
	r.ended(r)
	r.cancel(why)
}

// encoded is the body of a reply as it comes, without chunks. Its reply's lock is held.
type encoded struct{ *Reply }

func (w encoded) Read(p []byte) (int, error) {
	for len(w.piece) == 0 {
		if w.err != nil {
			w.release(w.err)
			return 0, w.err
		}
		w.piece, w.err = w.next()
	}
	n := copy(p, w.piece)
	if w.piece = w.piece[n:]; len(w.piece) == 0 && w.err == nil && w.answer.IsComplete() {
		w.release(io.EOF)
	}
	return n, nil
}

// next waits for a piece; with it may come why it is the last one.
func (w encoded) next() ([]byte, error) {
	if w.life.Err() != nil {
		return nil, context.Cause(w.life)
	}
	if w.answer.IsComplete() {
		return nil, io.EOF
	}
	err := w.answer.Wait()
	switch {
	case err == nil:
		return w.answer.Take(true)
	case w.life.Err() != nil:
		return nil, context.Cause(w.life)
	case err == io.EOF: // where that is the answer's end
		return nil, io.EOF
	}
	return nil, fmt.Errorf("cannot read the answer to its end: %w", err)
}
