package proxy

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// reply is the answer to a question of epitome's own, read by whoever asked. It gives its connection back as soon as the
// answer is at its end, and drops it when its life ends before.
type reply struct {
	most   int64           // bytes that may come out of a content coding
	ended  func(*reply)    // called once, when the reply is released
	life   context.Context // ends with the asker's context, by Close, and when the proxy is cut
	cancel context.CancelCauseFunc
	call   call
	stop   func() bool // of what waits for the life's end

	mu     sync.Mutex // held by whoever sends or reads; guards all below
	answer *answer    // nil before there is one, and once its connection has been given away
	over   bool       // the reply has been released
	err    error      // why nothing more comes
	piece  []byte     // of the answer, in the connection's buffer
	coding string     // content coding
	plain  io.Reader  // the body without it; nil before the first Read
}

// newReply makes a reply, whose life ends with ctx. At most most bytes come out of its content coding. ended is called once,
// when all is given back that ask has taken.
func newReply(ctx context.Context, most int64, ended func(*reply)) *reply {
	r := &reply{most: most, ended: ended}
	r.life, r.cancel = context.WithCancelCause(ctx)
	return r
}

// ask sends the question over one of the pool's connections and reads the answer's head. From here on the end of the
// reply's life ends everything.
func (r *reply) ask(p *pool, out outgoing) (*answerHead, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = context.AfterFunc(r.life, r.abort)
	if r.life.Err() != nil {
		r.release(context.Cause(r.life))
		return nil, r.err
	}
	a, err := r.call.do(p, out)
	if err != nil {
		if r.life.Err() != nil {
			err = context.Cause(r.life)
		}
		r.release(err)
		return nil, err
	}
	r.answer, r.coding = a, string(values(a.block, "content-encoding"))
	if a.complete() {
		r.release(io.EOF)
	}
	return a.answerHead, nil
}

// end ends the reply's life; what waits for it then fails with the cause.
func (r *reply) end(cause error) { r.cancel(cause) }

// Read waits for the next bytes, at most read_idle.
func (r *reply) Read(p []byte) (int, error) {
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

func (r *reply) read(p []byte) (int, error) {
	if r.plain == nil {
		// Unlike a client's body, this one takes no place among those that are decoded: it may come for minutes.
		plain, err := decoder(r.coding, wire{r}, r.most)
		if err != nil {
			return 0, err
		}
		r.plain = plain
	}
	return r.plain.Read(p)
}

// Close ends the answer wherever it is, a Read that waits for it too.
func (r *reply) Close() error {
	r.cancel(os.ErrClosed)
	r.abort()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = os.ErrClosed // also where a decoder still holds what has come
	return nil
}

// abort is called when the life has ended.
func (r *reply) abort() {
	r.call.cut() // whoever holds the lock waits no longer
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release(context.Cause(r.life))
}

// release gives everything back, once.
func (r *reply) release(why error) {
	if r.over {
		return
	}
	r.over, r.err, r.piece = true, why, nil
	r.stop() // or the cancel below would start it
	if r.answer != nil {
		r.call.onCut(nil)
		if r.call.isCut() {
			r.answer.drop()
		} else {
			r.answer.end()
		}
		r.answer = nil
	}
	r.ended(r)
	r.cancel(why)
}

// wire is the body of a reply as it comes, without chunks. Its reply's lock is held.
type wire struct{ *reply }

func (w wire) Read(p []byte) (int, error) {
	for len(w.piece) == 0 {
		if w.err != nil {
			w.release(w.err)
			return 0, w.err
		}
		w.piece, w.err = w.next()
	}
	n := copy(p, w.piece)
	if w.piece = w.piece[n:]; len(w.piece) == 0 && w.err == nil && w.answer.complete() {
		w.release(io.EOF)
	}
	return n, nil
}

// next waits for a piece; with it may come why it is the last one.
func (w wire) next() ([]byte, error) {
	if w.life.Err() != nil {
		return nil, context.Cause(w.life)
	}
	if w.answer.complete() {
		return nil, io.EOF
	}
	err := w.answer.fill()
	switch {
	case err == nil:
		return w.answer.ready(true)
	case w.life.Err() != nil:
		return nil, context.Cause(w.life)
	case err == io.EOF: // where that is the answer's end
		return nil, io.EOF
	}
	return nil, fmt.Errorf("cannot read the answer to its end: %w", err)
}
