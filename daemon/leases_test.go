package daemon

import (
	"testing"
	"time"

	"epitome/store/shared"
	"epitome/store/shared/sharedtest"
)

// TestLeasesHaveThreeAnswers: one has it, the others know that, and without a store nobody does.
func TestLeasesHaveThreeAnswers(t *testing.T) {
	server := sharedtest.Start(t)
	wire := sharedtest.NewWire(t, server.Address)
	s, err := shared.Open(shared.Options{Server: shared.Server{URL: wire.URL()}, Prefix: "p:", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	a, b := newLeases(s), newLeases(s)
	a.renew = 10 * time.Millisecond
	f := func(l *leases, held, fails bool) func(time.Duration) {
		t.Helper()
		giveBack, err := l.Take("k")
		if (err != nil) != fails || (giveBack != nil) != held {
			t.Fatalf("has it: %v, %v", giveBack != nil, err)
		}
		return giveBack
	}
	giveBack := f(a, true, false)
	f(b, false, false)
	server.Pass(leaseFor - 5*time.Second) // it is renewed
	sharedtest.Await(t, "a renewal", func() error {
		if left := server.Client.PTTL(t.Context(), "p:.lease k").Val(); left < leaseFor-5*time.Second {
			return shared.ErrAway
		}
		return nil
	})
	f(b, false, false)
	giveBack(0)
	sharedtest.Await(t, "the lease", func() error {
		giveBack, err := b.Take("k")
		if giveBack == nil {
			return shared.ErrAway
		}
		giveBack(time.Hour)
		return err
	})
	f(a, false, true)
	server.Pass(time.Hour)
	f(a, true, false)(0)
	wire.Cut()
	f(b, false, true)
}
