package proxy

import (
	"sync"
	"testing"

	"github.com/valyala/fasthttp"
)

// keys are requests by name.
var keys sync.Map

func key(name string) *fasthttp.RequestHeader {
	h, _ := keys.LoadOrStore(name, &fasthttp.RequestHeader{})
	return h.(*fasthttp.RequestHeader)
}

func TestAClientLeavesHalfToOthers(t *testing.T) {
	r := newRoom(1000)
	if !r.Enter(key("a1"), "alice", 300, 0) || !r.Enter(key("a2"), "alice", 200, 0) {
		t.Fatal("alice does not get half")
	}
	for name, grown := range map[string]bool{"more": r.Enter(key("a3"), "alice", 1, 0), "growth": r.GrowTo(key("a1"), 301)} {
		if grown {
			t.Errorf("alice gets more than half: %s", name)
		}
	}
	if !r.IsRefused(key("a3")) {
		t.Error("who found no room is not told so")
	}
	if !r.Enter(key("b1"), "bob", 400, 0) || !r.Enter(key("n1"), "", 100, 0) || r.Enter(key("n2"), "", 1, 0) {
		t.Error("others do not get the other half, or more")
	}
	if _, bytes := r.Load(); bytes != 1000 {
		t.Errorf("%d bytes are held", bytes)
	}
	r.ShrinkTo(key("a1"), 100)
	if !r.GrowTo(key("a2"), 400) || r.GrowTo(key("a2"), 401) {
		t.Error("what alice gave back is not hers to take again")
	}
	for _, h := range []string{"a1", "a2", "a3", "b1", "n1", "n2", "none"} {
		r.Leave(key(h))
	}
	if n, bytes := r.Load(); n != 0 || bytes != 0 {
		t.Errorf("%d requests hold %d bytes", n, bytes)
	}
}

// A request that alone is larger than a share is in memory whole, and counts as that: else clients that each send one
// would hold many times the size together.
func TestARequestLargerThanAShareCountsWhole(t *testing.T) {
	r := newRoom(1000)
	if !r.Enter(key("a"), "alice", 800, 0) || r.Enter(key("b"), "bob", 300, 0) || r.Enter(key("a2"), "alice", 1, 0) {
		t.Error("beside 800 bytes of 1000 there is room for 300, or for more of the same client")
	}
	if !r.Enter(key("c"), "bob", 100, 0) || !r.GrowTo(key("a"), 900) || r.GrowTo(key("a"), 901) {
		t.Error("a request larger than a share does not get what is there, or gets more")
	}
	if r.ShrinkTo(key("a"), 400); !r.Enter(key("d"), "alice", 100, 0) || r.Enter(key("e"), "alice", 1, 0) || !r.Enter(key("f"), "bob", 400, 0) {
		t.Error("what was given back is not there, or more is")
	}
	for _, h := range []string{"a", "b", "a2", "c", "d", "e", "f"} {
		r.Leave(key(h))
	}
	if !r.Enter(key("g"), "alice", 5000, 0) || r.Enter(key("h"), "bob", 1, 0) {
		t.Error("a request larger than all does not take all, or leaves some of it")
	}
	if r.Leave(key("g")); !r.Enter(key("i"), "", 1000, 0) {
		t.Error("some room is not given back")
	}
}
