package rewrite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"epitome/event"
	"epitome/prose"
)

// inquiry is how compactions of a request get prose, and whom they tell what they do.
type inquiry struct {
	Summariser          // nil if no model is asked
	style        Style  // as it is at the window
	client       Client // nil if nobody waits
	lane         lane
	conversation string
	holds, takes int // tokens of the model: its window, and what of it may be filled
	tell         Listener
	moved        bool             // the leading block is another than in the request before: no provider has it cached
	prepared     int              // tokens that the request had when a summary was last made ahead of need
	hint         int              // the cut at which that was
	leading      Link             // hash of the leading block, once it was asked for
	left         bool             // the client has left while an answer was waited for
	manual       bool             // the compaction was asked for
	rescue       *Rescue          // the request was refused; nil if it was not
	stage        Stage            // of the rescue that was reached
	budget       bool             // the conversation's budget is used up
	notice       event.Compaction // of the compaction that was begun last
	tracked      int              // files that its recap names
	outcomes     outcomes         // of the conversation, with those of this request
}

// At is the style at a window of so many tokens: what auto stands for there.
func (s Style) At(window int) Style {
	const small = 32_768 // tokens; a model has little to say in so little room
	if s.Detail == "" {
		s.Detail = prose.DetailMedium
	}
	if s.Mode == "" || s.Mode == prose.ModeAuto {
		s.Mode = prose.ModeHybrid
		if window <= small {
			s.Mode = prose.ModeIntent
		}
	}
	return s
}

// replaces reports whether what was decided for this request before is to be replaced.
func (q *inquiry) replaces() bool { return q.manual || q.rescue != nil }

// asks reports whether prose is wanted and a model can be asked for it.
func (q *inquiry) asks() bool {
	return q.Summariser != nil && (q.style.Mode == prose.ModeLLM || q.style.Mode == prose.ModeHybrid)
}

// told is what a model says of the first items behind the head.
type told struct {
	prose string
	until int // items
}

// heading says in the recap of the items before item to what the prose is. head is how many items stand before those.
func (t told) heading(head, to int) string {
	s := "told by a model that saw it; where results and files say something else, they are right"
	if t.until < to {
		s += fmt.Sprintf("; of the messages from %d on it does not know", head+t.until)
	}
	return s
}

// inquire finds prose for the recap: one that is ready or being made for a cut that brings the request down as far as it should
// come, else a new one. The cut moves to that. after is what the request takes when cut where it is. Without an answer what a
// model said before stays.
func (c *compaction) inquire(after int) {
	c.told = c.earlier()
	if !c.asks() {
		return
	}
	q := &inquiring{compaction: c, known: c.told, to: c.to}
	ready, pending := q.made(after, 0)
	switch {
	case ready:
		c.notice.Prepared = true
	case c.rescue != nil:
		c.notice.Why = "a refused request does not wait for a summary"
		return
	case c.client == nil:
		c.notice.Why = "nobody waits for a summary"
		return
	default:
		if !pending {
			if q.to = c.to; !q.familiar() {
				c.notice.Why = "no model is asked about a conversation that was not seen before"
				return
			}
		}
		if !q.ask() {
			if found, being := q.look(); found || being { // it is for what is left out here, and counts for the next one
				c.to = q.to
			}
			return
		}
	}
	c.to, c.told, c.notice.Cost = q.to, told{q.prose.Text, q.to}, q.prose.Cost
}

// earlier is what a model said of the items that were left out before.
func (c *compaction) earlier() told {
	if c.style.Mode == prose.ModeLossless {
		return told{}
	}
	for i := max(c.from-1, 0); i < c.done; i++ {
		if f := c.forms[i]; f != nil && f.Prose != "" {
			return c.overtaken(told{f.Prose, f.Until})
		}
	}
	return c.overtaken(told{})
}

// overtaken is prose that was not ready when those items were left out, and is by now; else t.
func (c *compaction) overtaken(t told) told {
	if c.done <= c.from || t.until >= c.done || !c.asks() {
		return t
	}
	q := inquiring{compaction: c, known: t, to: c.done}
	if found, _ := q.look(); found {
		return told{q.prose.Text, c.done}
	}
	return t
}

// inquiring is the search for the prose of one compaction.
type inquiring struct {
	*compaction
	known told   // what is updated
	to    int    // end of the span that is asked about
	named string // the key under which prose was found, or is being made; empty if neither
	prose prose.Prose
}

