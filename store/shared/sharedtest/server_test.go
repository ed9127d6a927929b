package sharedtest

import (
	"net"
	"testing"
)

// Between the choice of a port and its use another program may take it: one that is no such server, or one that is.
func TestAServerWhosePortIsTakenGetsAnother(t *testing.T) {
	other := Start(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	taken := []string{ln.Addr().String(), other.Address}
	s := begin(t, func(port string) []string {
		if len(taken) > 0 {
			_, port, _ = net.SplitHostPort(taken[0])
			taken = taken[1:]
		}
		return []string{"--bind", "127.0.0.1", "--port", port, "--save", ""}
	})
	if len(taken) > 0 || s.Address == other.Address {
		t.Errorf("it is at %s, beside %s", s.Address, other.Address)
	}
	s.Kill()
	s.Run()
	if other.Client.Ping(t.Context()).Err() != nil || s.Client.Ping(t.Context()).Err() != nil {
		t.Error("one of them has ended")
	}
}
