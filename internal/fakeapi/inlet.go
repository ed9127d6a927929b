package fakeapi

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// Bytes of a connection that may wait in memory before anyone asks for them.
const (
	roomForHead = 4 << 10
	roomForBody = 64 << 10
)

// errEnded is what a reader of an inlet gets once this side has closed.
var errEnded = errors.New("this side has closed")

// inlet reads ahead on one connection, as far as it has room, and so notices
// when the peer leaves. pump runs in a goroutine of its own; everything else is
// called by the one goroutine that serves the connection, except end.
type inlet struct {
	gone    chan struct{} // closed once the peer's leaving has been seen
	tell    func(error)   // told of the leaving, with no lock held
	telling sync.Once     // for tell; whoever comes second waits until it is told

	mu     sync.Mutex // guards what follows
	moved  *sync.Cond // buf, room or one of the flags below changed
	buf    []byte     // arrived and not yet taken
	room   int        // pump reads while buf is shorter
	drop   bool       // what arrives is thrown away
	eager  bool       // tell at once, even while buf holds bytes nobody has taken
	silent bool       // the peer's leaving is not worth telling
	ended  bool       // this side closes; nothing is read any more
	failed error      // why nothing more arrives
}

func newInlet(tell func(error)) *inlet {
	in := &inlet{gone: make(chan struct{}), tell: tell, room: roomForHead}
	in.moved = sync.NewCond(&in.mu)
	return in
}

// pump reads r until it fails or the inlet ends.
func (in *inlet) pump(r io.Reader) {
	buf := make([]byte, roomForBody)
	for {
		n := in.waitForRoom()
		if n == 0 {
			return
		}
		k, err := r.Read(buf[:min(n, len(buf))])
		if eager := in.put(buf[:k], err); err != nil {
			if eager {
				in.report()
			}
			return
		}
	}
}

// waitForRoom returns how many bytes may be read, 0 when none ever.
func (in *inlet) waitForRoom() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	for !in.ended && !in.drop && len(in.buf) >= in.room {
		in.moved.Wait()
	}
	switch {
	case in.ended:
		return 0
	case in.drop:
		return roomForBody
	}
	return in.room - len(in.buf)
}

// put keeps what was read and says whether a failure is to be told at once.
func (in *inlet) put(p []byte, err error) (eager bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.drop {
		in.buf = append(in.buf, p...)
	}
	in.failLocked(err)
	in.moved.Broadcast()
	return in.eager
}

// failLocked keeps the first reason why nothing more arrives.
func (in *inlet) failLocked(err error) {
	if in.failed == nil && err != nil {
		in.failed = err
		close(in.gone)
	}
}

// report tells of the peer's leaving, which has been seen, unless that is done.
func (in *inlet) report() {
	in.telling.Do(func() {
		in.mu.Lock()
		err, silent := in.failed, in.silent || in.ended
		in.mu.Unlock()
		if !silent {
			in.tell(err)
		}
	})
}

// fail records that a write found the peer gone.
func (in *inlet) fail(err error) {
	in.mu.Lock()
	in.failLocked(err)
	in.mu.Unlock()
	in.report()
}

// take waits for bytes and removes as many as cut says, which is given at least
// one. The caller owns what it gets. The peer's leaving is told only when all
// that came before it has been taken.
func (in *inlet) take(cut func(buf []byte) int) ([]byte, error) {
	in.mu.Lock()
	for len(in.buf) == 0 && in.failed == nil && !in.ended {
		in.moved.Wait()
	}
	if len(in.buf) == 0 {
		err := in.failed
		in.mu.Unlock()
		if err == nil {
			return nil, errEnded
		}
		in.report()
		return nil, err
	}
	n := cut(in.buf)
	got := bytes.Clone(in.buf[:n])
	in.buf = in.buf[:copy(in.buf, in.buf[n:])]
	in.moved.Broadcast()
	in.mu.Unlock()
	return got, nil
}

// next returns at least 1 and at most most bytes.
func (in *inlet) next(most int) ([]byte, error) {
	return in.take(func(buf []byte) int { return min(most, len(buf)) })
}

// line returns the bytes up to and with the next line feed.
func (in *inlet) line(most int) ([]byte, error) {
	var line []byte
	for len(line) <= most {
		part, err := in.take(func(buf []byte) int {
			if i := bytes.IndexByte(buf, '\n'); i >= 0 {
				return i + 1
			}
			return len(buf)
		})
		if err != nil {
			return line, err
		}
		line = append(line, part...)
		if line[len(line)-1] == '\n' {
			return line, nil
		}
	}
	return line, malformed("line or head of more than %d bytes", most)
}

// setRoom says how far to read ahead.
func (in *inlet) setRoom(n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.room = n
	in.moved.Broadcast()
}

// watch says whether the peer's leaving is told as soon as it is seen, although
// bytes that came before it are still to be taken.
func (in *inlet) watch(eager bool) {
	in.mu.Lock()
	in.eager = eager
	left := eager && in.failed != nil
	in.mu.Unlock()
	if left {
		in.report()
	}
}

// discard throws away what has arrived and what will.
func (in *inlet) discard() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.drop, in.buf = true, nil
	in.moved.Broadcast()
}

// silence makes a later leaving of the peer go untold: this side left first.
func (in *inlet) silence() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.silent = true
}

// end stops everything; it may be called from any goroutine.
func (in *inlet) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.moved.Broadcast()
}
