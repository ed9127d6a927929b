package decision

import (
	"testing"

	"epitome/rewrite/conversation"
)

// entries is a ledger that only adds.
type entries struct {
	Ledger
	of map[string][]byte
}

func (e entries) Get(key string) (value []byte, version uint64, found bool) {
	value, found = e.of[key]
	return value, 1, found
}

func (e entries) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	if _, found := e.of[key]; !found {
		e.of[key] = value
	}
	return e.of[key], 1, nil
}

// Of what a request goes on with, less may be decided on than was known before: it belongs to the same conversation.
func TestMoreMayBeKnownThanIsDecidedOn(t *testing.T) {
	chain := make([]conversation.Link, 6)
	for i := range chain {
		chain[i][0] = byte(i + 1)
	}
	p := Prefix{Ledger: entries{of: map[string][]byte{}}, Route: Route{Scope: "s"}.Hash(), Chain: chain}
	first, err := p.Name(5, 0, Ref{})
	if err != nil || first.Name == (Ref{}) {
		t.Fatalf("%+v, %v", first, err)
	}
	f := func(end, known int) {
		t.Helper()
		if again, err := p.Name(end, known, first.Name); err != nil || again != (Named{Name: first.Name}) {
			t.Errorf("%d of %d known items may be decided on: %+v, not %+v; %v", end, known, again, first, err)
		}
	}
	f(5, 5)
	f(4, 5)
	f(1, 5)
	f(0, 5)
}