// made looks for prose that is there, or at least being made, from the cut on that leaves out most. With it the request, grown by
// so many tokens, must come down about as far as it should; the compaction's own cut may be as it is, and one behind it leaves
// out more, but not most of the tail.
func (q *inquiring) made(after, growth int) (ready, pending bool) {
	waiting, being, end, looks := 0, "", q.compaction.to, 0
	least := min(q.tail/2, q.tail-q.usable/10)
	q.cuts(func(i, have int) bool {
		if i > q.compaction.to && have < least {
			return true
		}
		for k := i; k < end; k++ {
			if !q.stays(k) {
				after += q.sent(k)
			}
		}
		end = min(end, i)
		if i < q.compaction.to && after+growth > q.enough() || i <= q.done || looks >= mostLooks {
			return false
		}
		if q.hint > q.done && i != q.hint && i != q.compaction.to {
			return true
		}
		looks++
		q.to = i
		found, made := q.look()
		if made && waiting == 0 {
			waiting, being = i, q.named
		}
		ready = found
		return !ready
	})
	if !ready {
		q.to, q.named = waiting, being
	}
	return ready, waiting > 0
}

// mostLooks bounds the search where nobody knows at which cut a summary was begun.
const mostLooks = 300

// enough is to how many tokens a request must come down for a summary that is there, or being made, to be taken: what must be
// waited for, and paid, is worth a little room. A refused request waits for none, so whatever is there is better.
func (c *compaction) enough() int {
	if c.rescue != nil {
		return c.usable
	}
	return c.target + c.usable/10
}

// look looks for prose of the span, with the leading block in view or without.
func (q *inquiring) look() (found, pending bool) {
	q.named = ""
	for _, head := range []bool{true, false} {
		key := q.key(head)
		p, found, being := q.Look(key)
		if found && q.hears(p) {
			q.named = key
			return true, false
		}
		if being {
			q.named = key
		}
		pending = pending || being
	}
	return false, pending
}

// key names the question. What comes before the span is in the first link, what is in it in the second.
func (q *inquiring) key(head bool) string {
	h := q.hist.chain
	parts := []string{"summary 1", q.scope, string(h[q.from][:]), string(h[q.to][:]), q.style.Mode, q.style.Detail, q.known.prose}
	if head {
		if q.leading == (Link{}) {
			q.leading = sha256.Sum256(q.req.leading())
		}
		parts = append(parts, string(q.leading[:]))
	}
	r := refOf(parts...)
	return string(r[:])
}

// leading is the leading block as it stands in the body; nothing if there is none.
func (r *Request) leading() []byte {
	if r.Head == 0 {
		return nil
	}
	return r.Body[r.Items[0].Start:r.Items[r.Head-1].End]
}

// familiar reports whether most of the span was decided on before. A client whose history never extends the one before would
// have a model asked each turn, for nothing.
func (q *inquiring) familiar() bool { return q.manual || 2*q.plan.base.depth() >= q.from+q.to }

// ask asks for the prose, and reports whether there is any.
func (q *inquiring) ask() bool {
	p, err := q.Ask(q.client.Context(), q.question())
	if err == nil && q.hears(p) {
		return true
	}
	q.left = q.client.Context().Err() != nil
	q.notice.Why = "a model was asked, and gave no summary"
	if err != nil {
		q.notice.Why = err.Error()
	}
	return false
}

// hears takes the prose, and reports whether it says anything. What is recorded comes back as it is only if it is text.
func (q *inquiring) hears(p prose.Prose) bool {
	p.Text = strings.ToValidUTF8(p.Text, "\ufffd")
	q.prose = p
	return strings.TrimSpace(p.Text) != ""
}

// errDeserted says that nobody waits for the request any more. Nothing is decided then: the client may come again.
var errDeserted = errors.New("the client left while a summary was made")

// prepare has a summary made ahead of need, for when the line is crossed.
func (p *plan) prepare() {
	step := p.usable / 20 // by which the request must have grown since the last time, and may be over the line when it crosses it
	total := p.total()
	if total <= p.prepareLine {
		p.prepared = 0
		return
	}
	if !p.asks() || p.client == nil || !p.Prepares(p.lane.upstream) || total < p.prepared+step {
		return
	}
	c := p.compaction(p.budgets())
	growth := max(0, p.compactLine-total) + step
	room := c.target - c.fixed - c.recap - growth
	c.tail = max(min(c.keepTail, room), leastTail)
	if c.cut(); c.to <= c.from || room < leastTail { // by the line it would leave too much
		return
	}
	saved := c.saved()
	if saved <= int(leastGain*float64(total)) || total-saved+growth > c.enough() {
		return
	}
	q := &inquiring{compaction: c, known: c.earlier(), to: c.to}
	if !q.familiar() {
		return
	}
	if ready, pending := q.made(total-saved, growth); ready || pending {
		return
	}
	q.to, p.prepared, p.hint = c.to, total, c.to
	q.Prepare(q.question())
}
