package story

import (
	"slices"

	"epitome/event"
)

// mostTroubles is how many of the newest exchanges that went wrong are listed.
const mostTroubles = 100

// wentWrong reports whether somebody may ask what became of an exchange: its client did not get the whole of a good
// answer, or something failed inside epitome, and it was sent as it came.
func wentWrong(e *event.Exchange) bool { return isFailed(e) || e.Action == event.ActionBypass }

// noteTrouble notes the number of an exchange that went wrong.
func (r *recent) noteTrouble(n Entry) {
	if n.Exchange == nil || !wentWrong(n.Exchange) {
		return
	}
	if len(r.troubles) == mostTroubles {
		r.troubles = slices.Delete(r.troubles, 0, 1)
	}
	r.troubles = append(r.troubles, n.Seq())
}

// Troubles returns the newest exchanges that went wrong, as far as they are kept, the newest first.
func (b *Book) Troubles() []event.Exchange {
	b.Settle()
	b.past.RLock()
	defer b.past.RUnlock()
	all := []event.Exchange{}
	for _, seq := range slices.Backward(b.past.recent.troubles) {
		if n, ok := b.past.recent.find(seq); ok {
			all = append(all, *n.Exchange)
		}
	}
	return all
}
