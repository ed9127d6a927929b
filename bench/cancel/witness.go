package cancel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"epitome/bench/backend"
	"epitome/bench/lineup"
	"epitome/bench/wire"
)

// witness is the upstream of cancel tries: it brings an exchange into a phase and tells when its connection ends.
type witness struct {
	addr   string
	cancel context.CancelFunc
	served chan struct{} // closed once everything has ended

	mu sync.Mutex // guards:
	id int        // number of the present try
	on *try       // nil between tries
}

// try is one exchange whose client will leave.
type try struct {
	id      int
	phase   Phase
	reached chan struct{}  // closed by the upstream when its side of the phase is reached, or cannot be
	left    chan struct{}  // closed by the client's side after the client has left
	over    chan struct{}  // closed when nobody waits any more; the upstream then answers in order, if it still can
	changed bool           // the body came with another length than it was sent with; written before reached is closed
	gone    chan time.Time // holds the moment the connection ended, or zero if the request came whole; capacity 1
}

const smallAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

// Pieces in which the upstream of the sending phase reads after the client has left: fast enough to find the end of
// what the sockets hold in a few milliseconds, slow enough that a whole body takes longer than the goal.
const (
	sipBytes = 64 << 10
	sipPause = time.Millisecond
)

func newWitness(ctx context.Context) (*witness, error) {
	config := net.ListenConfig{Control: smallWindow}
	ln, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen on loopback: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &witness{addr: ln.Addr().String(), cancel: cancel, served: make(chan struct{})}
	go func() {
		defer close(w.served)
		_ = backend.AcceptEach(ctx, ln, w.serve) // without a listener every further try fails and says so
	}()
	return w, nil
}

func (w *witness) close() {
	w.cancel()
	<-w.served
}

// expect starts a try; the next request that carries its number belongs to it.
func (w *witness) expect(phase Phase) *try {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id++
	w.on = &try{
		id: w.id, phase: phase,
		reached: make(chan struct{}), left: make(chan struct{}), over: make(chan struct{}),
		gone: make(chan time.Time, 1),
	}
	return w.on
}

// claim returns the try that a request line belongs to, once; nil if there is none.
func (w *witness) claim(requestLine string) *try {
	id, err := strconv.Atoi(backend.TargetQuery(requestLine).Get("try"))
	if err != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on == nil || w.on.id != id {
		return nil
	}
	t := w.on
	w.on = nil
	return t
}

// serve answers requests that belong to no try at once, and plays the tries.
func (w *witness) serve(conn net.Conn) {
	br := bufio.NewReader(conn)
	for {
		h, err := wire.ReadHead(br)
		if err != nil {
			return
		}
		if t := w.claim(h.First); t != nil {
			if t.changed = h.BodyChanged(); t.changed {
				close(t.reached)
				return
			}
			if !t.play(conn, wire.NewBody(br, h)) {
				return
			}
			continue
		}
		if _, err = wire.NewBody(br, h).Drain(make([]byte, wire.BufferSize)); err != nil {
			return
		}
		if _, err = conn.Write([]byte(smallAnswer)); err != nil {
			return
		}
	}
}

func (t *try) target() string { return backend.ChatPath + "?try=" + strconv.Itoa(t.id) }

func (t *try) end() { close(t.over) }

// reach waits on the client's side until the exchange is in its phase.
func (t *try) reach(c *wire.Client) error {
	if t.phase == Idle || t.phase == Flowing {
		return t.reachStream(c)
	}
	select {
	case <-t.reached:
		if t.changed {
			return errors.New("the proxy changed the request's body: what is measured is the way of one that passes unchanged")
		}
		return nil
	case <-time.After(lineup.StartLimit):
		return fmt.Errorf("the request did not reach the upstream within %s", lineup.StartLimit)
	}
}

// reachStream reads what must have come: one event of an idle stream, some of a flowing one.
func (t *try) reachStream(c *wire.Client) error {
	h, err := wire.ReadHead(c.Reader)
	if err != nil {
		return fmt.Errorf("cannot read answer's head: %w", wire.Unexpected(err))
	}
	if h.Status() != 200 {
		return fmt.Errorf("cannot use answer %q: want status 200", h.First)
	}
	answer := wire.NewBody(c.Reader, h)
	events := 1
	if t.phase == Flowing {
		events = 2
	}
	for range events {
		if _, err = answer.Read(c.Scratch); err != nil {
			return fmt.Errorf("cannot read stream: %w", err)
		}
	}
	return nil
}

// play does the upstream's side of a try, from the request's head to the end of the connection. If nothing has ended
// the connection by the time the try is over, it answers in order and returns true: the connection may go on with other
// requests.
func (t *try) play(conn net.Conn, request *wire.Body) bool {
	if t.phase == Sending {
		return t.playSending(conn, request)
	}
	if _, err := request.Drain(make([]byte, wire.BufferSize)); err != nil {
		return false
	}
	if t.phase != Waiting {
		if _, err := conn.Write(backend.AppendEvent([]byte(backend.StreamHead), time.Now())); err != nil {
			return false
		}
	}
	stop := t.flow(conn)
	close(t.reached)
	ended := t.awaitEnd(conn, request.Reader)
	stop()
	if ended {
		return false
	}
	ending := smallAnswer
	if t.phase != Waiting {
		ending = "0\r\n\r\n"
	}
	_, err := conn.Write([]byte(ending))
	return err == nil
}

// awaitEnd waits for the end of a connection whose request is whole, and tells the moment. It returns false when the
// try was over before.
func (t *try) awaitEnd(conn net.Conn, br *bufio.Reader) bool {
	woken := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(woken)
		select {
		case <-t.over:
			_ = conn.SetReadDeadline(time.Unix(1, 0)) // wakes the read below
		case <-finished:
		}
	}()
	_, err := br.ReadByte()
	at := time.Now()
	close(finished)
	<-woken
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = conn.SetReadDeadline(time.Time{})
		return false
	}
	t.gone <- at
	return true
}

// flow writes an event each 5 ms, in the phase that has them, until stop is called or the connection ends. stop
// returns when nothing is being written.
func (t *try) flow(conn net.Conn) (stop func()) {
	if t.phase != Flowing {
		return func() {}
	}
	stopped := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		var err error
		for err == nil {
			select {
			case <-stopped:
				return
			case <-time.After(5 * time.Millisecond):
				_, err = conn.Write(backend.AppendEvent(nil, time.Now()))
			}
		}
	})
	return func() { close(stopped); writing.Wait() }
}

// playSending reads nothing of the body until the client has left; then it sips until the connection ends or the
// whole body has come. A connection that is closed in order ends for its reader only after what the sockets hold.
func (t *try) playSending(conn net.Conn, request *wire.Body) bool {
	close(t.reached)
	select {
	case <-t.left:
	case <-t.over: // the client's side failed
		return false
	}
	scratch := make([]byte, sipBytes)
	for {
		if _, err := io.ReadFull(request, scratch); err != nil {
			break
		}
		time.Sleep(sipPause)
	}
	if request.Done() {
		t.gone <- time.Time{}
		_, err := conn.Write([]byte(smallAnswer))
		return err == nil
	}
	t.gone <- time.Now()
	return false
}
