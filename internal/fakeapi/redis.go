package fakeapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is a server of the Redis protocol on this machine, which keeps nothing.
type Redis struct {
	Address string
	Client  *redis.Client

	tb   testing.TB
	args []string
}

// StartRedis starts a server with more settings. Where none is installed, the test is skipped.
func StartRedis(tb testing.TB, settings ...string) *Redis {
	tb.Helper()
	s := &Redis{tb: tb, Address: FreeAddress(tb)}
	_, port, _ := net.SplitHostPort(s.Address)
	s.args = append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", tb.TempDir(), "--save", "",
		"--appendonly", "no"}, settings...)
	s.start()
	return s
}

// StartSentinel starts a Sentinel that watches a server under the name main, and returns its address.
func StartSentinel(tb testing.TB, watched *Redis) (address string) {
	tb.Helper()
	s := &Redis{tb: tb, Address: FreeAddress(tb)}
	_, port, _ := net.SplitHostPort(s.Address)
	host, at, _ := net.SplitHostPort(watched.Address)
	file := filepath.Join(tb.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\nsentinel monitor main %s %s 1\n", port, host, at)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	s.args = []string{file, "--sentinel"}
	s.start()
	return s.Address
}

// start starts the server with a client of its own.
func (s *Redis) start() {
	s.tb.Helper()
	s.Client = redis.NewClient(&redis.Options{Addr: s.Address, MaxRetries: -1})
	s.tb.Cleanup(func() { _ = s.Client.Close() })
	s.run()
}

// URL is where the server is.
func (s *Redis) URL() string { return "redis://" + s.Address }

// run starts the server and waits until it answers.
func (s *Redis) run() {
	s.tb.Helper()
	path, err := exec.LookPath("valkey-server")
	if err != nil {
		path, err = exec.LookPath("redis-server")
	}
	if err != nil {
		Skip(s.tb, "neither redis-server nor valkey-server is installed")
	}
	var output bytes.Buffer
	run, ended := exec.Command(path, s.args...), make(chan struct{})
	run.Stdout = &output
	if err := run.Start(); err != nil {
		s.tb.Fatal(err)
	}
	go func() {
		_ = run.Wait() // the output says more
		close(ended)
	}()
	s.tb.Cleanup(func() {
		_ = run.Process.Kill()
		<-ended
	})
	Await(s.tb, "the server", func() error {
		select {
		case <-ended:
			s.tb.Fatalf("%s has ended: %s", path, output.String())
		default:
		}
		return s.Client.Ping(context.Background()).Err()
	})
}

// Flush deletes everything.
func (s *Redis) Flush() {
	s.tb.Helper()
	if err := s.Client.FlushAll(context.Background()).Err(); err != nil {
		s.tb.Fatal(err)
	}
}

// Refuse makes the server refuse writes from now on, as a master does that has too few replicas.
func (s *Redis) Refuse() {
	s.tb.Helper()
	if err := s.Client.ConfigSet(context.Background(), "min-replicas-to-write", "1").Err(); err != nil {
		s.tb.Fatal(err)
	}
}

// Await waits until ask returns no error.
func Await(tb testing.TB, what string, ask func() error) {
	tb.Helper()
	var err error
	if !Eventually(func() bool { err = ask(); return err == nil }) {
		tb.Fatalf("%s does not come: %v", what, err)
	}
}

// given are the addresses that FreeAddress has returned. Nobody may listen on one yet.
var given sync.Map

// FreeAddress is an address of loopback where nobody listens, another one each time.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	for {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		address := ln.Addr().String()
		_ = ln.Close()
		if _, isKnown := given.LoadOrStore(address, true); !isKnown {
			return address
		}
	}
}

// Wire leads to a server, and may fail in between.
type Wire struct {
	to string
	ln net.Listener

	mu    sync.Mutex
	state fault
	delay time.Duration // of each answer
	open  map[net.Conn]bool
	mend  *sync.Cond
}

type fault int

const (
	none   fault = iota
	frozen       // nothing passes, either way
	deaf         // answers do not come back
	cut          // connections end at once
)

// NewWire lays a wire to the address.
func NewWire(tb testing.TB, to string) *Wire {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	w := &Wire{to: to, ln: ln, open: map[net.Conn]bool{}}
	w.mend = sync.NewCond(&w.mu)
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
		w.set(none, true)
		work.Wait()
	})
	return w
}

// URL is where the wire begins.
func (w *Wire) URL() string { return "redis://" + w.ln.Addr().String() }

// Delay has each answer come later.
func (w *Wire) Delay(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = by
}

// Freeze lets nothing through, and keeps all connections.
func (w *Wire) Freeze() { w.set(frozen, false) }

// Deafen lets questions through, and loses the answers.
func (w *Wire) Deafen() { w.set(deaf, false) }

// Cut ends all connections, and each new one.
func (w *Wire) Cut() { w.set(cut, true) }

// Mend lets everything through again. Frozen connections go on; deaf ones end.
func (w *Wire) Mend() {
	w.mu.Lock()
	ends := w.state == deaf
	w.mu.Unlock()
	w.set(none, ends)
}

// set sets the state, and ends all connections if ends is set.
func (w *Wire) set(state fault, ends bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state = state
	for c := range w.open {
		if ends {
			_ = c.Close()
		}
	}
	w.mend.Broadcast()
}

func (w *Wire) carry(c net.Conn) {
	defer func() { _ = c.Close() }()
	up, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	w.mu.Lock()
	isCut := w.state == cut
	w.open[c] = true
	w.mu.Unlock()
	var both sync.WaitGroup
	if !isCut {
		both.Go(func() {
			w.copy(up, c, false)
			_ = up.Close()
		})
		w.copy(c, up, true)
	}
	_, _ = c.Close(), up.Close()
	both.Wait()
	w.mu.Lock()
	delete(w.open, c)
	w.mu.Unlock()
}

// copy carries bytes until either end closes.
func (w *Wire) copy(to io.Writer, from io.Reader, answers bool) {
	room := make([]byte, 1<<20)
	for {
		n, err := from.Read(room)
		w.mu.Lock()
		for w.state == frozen {
			w.mend.Wait()
		}
		isLost := answers && w.state == deaf
		delay := w.delay
		w.mu.Unlock()
		if answers {
			time.Sleep(delay)
		}
		if n > 0 && !isLost {
			if _, err := to.Write(room[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
