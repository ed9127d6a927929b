package storetest

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Wire leads to a server, and may fail in between. It counts what is asked: a question is what a client sends at once.
type Wire struct {
	to     string
	ln     net.Listener
	frozen atomic.Bool  // nothing passes, either way
	deaf   atomic.Bool  // answers do not come back
	cut    atomic.Bool  // connections end at once
	loses  atomic.Int64 // scripts to which connections end in place of answers

	mu   sync.Mutex // guards all below
	open map[net.Conn]bool
	gate *sync.Cond
}

// NewWire lays a wire to the address.
func NewWire(tb testing.TB, to string) *Wire {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	w := &Wire{to: to, ln: ln, open: map[net.Conn]bool{}}
	w.gate = sync.NewCond(&w.mu)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			work.Go(func() { w.carry(c) })
		}
	})
	tb.Cleanup(func() {
		_ = ln.Close()
		w.Mend()
		w.drop()
		work.Wait()
	})
	return w
}

// URL is where the wire begins.
func (w *Wire) URL() string { return "redis://" + w.ln.Addr().String() }

// Freeze lets nothing through, and keeps all connections.
func (w *Wire) Freeze() { w.frozen.Store(true) }

// Deafen lets questions through, and loses the answers.
func (w *Wire) Deafen() { w.deaf.Store(true) }

// LoseWrites lets all through, and ends connections in place of the answers to the next n scripts, by which a turn is
// written. After two in a row the server would count as away.
func (w *Wire) LoseWrites(n int) { w.loses.Store(int64(n)) }

// Cut ends all connections, and each new one.
func (w *Wire) Cut() {
	w.cut.Store(true)
	w.drop()
}

// Mend lets everything through again. What was frozen goes on; connections that are deaf end.
func (w *Wire) Mend() {
	w.cut.Store(false)
	w.loses.Store(0)
	if w.deaf.Swap(false) {
		w.drop()
	}
	w.frozen.Store(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.Broadcast()
}

func (w *Wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		_ = c.Close()
	}
	w.gate.Broadcast()
}

func (w *Wire) carry(c net.Conn) {
	defer func() { _ = c.Close() }()
	if w.cut.Load() {
		return
	}
	up, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer func() { _ = up.Close() }()
	w.hold(c, true)
	defer w.hold(c, false)
	var both sync.WaitGroup
	var ends atomic.Bool // in place of the next answer
	both.Go(func() {
		w.copy(up, c, nil, &ends)
		_ = up.Close()
	})
	w.copy(c, up, &w.deaf, &ends)
	_ = c.Close()
	both.Wait()
}

func (w *Wire) hold(c net.Conn, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if open {
		w.open[c] = true
	} else {
		delete(w.open, c)
	}
}

// copy carries bytes until either end closes. lost says that they go nowhere; nil for questions. mine
// says that the connection ends in place of an answer.
func (w *Wire) copy(to io.Writer, from io.Reader, lost, mine *atomic.Bool) {
	room := make([]byte, 1<<20)
	for {
		n, err := from.Read(room)
		if n > 0 && lost == nil && bytes.Contains(bytes.ToLower(room[:min(n, 64)]), []byte("evalsha")) && w.loses.Add(-1) >= 0 {
			mine.Store(true)
		}
		w.mu.Lock()
		for w.frozen.Load() {
			w.gate.Wait()
		}
		w.mu.Unlock()
		if lost != nil && mine.Load() {
			return
		}
		if n > 0 && (lost == nil || !lost.Load()) {
			if _, failed := to.Write(room[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
