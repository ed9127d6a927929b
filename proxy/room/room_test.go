package room

import (
	"testing"
)

// patience is for what must happen.

func TestAClientLeavesHalfToOthers(t *testing.T) {
	r := New[string](1000)
	if !r.Enter("a1", "alice", 300, 0) || !r.Enter("a2", "alice", 200, 0) {
		t.Fatal("alice does not get half")
	}
	for name, grown := range map[string]bool{"more": r.Enter("a3", "alice", 1, 0), "growth": r.GrowTo("a1", 301)} {
		if grown {
			t.Errorf("alice gets more than half: %s", name)
		}
	}
	if !r.IsRefused("a3") {
		t.Error("who found no room is not told so")
	}
	if !r.Enter("b1", "bob", 400, 0) || !r.Enter("n1", "", 100, 0) || r.Enter("n2", "", 1, 0) {
		t.Error("others do not get the other half, or more")
	}
	if _, bytes := r.Load(); bytes != 1000 {
		t.Errorf("%d bytes are held", bytes)
	}
	r.ShrinkTo("a1", 100)
	if !r.GrowTo("a2", 400) || r.GrowTo("a2", 401) {
		t.Error("what alice gave back is not hers to take again")
	}
	for _, h := range []string{"a1", "a2", "a3", "b1", "n1", "n2", "none"} {
		r.Leave(h)
	}
	if n, bytes := r.Load(); n != 0 || bytes != 0 {
		t.Errorf("%d requests hold %d bytes", n, bytes)
	}
}

// A request that alone is larger than a share is in memory whole, and counts as that: else clients that each send one
// would hold many times the size together.
func TestARequestLargerThanAShareCountsWhole(t *testing.T) {
	r := New[string](1000)
	if !r.Enter("a", "alice", 800, 0) || r.Enter("b", "bob", 300, 0) || r.Enter("a2", "alice", 1, 0) {
		t.Error("beside 800 bytes of 1000 there is room for 300, or for more of the same client")
	}
	if !r.Enter("c", "bob", 100, 0) || !r.GrowTo("a", 900) || r.GrowTo("a", 901) {
		t.Error("a request larger than a share does not get what is there, or gets more")
	}
	if r.ShrinkTo("a", 400); !r.Enter("d", "alice", 100, 0) || r.Enter("e", "alice", 1, 0) || !r.Enter("f", "bob", 400, 0) {
		t.Error("what was given back is not there, or more is")
	}
	for _, h := range []string{"a", "b", "a2", "c", "d", "e", "f"} {
		r.Leave(h)
	}
	if !r.Enter("g", "alice", 5000, 0) || r.Enter("h", "bob", 1, 0) {
		t.Error("a request larger than all does not take all, or leaves some of it")
	}
	if r.Leave("g"); !r.Enter("i", "", 1000, 0) {
		t.Error("some room is not given back")
	}
}
