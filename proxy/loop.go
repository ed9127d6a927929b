package proxy

import (
	"bytes"
	"crypto/rand"
	"hash/maphash"
	"sync"

	"epitome/proxy/wire"
)

const (
	// viaHeader is the line of a request that has the marks, one each.
	viaHeader = "epitome-via"

	// mostEqual is how many equal requests may be under way at once and carry no mark.
	mostEqual = 8

	// the parts of target and body by which requests pass for equal, in bytes from the end; a circle may lengthen
	// targets
	targetEnd, bodyEnd = 32, 4 << 10

	marks   = 1 // the bit of a loopPass that says that the request is to carry the mark
	entered = 2 // that it is under way
)

// loopGuard is that of one epitome. Make one with newLoopGuard. Its methods may be called from any goroutine.
type loopGuard struct {
	mark string // says that a request was here; nobody can guess it
	seed maphash.Seed

	mu    sync.Mutex
	under map[loopPass]int // how many equal requests are under way; guarded by mu
}

// newLoopGuard returns a guard with a mark of its own.
func newLoopGuard() *loopGuard {
	return &loopGuard{mark: rand.Text(), seed: maphash.MakeSeed(), under: map[loopPass]int{}}
}

// Returned reports whether a request with these header lines was sent by this epitome.
func (g *loopGuard) Returned(lines []byte) bool {
	for l := wire.LinesOf(lines); l.Next(); {
		if l.Is(viaHeader) && bytes.Contains(l.Value, []byte(g.mark)) { // some servers make one line of several
			return true
		}
	}
	return false
}

// loopPass is a request on its way through: a sum of it, but for the bits marks and entered. The zero loopPass is of none.
type loopPass uint64

// Enter takes a request in, which Leave ends.
func (g *loopGuard) Enter(lines, target, body []byte) loopPass {
	var h maphash.Hash
	h.SetSeed(g.seed)
	_, _ = h.Write(target[max(0, len(target)-targetEnd):])
	maphash.WriteComparable(&h, len(body))
	_, _ = h.Write(body[max(0, len(body)-bodyEnd):])
	p := loopPass(h.Sum64())&^marks | entered
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under[p]++
	if g.under[p] > mostEqual || wire.Find(lines, viaHeader) != nil {
		p |= marks
	}
	return p
}

// Leave ends it; a second call does nothing.
func (g *loopGuard) Leave(p *loopPass) {
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
func (g *loopGuard) Mark(p loopPass, head []byte) []byte {
	const end = "\r\n"
	if p&marks == 0 || len(head) < len(end) {
		return head
	}
	head = wire.AppendField(head[:len(head)-len(end)], []byte(viaHeader), g.mark)
	return append(head, end...)
}
