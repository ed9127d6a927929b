package rewrite

import (
	"encoding/binary"
	"strings"

	"epitome/event"
	"epitome/rewrite/compact"
	"epitome/rewrite/decision"
)

// conclude tells how the compaction ended and who is left out of it, and adds to the budget what is sent.
func (x *run) conclude() {
	tellEnd(x)
	if left, r := &x.plan.Result, &x.out.Report; left.UsersLeft > 0 && r.Err == nil {
		x.plan.Warn(event.Warning{Reason: event.ReasonUsers, Tokens: r.Before.Total(), Sent: r.After.Total(),
			Messages: left.UsersLeft, Latest: left.LatestLeft})
	}
	x.tally()
}

// tellEnd tells how the compaction ended, if there was one.
func tellEnd(x *run) {
	if n := &x.plan.Result.Notice; n.Kind == event.CompactionStarted || n.Kind == event.CompactionCompleted {
		switch {
		case x.out.Report.Err != nil:
			why, _, _ := strings.Cut(x.out.Report.Err.Error(), "\n") // without the stack of a panic
			*n = compact.FailureOf(*n, why)
		case x.log.adopted:
			n.Why = x.out.Report.Reason
		}
		if x.plan.Case.Rescue != nil {
			begun := *n
			begun.Kind, begun.MessagesAfter, begun.TokensAfter = event.CompactionStarted, 0, 0
			x.plan.Tell(begun)
		}
		x.plan.Tell(*n)
	}
}

// tally adds what is sent to the budget, and warns of what is used up: the budget, or the window.
func (x *run) tally() {
	r, l, p := &x.out.Report, x.in.Limits, x.plan
	if r.Conversation == "" || p.Case.Rescue != nil { // what was refused is not paid
		return
	}
	sent := r.After.Total()
	if sent > r.Usable && isNewlyTooLarge(x) {
		p.Warn(event.Warning{Reason: event.ReasonThreshold, Tokens: r.Before.Total(), Sent: sent})
	}
	if l.WarnAt <= 0 && l.CutoverAt <= 0 {
		return
	}
	spent := budgetOf(x).add(sent, p.Result.Notice.Kind == event.CompactionCompleted)
	if l.WarnAt > 0 && spent < l.WarnAt && spent+sent >= l.WarnAt {
		p.Warn(event.Warning{Reason: event.ReasonBudget, Tokens: spent + sent, Sent: sent})
	}
}

// isNewlyTooLarge reports whether nobody was told yet that the request goes beyond this window or a larger one; an
// equal request counts as the same. What was decided is sent again, whatever the window is now. It notes that somebody
// is told.
func isNewlyTooLarge(x *run) bool {
	ledger, usable := x.ledger, x.out.Report.Usable
	key := decision.WarningKey(x.plan.Route.ID(), x.hist.Chain[x.hist.Len()])
	value := binary.AppendUvarint(nil, uint64(max(usable, 0))) //nolint:gosec // not negative
	old, version, found := ledger.Get(key)
	if found && tokensIn(old) <= usable {
		return !x.log.again
	}
	// A failure costs another warning, and no decision.
	if found {
		_, _, _, _ = ledger.Swap(key, version, value)
	} else {
		_, _, _ = ledger.Add(key, value)
	}
	return true
}

// budget is what was sent of a conversation since it was compacted last, in tokens of the model.
type budget struct {
	ledger decision.Ledger
	key    string
}

// budgetOf is that of the request's conversation.
func budgetOf(x *run) budget {
	return budget{x.ledger, x.plan.Route.BudgetKey(x.name)}
}

// mostSpent keeps a damaged record from overflowing.
const mostSpent = 1 << 50

// total is how many tokens were sent since the last compaction.
func (b budget) total() int {
	value, _, _ := b.ledger.Get(b.key)
	return tokensIn(value)
}

// add counts tokens in, from 0 on if the conversation has just been compacted, and returns what was spent before. A
// failure costs a warning, and no decision.
func (b budget) add(tokens int, compacted bool) (before int) {
	const tries = 5 // other requests of the conversation may be doing the same
	for range tries {
		old, version, found := b.ledger.Get(b.key)
		if !found {
			var err error
			if old, version, err = b.ledger.Add(b.key, []byte{0}); err != nil {
				return before
			}
		}
		if before = tokensIn(old); compacted {
			before = 0
		}
		value := binary.AppendUvarint(nil, uint64(before+tokens)) //nolint:gosec // tokens
		if _, _, done, err := b.ledger.Swap(b.key, version, value); err != nil || done {
			return before
		}
	}
	return before
}

// tokensIn reads a number that add wrote.
func tokensIn(value []byte) int {
	n, _ := binary.Uvarint(value)
	return int(min(n, mostSpent)) //nolint:gosec // bounded
}
