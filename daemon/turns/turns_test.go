package turns

import (
	"errors"
	"testing"
	"time"

	"epitome/rewrite/decision"
	"epitome/store/shared"
	"epitome/store/shared/sharedtest"
)

// overWire is a ledger over the server, whose wire may fail.
func overWire(t *testing.T, server *sharedtest.Server, timeout time.Duration) (*Ledger, *sharedtest.Wire) {
	t.Helper()
	wire := sharedtest.NewWire(t, server.Address)
	s, err := shared.Open(shared.Options{Server: shared.Server{URL: wire.URL()}, Prefix: "p:", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	l := New(s, time.Hour)
	t.Cleanup(func() {
		l.Close()
		_ = s.Close()
	})
	return l, wire
}

// TestWhatMayBeWrittenIsNotToldAsUnwritten: the answer to a write is lost, and others have found out meanwhile that the
// server does not answer, so that it is not asked again.
func TestWhatMayBeWrittenIsNotToldAsUnwritten(t *testing.T) {
	server := sharedtest.Start(t)
	l, wire := overWire(t, server, 300*time.Millisecond)
	if _, found, err := l.store.Find("x"); found || err != nil {
		t.Fatal(found, err)
	}
	wire.Deafen()
	for range 2 { // a third failure in a row is one too many
		if _, _, err := l.store.Find("x"); !errors.Is(err, shared.ErrUnknown) {
			t.Fatal(err)
		}
	}
	u := l.Turn("tag")
	if err := u.Commit([]decision.Entry{{Key: "dkey", Value: []byte("v")}}); !errors.Is(err, decision.ErrUnsure) {
		t.Errorf("a record that may be written is told as %v", err)
	}
	if u.Failure() == nil {
		t.Error("the turn goes on as if it knew what is there")
	}
}
