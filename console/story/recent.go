package story

import "sort"

// recent are the newest events in the order of their numbers. Nobody changes an event that is in it.
type recent struct {
	events   []Entry
	next     int      // where the oldest one is, once it is full
	troubles []uint64 // numbers of the newest exchanges that went wrong, the oldest first
}

// push adds the newest event, and returns the one whose place it has taken, if it has.
func (r *recent) push(n Entry) (gone Entry) {
	r.noteTrouble(n)
	if len(r.events) < mostEntries {
		r.events = append(r.events, n)
		return gone
	}
	gone, r.events[r.next] = r.events[r.next], n
	r.next = (r.next + 1) % mostEntries
	return gone
}

func (r *recent) count() int { return len(r.events) }

// at is the i-th one, the oldest first.
func (r *recent) at(i int) Entry { return r.events[(r.next+i)%len(r.events)] }

// from is the index of the first one with at least that number.
func (r *recent) from(seq uint64) int {
	return sort.Search(r.count(), func(i int) bool { return r.at(i).Seq() >= seq })
}

// find returns the event of that number, if it is kept.
func (r *recent) find(seq uint64) (n Entry, ok bool) {
	i := r.from(seq)
	if i == r.count() || r.at(i).Seq() != seq {
		return n, false
	}
	return r.at(i), true
}
