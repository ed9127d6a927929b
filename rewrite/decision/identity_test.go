package decision

import (
	"maps"
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
	for known := range 6 { // as much as a machine may remember, or nothing at all after it has begun anew
		f(5, known)
		f(4, known)
		f(1, known)
		f(0, known)
	}
}

// What goes on from less than was known before has the same name whether that is remembered or not.
func TestNamesDoNotDependOnWhatIsRemembered(t *testing.T) {
	chain := func(ends ...byte) []conversation.Link {
		links := make([]conversation.Link, len(ends))
		for i, end := range ends {
			links[i][0] = end
		}
		return links
	}
	of, route := map[string][]byte{}, Route{Scope: "s"}.Hash()
	f := func(end, known int, name Ref, links ...byte) Named {
		t.Helper()
		n, err := Prefix{Ledger: entries{of: of}, Route: route, Chain: chain(links...)}.Name(end, known, name)
		if err != nil || n.Name == (Ref{}) {
			t.Fatalf("%+v, %v", n, err)
		}
		return n
	}
	first := f(6, 0, Ref{}, 0, 1, 2, 3, 4, 5, 6, 7).Name
	if n := f(5, 6, first, 0, 1, 2, 3, 4, 5, 6); n.Name != first { // its last item goes on: nothing is decided on it
		t.Errorf("a shorter request is of %x, not of %x", n.Name, first)
	}
	remembered := maps.Clone(of)
	warm := f(8, 5, first, 0, 1, 2, 3, 4, 5, 16, 17, 18)
	of = remembered
	if cold := f(8, 0, Ref{}, 0, 1, 2, 3, 4, 5, 16, 17, 18); cold != warm {
		t.Errorf("from what is remembered it is %+v, from the ledger alone %+v", warm, cold)
	}
}
