package conversation

import (
	"fmt"

	"epitome/rewrite/span"
)

// Removal takes N items out of a request, from item First of all on, and puts the message With in their place; nothing
// if that is empty.
type Removal struct {
	First, N int
	With     []byte
}

// Place is where the message stands that says the item.
func (it *Item) Place() span.Span {
	if it.Outer.Empty() {
		return it.Span
	}
	return it.Outer
}

// holder is the items of all that the message holds which says item i.
func holder(r *Request, i int) (first, end int) {
	first, end = i, i+1
	outer := r.Items[i].Outer
	if outer.Empty() {
		return first, end
	}
	for first > 0 && r.Items[first-1].Outer == outer {
		first--
	}
	for end < len(r.Items) && r.Items[end].Outer == outer {
		end++
	}
	return first, end
}

// runOf is where n items stand, from item i of all on. A message that holds no other item is part of it as a whole.
func runOf(r *Request, i, n int) span.Span {
	last := i + n - 1
	run := span.Span{Start: r.Items[i].Start, End: r.Items[last].End}
	if !shareHolder(r, i-1, i) && !shareHolder(r, i, i+n) {
		run.Start = r.Items[i].Place().Start
	}
	if !shareHolder(r, i-1, last) && !shareHolder(r, last, i+n) {
		run.End = r.Items[last].Place().End
	}
	return run
}

// shareHolder reports whether one message holds both items, of which one may not be there. It may hold thousands.
func shareHolder(r *Request, i, k int) bool {
	return i >= 0 && k < len(r.Items) && !r.Items[i].Outer.Empty() && r.Items[i].Outer == r.Items[k].Outer
}

// BytesOf returns the bytes of n items, from item i behind the head on, as they are kept.
func (r *Request) BytesOf(i, n int) []byte { return runOf(r, r.Head+i, n).Of(r.Body) }

// Extent is how far what is known of a request reaches whose last known item is item i of all: to the end of its
// message, unless that says more.
func Extent(r *Request, i int) int {
	if !shareHolder(r, i, i+1) {
		return r.Items[i].Place().End
	}
	return r.Items[i].End
}

// Remove is what does the removals, which are in order and do not overlap. A message of which nothing is left goes with
// its items, wherever its removals begin and end.
func Remove(r *Request, list []Removal) ([]span.Edit, error) {
	w := remover{req: r, of: make([]int, len(r.Items))}
	at := 0
	for k, m := range list {
		if m.First < at || m.First+m.N > len(r.Items) {
			return nil, fmt.Errorf("cannot take out %d items from item %d on: others are taken out there, or there are none",
				m.N, m.First)
		}
		at = m.First + m.N
		for i := m.First; i < at; i++ {
			w.of[i] = k + 1
		}
	}
	w.list = list
	return w.edits(), nil
}

// remover works out the edits of several removals.
type remover struct {
	req  *Request
	list []Removal
	of   []int // for each item of all, the number of its removal, from 1 on; 0 if it stays
	all  []span.Edit
}

func (w *remover) edits() []span.Edit {
	shown := make([]bool, len(w.list)) // removals whose message stands where others were
	tail := w.tail()
	for i := 0; i < tail; {
		first, end := holder(w.req, i)
		k := w.owner(first, end)
		if k == 0 {
			w.takeFrom(first, end)
			i = end
			continue
		}
		i, shown[k-1] = w.drop(first, k), true
	}
	if tail < len(w.req.Items) {
		from := w.req.Items[tail].Place().Start
		if tail > 0 {
			from = w.req.Items[tail-1].Place().End
		}
		w.edit(from, w.req.Items[len(w.req.Items)-1].Place().End, nil)
	}
	for k, m := range w.list {
		if !shown[k] && len(m.With) > 0 {
			w.insert(m)
		}
	}
	return w.all
}

func (w *remover) edit(from, to int, with []byte) {
	w.all = append(w.all, span.Edit{Span: span.Span{Start: from, End: to}, With: with})
}

// owner is the removal in whose place a message goes, the items from first to end; 0 if some of it stays. One with a
// message goes before one without.
func (w *remover) owner(first, end int) int {
	k := w.of[first]
	for _, o := range w.of[first:end] {
		if o == 0 {
			return 0
		}
		if len(w.list[k-1].With) == 0 {
			k = o
		}
	}
	return k
}

// tail is the first item from which on all go and nothing comes in their place.
func (w *remover) tail() int {
	for i := len(w.req.Items); i > 0; {
		first, end := holder(w.req, i-1)
		if k := w.owner(first, end); k == 0 || len(w.list[k-1].With) > 0 {
			return i
		}
		i = first
	}
	return 0
}

// drop takes out all messages from item i on that go in the place of removal k, with all behind them for which nothing
// comes either, and returns the item behind them.
func (w *remover) drop(i, k int) int {
	silent := len(w.list[k-1].With) == 0
	end := i
	for end < len(w.req.Items) {
		first, next := holder(w.req, end)
		o := w.owner(first, next)
		if o == 0 || o != k && (!silent || len(w.list[o-1].With) > 0) {
			break
		}
		end = next
	}
	from, to := w.req.Items[i].Place().Start, w.req.Items[end-1].Place().End
	if silent && end < len(w.req.Items) {
		to = w.req.Items[end].Place().Start
	}
	w.edit(from, to, w.list[k-1].With)
	return end
}

// takeFrom takes out those items from first to end that go. Some of them stay.
func (w *remover) takeFrom(first, end int) {
	for i := first; i < end; i++ {
		if w.of[i] == 0 {
			continue
		}
		from := i
		for i < end && w.of[i] != 0 {
			i++
		}
		if i < end {
			w.edit(w.req.Items[from].Start, w.req.Items[i].Start, nil)
		} else {
			w.edit(w.req.Items[from-1].End, w.req.Items[end-1].End, nil)
		}
	}
}

// insert puts the message of a removal, of which no message went as a whole, before the message where it begins if it
// takes the first of it, else behind that.
func (w *remover) insert(m Removal) {
	place := w.req.Items[m.First].Place()
	if !shareHolder(w.req, m.First-1, m.First) {
		w.edit(place.Start, place.Start, append(append([]byte(nil), m.With...), ','))
	} else {
		w.edit(place.End, place.End, append([]byte{','}, m.With...))
	}
}
