package redis

import (
	"strings"
	"testing"

	"epitome/bench/lineup"
	"epitome/house/missing"
)

// What answers at its port may be another program's server.
func TestAServerWhosePortIsTakenSaysSo(t *testing.T) {
	other, err := Start(t.TempDir())
	if err != nil && strings.Contains(err.Error(), "install one") {
		missing.Skip(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer other.Kill()
	s := &Server{program: other.program, folder: t.TempDir(), Addr: other.Addr}
	defer s.Kill()
	if err := s.run(); err == nil || !lineup.PortTaken(err) {
		t.Errorf("got %v", err)
	}
}
