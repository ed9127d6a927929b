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

	marks   = 1 // the bit of a Pass that says that the request is to carry the mark
	entered = 2 // that it is under way
)

// Guard is that of one epitome. Make one with New. Its methods may be called from any goroutine.
type Guard struct {
	mark string // says that a request was here; nobody can guess it
	seed maphash.Seed

	mu    sync.Mutex
	under map[Pass]int // how many equal requests are under way; guarded by mu
}

// New returns a guard with a mark of its own.
func New() *Guard {
	return &Guard{mark: rand.Text(), seed: maphash.MakeSeed(), under: map[Pass]int{}}
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

// Pass is a request on its way through: a sum of it, but for the bits marks and entered. The zero Pass is of none.
type Pass uint64

// Enter takes a request in, which Leave ends.
func (g *Guard) Enter(lines, target, body []byte) Pass {
	var h maphash.Hash
	h.SetSeed(g.seed)
	_, _ = h.Write(target[max(0, len(target)-targetEnd):])
	maphash.WriteComparable(&h, len(body))
	_, _ = h.Write(body[max(0, len(body)-bodyEnd):])
	p := Pass(h.Sum64())&^marks | entered
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under[p]++
	if g.under[p] > Most || wire.Find(lines, Header) != nil {
		p |= marks
	}
	return p
}

// Leave ends it; a second call does nothing.
func (g *Guard) Leave(p *Pass) {
	if *p&entered == 0 {
		return
	}
	sum := *p &^ marks
	*p = 0
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.under[sum]--; g.under[sum] == 0 {
		delete(g.under, sum)
	}
}

// Mark puts the mark at the end of a request's head, if it is to carry it.
func (g *Guard) Mark(p Pass, head []byte) []byte {
	const end = "\r\n"
	if p&marks == 0 || len(head) < len(end) {
		return head
	}
	head = wire.AppendField(head[:len(head)-len(end)], []byte(Header), g.mark)
	return append(head, end...)
}
