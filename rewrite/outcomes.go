package rewrite

import (
	"encoding/binary"
	"slices"
	"strings"

	"epitome/event"
)

// outcome is what a compaction came to: tokens of the request before and after it.
type outcome struct{ before, after int }

// outcomes are those of a conversation's last compactions in one lane, the latest last. They are recorded with its decisions, so
// that what is done depends on the prefix alone.
type outcomes []outcome

// pays reports whether another compaction is worth trying for a request of so many tokens. It is not when the last one, or all of
// the last window ones together, saved too little, until the request has grown.
func (o outcomes) pays(total, window int) bool {
	const growth = 0.1 // of what the last one left
	if len(o) == 0 || window == 0 {
		return true
	}
	last := o[len(o)-1]
	return !o.thrash(1) && !o.thrash(window) || float64(total) >= (1+growth)*float64(last.after)
}

// thrash reports whether so many outcomes are known, and saved less than a tenth on average.
func (o outcomes) thrash(window int) bool {
	if len(o) < window {
		return false
	}
	saved := 0.0
	for _, a := range o[len(o)-window:] {
		saved += 1 - float64(a.after)/float64(max(a.before, 1))
	}
	return saved < leastGain*float64(window)
}

const mostOutcomes = 100 // that are kept, whatever is configured

// with is o with more of them, of which the last few are kept.
func (o outcomes) with(more outcomes, window int) outcomes {
	all := append(slices.Clip(o), more...)
	return all[max(0, len(all)-min(max(window, 0), mostOutcomes)):]
}

// append writes them behind a record.
func (o outcomes) append(b []byte) []byte {
	for _, a := range o {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(a.before)), uint64(a.after)) //nolint:gosec // tokens
	}
	return b
}

// readOutcomes reads what append wrote.
func readOutcomes(b []byte) (o outcomes, err error) {
	for len(b) > 0 {
		before, n := binary.Uvarint(b)
		after, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 || max(before, after) > mostTokens || len(o) >= mostOutcomes {
			return nil, errUnreadable
		}
		o, b = append(o, outcome{int(before), int(after)}), b[n+m:] //nolint:gosec // checked
	}
	return o, nil
}

// budgetKey is of what is remembered of a conversation besides its prefixes: what was sent of it.
func (l lane) budgetKey(name ref) string { return "b" + l.scoped() + string(name[:]) }

// amend changes what stands under a key, a number at first 0. A failure costs a warning, and no decision.
func (x *shaping) amend(key string, change func(old uint64) uint64) {
	const tries = 5 // other requests of the conversation may be doing the same
	for range tries {
		old, version, found := x.means.Ledger.Get(key)
		if !found {
			var err error
			if old, version, err = x.means.Ledger.Add(key, []byte{0}); err != nil {
				return
			}
		}
		n, _ := binary.Uvarint(old)
		if _, _, done, err := x.means.Ledger.Swap(key, version, binary.AppendUvarint(nil, change(n))); err != nil || done {
			return
		}
	}
}

// conclude tells how the compaction ended, and notes what it came to.
func (x *shaping) conclude() {
	q := x.plan.inquiry
	if q == nil {
		return
	}
	if n := &q.notice; n.Kind == event.CompactionStarted || n.Kind == event.CompactionCompleted {
		switch {
		case x.out.Report.Err != nil:
			why, _, _ := strings.Cut(x.out.Report.Err.Error(), "\n") // without the stack of a panic
			*n = failureOf(*n, why)
		case x.foreign:
			n.Why = x.out.Report.Reason
		}
		if q.rescue != nil {
			begun := *n
			begun.Kind, begun.MessagesAfter, begun.TokensAfter = event.CompactionStarted, 0, 0
			x.plan.say(begun)
		}
		x.plan.say(*n)
	}
	x.tally()
}

// spent is how many tokens were sent of the conversation since it was compacted last, without this request.
func (x *shaping) spent() int {
	value, _, _ := x.means.Ledger.Get(x.lane.budgetKey(x.name))
	n, _ := binary.Uvarint(value)
	return int(min(n, mostSpent)) //nolint:gosec // bounded
}

// mostSpent keeps a damaged record from overflowing.
const mostSpent = 1 << 50

// tally adds what is sent to the budget, and warns of what is used up: the budget, or the window.
func (x *shaping) tally() {
	r, l, p := &x.out.Report, x.Limits, x.plan
	if r.Conversation == "" || p.rescue != nil { // what was refused is not paid
		return
	}
	sent := r.After.Total()
	if sent > r.Usable && !x.again {
		p.warn(event.Warning{Reason: event.ReasonThreshold, Tokens: r.Before.Total(), Sent: sent})
	}
	if l.WarnAt <= 0 && l.CutoverAt <= 0 {
		return
	}
	spent := 0
	x.amend(x.lane.budgetKey(x.name), func(old uint64) uint64 {
		if spent = int(min(old, mostSpent)); p.notice.Kind == event.CompactionCompleted { //nolint:gosec // bounded
			spent = 0
		}
		return uint64(spent + sent) //nolint:gosec // tokens
	})
	if l.WarnAt > 0 && spent < l.WarnAt && spent+sent >= l.WarnAt {
		p.warn(event.Warning{Reason: event.ReasonBudget, Tokens: spent + sent, Sent: sent})
	}
}
