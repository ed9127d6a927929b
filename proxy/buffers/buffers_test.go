package buffers

import (
	"testing"
	"unsafe"
)

func TestAnOwnerHasOneBufferThatNobodyElseHas(t *testing.T) {
	p := New[int]()
	one, two := p.For(1)(100<<10), p.For(2)(100<<10)
	if len(one) != 0 || cap(one) < 100<<10 || unsafe.SliceData(one) == unsafe.SliceData(two) {
		t.Fatalf("buffers of %d and %d bytes, in one place: %v", cap(one), cap(two), unsafe.SliceData(one) == unsafe.SliceData(two))
	}
	if again := p.For(1)(100 << 10); again != nil || p.Lent() != 2 {
		t.Errorf("a second buffer of %d bytes, %d are lent", cap(again), p.Lent())
	}
	p.TakeBack(1)
	p.TakeBack(1)
	p.TakeBack(3)
	if p.Lent() != 1 {
		t.Errorf("%d are lent, want the one of 2", p.Lent())
	}
	three, four := p.For(3)(70<<10), p.For(4)(70<<10)
	if unsafe.SliceData(three) != unsafe.SliceData(one) || unsafe.SliceData(four) == unsafe.SliceData(one) {
		t.Error("what came back is to be lent again, and once")
	}
}

func TestBodiesOutOfBoundsAreNotLentTo(t *testing.T) {
	p := New[int]()
	for i, n := range []int{0, 1, least - 1, most + 1, 1 << 40} {
		if b := p.For(i)(n); b != nil {
			t.Errorf("%d bytes for a body of %d", cap(b), n)
		}
	}
	for i, n := range []int{least, least + 1, most - 1, most} {
		if b := p.For(i)(n); cap(b) < n || cap(b) >= 2*n {
			t.Errorf("%d bytes for a body of %d", cap(b), n)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	p := New[int]()
	returned := 0
	p.Returned = func(b []byte) { returned += len(b) }
	const owners = 20
	for i := range owners {
		p.For(i)(most)
	}
	for i := range owners {
		p.TakeBack(i)
	}
	if p.kept > mostKept || len(p.free[23]) != mostKept/most || returned != owners*most {
		t.Errorf("%d bytes are kept, in %d buffers; %d came back", p.kept, len(p.free[23]), returned)
	}
}
