package team

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"epitome/bench/wire"
)

// relay stands between epitomes and their store, and holds back each byte, in both directions.
type relay struct {
	ln     net.Listener
	target string
	delay  time.Duration // in each direction
	open   sync.WaitGroup
	mu     sync.Mutex // guards what follows
	ends   []net.Conn
	closed bool
}

func startRelay(target string, delay time.Duration) (*relay, error) {
	ln, err := wire.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{ln: ln, target: target, delay: delay}
	r.open.Go(r.accept)
	return r, nil
}

func (r *relay) addr() string { return r.ln.Addr().String() }

func (r *relay) accept() {
	for {
		near, err := r.ln.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		r.join(near, far)
	}
}

// join carries both ways, unless the relay was closed meanwhile.
func (r *relay) join(near, far net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_, _ = near.Close(), far.Close()
		return
	}
	r.ends = append(r.ends, near, far)
	r.open.Go(func() { r.carry(near, far) })
	r.open.Go(func() { r.carry(far, near) })
}

// parcel is bytes that are due.
type parcel struct {
	bytes []byte
	due   time.Time
}

// carry takes what comes from one end to the other. When one of them closes, so does the other.
func (r *relay) carry(from, to net.Conn) {
	under := make(chan parcel, 1024)
	r.open.Go(func() {
		defer func() { _, _ = from.Close(), to.Close() }()
		for p := range under {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.bytes); err != nil {
				_ = from.Close() // the reader ends too
				for range under {
					continue
				}
				return
			}
		}
	})
	defer close(under)
	for {
		piece := make([]byte, 64<<10)
		n, err := from.Read(piece)
		if n > 0 {
			under <- parcel{piece[:n], time.Now().Add(r.delay)}
		}
		if err != nil {
			return
		}
	}
}

// close ends the relay and all that it carries.
func (r *relay) close() {
	_ = r.ln.Close()
	r.mu.Lock()
	r.closed = true
	for _, end := range r.ends {
		_ = end.Close()
	}
	r.mu.Unlock()
	r.open.Wait()
}

// roundTrips are the times of so many questions to the store, through whatever lies between.
func roundTrips(addr string, times int) ([]time.Duration, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in, took := bufio.NewReader(conn), make([]time.Duration, times)
	for i := range took {
		began := time.Now()
		if _, err = io.WriteString(conn, "PING\r\n"); err != nil {
			return nil, err
		}
		answer, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(answer) != "+PONG" {
			return nil, fmt.Errorf("cannot ask the store: it answers %q", answer)
		}
		took[i] = time.Since(began)
	}
	return took, nil
}
