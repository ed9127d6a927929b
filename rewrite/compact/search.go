package compact

import (
	"crypto/sha256"
	"errors"
	"strings"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap"
)

// findProse finds prose for the recap: one that is ready or being made for a cut that brings the request down as far as
// it should come, else a new one. The cut moves to that. after is what the request takes when cut where it is. Without
// an answer what a model said before stays.
func (c *compaction) findProse(after int) {
	c.says = c.earlierProse()
	if !c.P.Ask.Asks() {
		return
	}
	q := &summarySearch{comp: c, known: c.says, to: c.to}
	ready, pending := q.findSummary(after, 0)
	switch {
	case ready:
		c.P.Result.Notice.Prepared = true
	case c.P.Case.Rescue != nil:
		c.P.Result.Notice.Why = "a refused request does not wait for a summary"
		return
	case c.P.Ask.Client == nil:
		c.P.Result.Notice.Why = "nobody waits for a summary"
		return
	default:
		if !pending {
			if q.to = c.to; !q.isFamiliar() {
				c.P.Result.Notice.Why = "no model is asked about a conversation that was not seen before"
				return
			}
		}
		if !q.ask() {
			// It is for what is left out here, and counts for the next one.
			if found, being := q.lookUp(); found || being {
				c.to = q.to
			}
			return
		}
	}
	c.to, c.says, c.P.Result.Notice.Cost = q.to, recap.Says{Text: q.prose.Text, Until: q.to}, q.prose.Cost
}

// earlierProse is what a model said of the items that were left out before.
func (c *compaction) earlierProse() recap.Says {
	if c.P.Ask.Style.Mode == prose.ModeLossless {
		return recap.Says{}
	}
	for i := max(c.from-1, 0); i < c.compactedTo; i++ {
		if f := c.P.Forms[i]; f != nil && f.Prose != "" {
			return c.newerProse(recap.Says{Text: f.Prose, Until: f.Until})
		}
	}
	return c.newerProse(recap.Says{})
}

// newerProse is prose that was not ready when those items were left out, and is by now; else t.
func (c *compaction) newerProse(t recap.Says) recap.Says {
	if c.compactedTo <= c.from || t.Until >= c.compactedTo || !c.P.Ask.Asks() {
		return t
	}
	q := summarySearch{comp: c, known: t, to: c.compactedTo}
	if found, _ := q.lookUp(); found {
		return recap.Says{Text: q.prose.Text, Until: c.compactedTo}
	}
	return t
}

// summarySearch is the search for the prose of one compaction.
type summarySearch struct {
	comp     *compaction
	known    recap.Says // what is updated
	to       int        // end of the span that is asked about
	foundKey string     // the key under which prose was found, or is being made; empty if neither
	prose    prose.Prose
}

// findSummary looks for prose that is there, or at least being made, from the cut on that leaves out most. With it the
// request, grown by so many tokens, must come down about as far as it should; the compaction's own cut may be as it is,
// and one behind it leaves out more, but not most of the tail.
func (q *summarySearch) findSummary(after, growth int) (ready, pending bool) {
	waiting, being, end, looks := 0, "", q.comp.to, 0
	least := min(q.comp.tail/2, q.comp.tail-q.comp.P.Limits.Usable/10)
	q.comp.eachCut(func(i, have int) bool {
		if i > q.comp.to && have < least {
			return true
		}
		for k := i; k < end; k++ {
			if !q.comp.stays(k) {
				after += q.comp.P.SentSize(k)
			}
		}
		end = min(end, i)
		if i < q.comp.to && after+growth > q.comp.sufficientSize() || i <= q.comp.compactedTo || looks >= mostLooks {
			return false
		}
		if q.comp.P.Ask.PreparedCut > q.comp.compactedTo && i != q.comp.P.Ask.PreparedCut && i != q.comp.to {
			return true
		}
		looks++
		q.to = i
		found, made := q.lookUp()
		if made && waiting == 0 {
			waiting, being = i, q.foundKey
		}
		ready = found
		return !ready
	})
	if !ready {
		q.to, q.foundKey = waiting, being
	}
	return ready, waiting > 0
}

// mostLooks bounds the search where nobody knows at which cut a summary was begun.
const mostLooks = 300

// sufficientSize is the size, in tokens, to which a request must come down so that a summary that is there, or being
// made, is taken: what must be waited for, and paid, is worth a little room. A refused request waits for none, so
// whatever is there is better.
func (c *compaction) sufficientSize() int {
	if c.P.Case.Rescue != nil {
		return c.P.Limits.Usable
	}
	return c.target + c.P.Limits.Usable/10
}

