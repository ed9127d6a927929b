package daemon

import (
	"fmt"
	"testing"
	"time"

	"epitome/proxy/clients"
	"epitome/store/shared/sharedtest"
)

// Limits hold for all epitomes together, whatever their clocks say, and the store need not answer.
func TestSharedLimitsHoldForAllEpitomes(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	wire := sharedtest.NewWire(t, server.Address)
	folder := t.TempDir()
	one := sharing(t, wire.URL(), folder, nil).storage
	two := sharing(t, server.URL(), folder, nil).storage
	here, there := counterOf(one), counterOf(two)
	now := time.Now()
	here.Add("alice", clients.Tokens, 600, now)
	used := func(c clients.Counter) int64 {
		n, known := c.Add("alice", clients.Tokens, 0, now)
		if !known {
			t.Error("nobody knows what was used")
		}
		return n[1]
	}
	used(there)
	sharedtest.Await(t, "the other's tokens", func() error { return wanted(used(there), 600) })
	wire.Cut()
	if there.Add("alice", clients.Tokens, 30, now); used(here) != 600 {
		t.Errorf("without the store %d are used", used(here))
	}
	here.Add("alice", clients.Tokens, 7, now)
	wire.Mend()
	sharedtest.Await(t, "both", func() error { return wanted(used(here), 637) })
	sharedtest.Await(t, "both there", func() error { return wanted(used(there), 637) })
}

// wanted is an error as long as it is another number.
func wanted(got, want int64) error {
	if got != want {
		return fmt.Errorf("%d, want %d", got, want)
	}
	return nil
}
