package wire

import (
	"context"
	"net"
	"testing"
	"time"
)

// Who stops within a grace that is shorter waits for idle connections no longer than that.
func TestDrainingEndsWithTheGrace(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &Gate{Most: 1, Balanced: func() bool { return true }, Stopping: func() bool { return false }}
	l := NewListener(ln, g)
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	taken, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	begun, shortest := time.Now(), drainTime
	for range 5 {
		g.Drain(ctx)
		shortest, begun = min(shortest, time.Since(begun)), time.Now()
	}
	if shortest >= drainTime/2 {
		t.Errorf("it goes on for %v after the grace", shortest)
	}
}
