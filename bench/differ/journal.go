package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// The kinds of what a journal notes.
const (
	sent     = "sent upstream"   // the client's request, as it reached the upstream
	asked    = "asked upstream"  // a request that epitome made itself
	answered = "answered"        // what the client got
	stray    = "reached nowhere" // what belongs to no play
)

// journal notes what came of each play in one run. There is one track more than plays: of what belongs to none.
type journal struct{ tracks []track }

func newJournal(plays int) *journal { return &journal{make([]track, plays+1)} }

// summary counts the actions that answers name, and the requests that epitome made itself.
func (j *journal) summary() string {
	counts := map[string]int{}
	for k := range j.tracks {
		for _, n := range j.tracks[k].notes {
			switch n.kind {
			case answered:
				_, action, _ := strings.Cut(n.head, actionHeader+": ")
				action, _, _ = strings.Cut(action, "\n")
				counts[cmp.Or(action, "unnamed")]++
			case asked:
				counts[asked]++
			}
		}
	}
	var words []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", what, counts[what]))
	}
	return strings.Join(words, ", ")
}

// track is the part of one play. A note holds only how its body differs from the one before it of its kind: the
// requests of a conversation extend one another.
type track struct {
	mu    sync.Mutex // guards what follows
	notes []note
	last  map[string][]byte // body by kind
}

// note is one thing noted. turn counts the play's requests from 0.
type note struct {
	kind string
	turn int
	head string
	body delta
}

// delta is a body as the part of another one that it does not share with it.
type delta struct {
	front, back int // bytes at the beginning and the end that both have
	middle      []byte
}

// newDelta finds what body does not share with base.
func newDelta(base, body []byte) delta {
	var d delta
	most := min(len(base), len(body))
	d.front = sharedPrefix(base[:most], body[:most])
	for d.back < most-d.front && base[len(base)-1-d.back] == body[len(body)-1-d.back] {
		d.back++
	}
	d.middle = bytes.Clone(body[d.front : len(body)-d.back])
	return d
}

// sharedPrefix returns how many bytes a and b have in common at their beginning.
func sharedPrefix(a, b []byte) (n int) {
	const stride = 4096
	for n+stride <= min(len(a), len(b)) && bytes.Equal(a[n:n+stride], b[n:n+stride]) {
		n += stride
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// of returns the body that the delta was made from.
func (d delta) of(base []byte) []byte {
	body := make([]byte, 0, d.front+len(d.middle)+d.back)
	body = append(append(body, base[:d.front]...), d.middle...)
	return append(body, base[len(base)-d.back:]...)
}

// add notes a body, which nobody may change afterwards.
func (t *track) add(n note, body []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string][]byte{}
	}
	n.body = newDelta(t.last[n.kind], body)
	t.last[n.kind] = body
	t.notes = append(t.notes, n)
}

// reader gives the notes of a track with their bodies, one after the other.
type reader struct {
	notes []note
	last  map[string][]byte
}

func (t *track) read() *reader { return &reader{t.notes, map[string][]byte{}} }

// next returns the note at hand with its body; nil behind the last one.
func (r *reader) next() (*note, []byte) {
	if len(r.notes) == 0 {
		return nil, nil
	}
	n := &r.notes[0]
	body := n.body.of(r.last[n.kind])
	r.last[n.kind], r.notes = body, r.notes[1:]
	return n, body
}

// difference is one thing in which two runs are not the same.
type difference struct {
	where     string
	old, new  string // excerpts from the first byte that differs on
	oldAt     int    // that byte's offset
	sizes     [2]int // bytes of both sides
	onlyInOne string // what is missing in the other run; the rest is empty then
}

// String returns the difference as it is printed.
func (d difference) String() string {
	if d.onlyInOne != "" {
		return d.where + ": " + d.onlyInOne
	}
	return fmt.Sprintf("%s: differs from byte %d on (%d and %d bytes)\n  old %q\n  new %q",
		d.where, d.oldAt, d.sizes[0], d.sizes[1], d.old, d.new)
}

// Bytes of each side that a difference shows: some before the first one that differs, and what follows.
const (
	shownBefore = 20
	shownBehind = 100
)

// differ returns the first difference of two texts; nil if they are equal.
func differ(where string, old, new []byte) *difference {
	if bytes.Equal(old, new) {
		return nil
	}
	at := sharedPrefix(old, new)
	show := func(text []byte) string {
		return string(text[max(0, at-shownBefore):min(len(text), at+shownBehind)])
	}
	return &difference{where: where, old: show(old), new: show(new), oldAt: at, sizes: [2]int{len(old), len(new)}}
}

// differTracks calls tell with every difference between what two runs have noted of a play.
func differTracks(name string, old, new *track, tell func(difference)) {
	a, b := old.read(), new.read()
	x, textX := a.next()
	y, textY := b.next()
	where := func(n *note) string { return fmt.Sprintf("%s, request %d, %s", name, n.turn+1, n.kind) }
	for x != nil || y != nil {
		switch {
		case y == nil || x != nil && x.turn < y.turn ||
			x != nil && x.turn == y.turn && x.kind == asked && y.kind != asked:
			tell(difference{where: where(x), onlyInOne: "only with the old build"})
			x, textX = a.next()
			continue
		case x == nil || x.turn != y.turn || x.kind != y.kind:
			tell(difference{where: where(y), onlyInOne: "only with the new build"})
			y, textY = b.next()
			continue
		}
		if d := differ(where(x)+", head", []byte(x.head), []byte(y.head)); d != nil {
			tell(*d)
		}
		if d := differ(where(x), textX, textY); d != nil {
			tell(*d)
		}
		x, textX = a.next()
		y, textY = b.next()
	}
}
