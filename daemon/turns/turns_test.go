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

// TestStampBeforeAGapIsNotTrusted: what others did while the server did not answer may not be noted.
func TestStampBeforeAGapIsNotTrusted(t *testing.T) {
	server := sharedtest.Start(t)
	l, wire := overWire(t, server, 5*time.Second)
	f := func(key string, at time.Time) (found bool) {
		t.Helper()
		begun := time.Now()
		l.Turn("tag").Stamp(key, at)
		sharedtest.Await(t, "the stamp", func() error {
			if n := server.Client.Exists(t.Context(), "p:{tag}"+key).Val(); n != 1 {
				return errors.New("it is not there")
			}
			return nil
		})
		got, found := l.Turn("tag").Stamped(key)
		// The server's clock is asked over the wire.
		if age := got.Sub(at).Abs(); age > time.Second+time.Since(begun) {
			t.Errorf("%s is %v off", key, age)
		}
		return found
	}
	if !f("pbefore", time.Now().Add(-time.Hour)) {
		t.Error("a stamp is not found though the server has always answered")
	}
	wire.Cut()
	if _, _, err := l.store.Find("x"); err == nil {
		t.Fatal("the wire is cut")
	}
	wire.Mend()
	sharedtest.Await(t, "the store", func() error { _, _, err := l.store.Find("x"); return err })
	if _, found := l.Turn("tag").Stamped("pbefore"); found {
		t.Error("a stamp from before the gap is trusted")
	}
	if !f("pbehind", time.Now().Add(time.Minute)) {
		t.Error("a stamp from behind the gap is not trusted")
	}
}

// TestWhatMayBeWrittenIsNotToldAsUnwritten: the answer to a write is lost, and others have found out meanwhile that the
// server does not answer, so that it is not asked again.
func TestWhatMayBeWrittenIsNotToldAsUnwritten(t *testing.T) {
	server := sharedtest.Start(t)
	l, wire := overWire(t, server, 2*time.Second) // a busy machine may take the usual one before an answer
	if _, found, err := l.store.Find("x"); found || err != nil {
		t.Fatal(found, err)
	}
	wire.Deafen()
	if _, _, err := l.store.Find("x"); !errors.Is(err, shared.ErrUnknown) { // the next failure in a row is one too many
		t.Fatal(err)
	}
	u := l.Turn("tag")
	if err := u.Commit([]decision.Entry{{Key: "dkey", Value: []byte("v")}}); !errors.Is(err, decision.ErrUnsure) {
		t.Errorf("a record that may be written is told as %v", err)
	}
	if u.Failure() == nil {
		t.Error("the turn goes on as if it knew what is there")
	}
}
