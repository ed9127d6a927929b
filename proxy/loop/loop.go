// Package loop recognises a request that comes back to the epitome that sent it.
//
// It promises: a request that runs in a circle of epitomes is recognised after a few rounds, and no other request ever
// is. A request carries a mark only while more than Most equal ones are under way here, or if another epitome has
// marked it: all others go on as they came. A chain of epitomes in which no one stands twice passes.
//
// It assumes that whoever stands in between hands on what is said, and the header of the mark. What is rewritten on
// each round is recognised once nothing is left to rewrite.
package loop

import (
	"bytes"
	"crypto/rand"
	"hash/maphash"
	"sync"

	"epitome/proxy/wire"
)

const (
	// Header is the line of a request that has the marks, one each.
	Header = "epitome-via"

	// Most is how many equal requests may be under way at once and carry no mark.
	Most = 8

	// the parts of target and body by which requests pass for equal, in bytes from the end; a circle may lengthen
	// targets
	targetEnd, bodyEnd = 32, 4 << 10

	marks = 1 // the bit of a sum that says that a request is to carry the mark
)

// Guard is that of one epitome. Make one with New. Its methods may be called from any goroutine.
type Guard struct {
	mark string // says that a request was here; nobody can guess it
	seed maphash.Seed

	mu    sync.Mutex
	under map[uint64]int // how many equal requests are under way; guarded by mu
}

// New returns a guard with a mark of its own.
func New() *Guard {
	return &Guard{mark: rand.Text(), seed: maphash.MakeSeed(), under: map[uint64]int{}}
}

// Returned reports whether a request with these header lines was sent by this epitome.
func (g *Guard) Returned(lines []byte) bool {
	for l := wire.LinesOf(lines); l.Next(); {
		if l.Is(Header) && bytes.Contains(l.Value, []byte(g.mark)) { // some servers make one line of several
			return true
		}
	}
	return false
}

// Pass is a request on its way through. The zero Pass is of none.
type Pass struct {
	guard *Guard
	sum   uint64 // of the request, but for the bit marks
}

// Enter takes a request in, which Leave ends.
func (g *Guard) Enter(lines, target, body []byte) Pass {
	var h maphash.Hash
	h.SetSeed(g.seed)
	_, _ = h.Write(target[max(0, len(target)-targetEnd):])
	maphash.WriteComparable(&h, len(body))
	_, _ = h.Write(body[max(0, len(body)-bodyEnd):])
	p := Pass{guard: g, sum: h.Sum64() &^ marks}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under[p.sum]++
	if g.under[p.sum] > Most || wire.Find(lines, Header) != nil {
		p.sum |= marks
	}
	return p
}

// Leave ends it; a second call does nothing.
func (p *Pass) Leave() {
	if p.guard == nil {
		return
	}
	g, sum := p.guard, p.sum&^marks
	p.guard = nil
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.under[sum]--; g.under[sum] == 0 {
		delete(g.under, sum)
	}
}

// Mark puts the mark at the end of a request's head, if it is to carry it.
func (p *Pass) Mark(head []byte) []byte {
	const end = "\r\n"
	if p.sum&marks == 0 || len(head) < len(end) {
		return head
	}
	head = wire.AppendField(head[:len(head)-len(end)], []byte(Header), p.guard.mark)
	return append(head, end...)
}