// lookUp looks for prose of the span, with the leading block in view or without.
func (q *summarySearch) lookUp() (found, pending bool) {
	q.foundKey = ""
	for _, head := range []bool{true, false} {
		key := q.key(head)
		p, found, being := q.comp.P.Ask.Summariser.Look(key)
		if found && q.takeProse(p) {
			q.foundKey = key
			return true, false
		}
		if being {
			q.foundKey = key
		}
		pending = pending || being
	}
	return false, pending
}

// key names the question. What comes before the span is in the first link, what is in it in the second.
func (q *summarySearch) key(head bool) string {
	h := q.comp.P.Hist.Chain
	parts := []string{"summary 1", q.comp.P.Route.Scope, string(h[q.comp.from][:]), string(h[q.to][:]),
		q.comp.P.Ask.Style.Mode, q.comp.P.Ask.Style.Detail, q.known.Text}
	if head {
		if q.comp.P.Ask.HeadSum == (conversation.Link{}) {
			q.comp.P.Ask.HeadSum = sha256.Sum256(q.head())
		}
		parts = append(parts, string(q.comp.P.Ask.HeadSum[:]))
	}
	r := decision.RefOf(parts...)
	return string(r[:])
}

// head is the leading block with what is added to it.
func (q *summarySearch) head() []byte {
	head := q.comp.P.Req.LeadingBlock()
	for _, e := range q.comp.P.Ask.Head {
		head = append(head[:len(head):len(head)], e.With...)
	}
	return head
}

// isFamiliar reports whether most of the span was decided on before. A client whose history never extends the one
// before would have a model asked each turn, for nothing.
func (q *summarySearch) isFamiliar() bool {
	return q.comp.P.Case.Manual || 2*q.comp.P.Base.Depth() >= q.comp.from+q.to
}

// ask asks for the prose, and reports whether there is any.
func (q *summarySearch) ask() bool {
	var p prose.Prose
	var err error
	client, question := q.comp.P.Ask.Client, q.question()
	client.Waits(func() { p, err = q.comp.P.Ask.Summariser.Ask(client.Context(), question) })
	if err == nil && q.takeProse(p) {
		return true
	}
	q.comp.P.Ask.Deserted = client.Context().Err() != nil
	q.comp.P.Result.Notice.Why = "a model was asked, and gave no summary"
	if err != nil {
		q.comp.P.Result.Notice.Why = err.Error()
	}
	return false
}

// takeProse takes the prose, and reports whether it says anything. What is recorded comes back as it is only if it is
// text.
func (q *summarySearch) takeProse(p prose.Prose) bool {
	p.Text = strings.ToValidUTF8(p.Text, "\ufffd")
	q.prose = p
	return strings.TrimSpace(p.Text) != ""
}

// ErrDeserted says that nobody waits for the request any more. Nothing is decided then: the client may come again.
var ErrDeserted = errors.New("the client left while a summary was made")

// PrepareSummary has a summary made ahead of need, for when the line is crossed.
func PrepareSummary(p *plan.Plan) {
	// By so much the request must have grown since the last time, and may be over the line when it crosses it.
	step := p.Limits.Usable / 20
	total := p.Total()
	if total <= p.Limits.PrepareLine {
		p.Ask.Prepared = 0
		return
	}
	if !p.Ask.Asks() || p.Ask.Client == nil || !p.Ask.Summariser.Prepares(p.Route.Upstream) ||
		total < p.Ask.Prepared+step {
		return
	}
	c := newCompaction(p, recap.BudgetsOf(p))
	growth := max(0, p.Limits.CompactLine-total) + step
	room := c.target - c.fixed - c.summarySize - growth
	c.tail = max(min(c.P.Limits.KeepTail, room), decision.LeastTail)
	if c.findCut(); c.to <= c.from || room < decision.LeastTail { // by the line it would leave too much
		return
	}
	saved := c.savings()
	if saved <= int(decision.LeastGain*float64(total)) || total-saved+growth > c.sufficientSize() {
		return
	}
	q := &summarySearch{comp: c, known: c.earlierProse(), to: c.to}
	if !q.isFamiliar() {
		return
	}
	if ready, pending := q.findSummary(total-saved, growth); ready || pending {
		return
	}
	q.to, p.Ask.Prepared, p.Ask.PreparedCut = c.to, total, c.to
	q.comp.P.Ask.Summariser.Prepare(q.question())
}
