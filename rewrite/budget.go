package rewrite

import (
	"encoding/binary"
	"strings"

	"epitome/event"
	"epitome/rewrite/compact"
)

// amend changes what stands under a key, a number at first 0. A failure costs a warning, and no decision.
func (x *run) amend(key string, change func(old uint64) uint64) {
	const tries = 5 // other requests of the conversation may be doing the same
	for range tries {
		old, version, found := x.shaper.deps.Ledger.Get(key)
		if !found {
			var err error
			if old, version, err = x.shaper.deps.Ledger.Add(key, []byte{0}); err != nil {
				return
			}
		}
		n, _ := binary.Uvarint(old)
		if _, _, done, err := x.shaper.deps.Ledger.Swap(key, version, binary.AppendUvarint(nil, change(n))); err != nil || done {
			return
		}
	}
}

// conclude tells how the compaction ended, and notes what it came to.
func (x *run) conclude() {
	q := x.plan.Ask
	if q == nil {
		return
	}
	if n := &q.Notice; n.Kind == event.CompactionStarted || n.Kind == event.CompactionCompleted {
		switch {
		case x.out.Report.Err != nil:
			why, _, _ := strings.Cut(x.out.Report.Err.Error(), "\n") // without the stack of a panic
			*n = compact.FailureOf(*n, why)
		case x.adopted:
			n.Why = x.out.Report.Reason
		}
		if q.Rescue != nil {
			begun := *n
			begun.Kind, begun.MessagesAfter, begun.TokensAfter = event.CompactionStarted, 0, 0
			x.plan.Tell(begun)
		}
		x.plan.Tell(*n)
	}
	x.tally()
}

// sentSinceCompaction is how many tokens were sent of the conversation since it was compacted last, without this request.
func (x *run) sentSinceCompaction() int {
	value, _, _ := x.shaper.deps.Ledger.Get(x.route.BudgetKey(x.name))
	n, _ := binary.Uvarint(value)
	return int(min(n, mostSpent)) //nolint:gosec // bounded
}

// mostSpent keeps a damaged record from overflowing.
const mostSpent = 1 << 50

// tally adds what is sent to the budget, and warns of what is used up: the budget, or the window.
func (x *run) tally() {
	r, l, p := &x.out.Report, x.in.Limits, x.plan
	if r.Conversation == "" || p.Ask.Rescue != nil { // what was refused is not paid
		return
	}
	sent := r.After.Total()
	if sent > r.Usable && !x.decidedBefore {
		p.Warn(event.Warning{Reason: event.ReasonThreshold, Tokens: r.Before.Total(), Sent: sent})
	}
	if l.WarnAt <= 0 && l.CutoverAt <= 0 {
		return
	}
	spent := 0
	x.amend(x.route.BudgetKey(x.name), func(old uint64) uint64 {
		if spent = int(min(old, mostSpent)); p.Ask.Notice.Kind == event.CompactionCompleted { //nolint:gosec // bounded
			spent = 0
		}
		return uint64(spent + sent) //nolint:gosec // tokens
	})
	if l.WarnAt > 0 && spent < l.WarnAt && spent+sent >= l.WarnAt {
		p.Warn(event.Warning{Reason: event.ReasonBudget, Tokens: spent + sent, Sent: sent})
	}
}
