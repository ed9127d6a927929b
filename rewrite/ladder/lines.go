package ladder

import (
	"math"

	"epitome/event"
	"epitome/summarize"
)

// When a request is compacted, and to how many tokens.

const (
	minTail     = 500   // tokens that may always stay behind a cut, however little room the target leaves
	crampedTail = 2_500 // the same, but at most a quarter of the room, where the overhead takes a quarter of Usable
	leastRoom   = 8_000 // tokens of Usable, or a quarter of it if less, that a conversation needs beside the overhead
	leastAnswer = 1_024 // tokens of the model that a crowded request leaves for the answer
)

// trigger returns what calls for a compaction of the request, as events name it (event.Reason…), and the reason that
// its edits are recorded with; "" if nothing does.
func (s State) trigger() (trigger string, reason event.Code) {
	turns := s.Limits.Answers
	switch {
	case s.Refused:
		return event.ReasonOverflow, event.CodeRefused
	case s.ByAgent:
		return event.ReasonAgent, event.CodeAsked
	case s.Asked && (s.CompactTo == 0 || s.Total > s.CompactTo):
		return event.ReasonManual, event.CodeAsked
	case s.staysFull():
		return "", event.NoCode
	case s.Total > s.compactLine():
		return event.ReasonThreshold, event.CodeCompactAt
	case s.OverBudget:
		return event.ReasonBudget, event.CodeCutoverAt
	case turns > 0 && s.Answers-s.Decision.Compacted >= turns:
		return event.ReasonTurns, event.CodeCompactTurns
	}
	return "", event.NoCode
}

// staysFull reports whether the user wants no summary of a request that the provider has not refused.
func (s State) staysFull() bool { return s.SummaryDetail == summarize.Full && !s.Refused }

// Due returns what calls for a compaction though the window has room: the tokens or the answers since the last one, or
// the agent. It is empty if nothing does.
func (s State) Due() string {
	trigger, _ := s.trigger()
	switch trigger {
	case event.ReasonBudget, event.ReasonTurns, event.ReasonAgent:
		return trigger
	}
	return ""
}

// Overhead returns the tokens that no compaction takes out: those of system prompt, tools and the head.
func (p *Plan) Overhead() int { return p.Total - p.Sent(p.Request.Head, len(p.forms)) }

// isCrowded reports whether the Overhead leaves so little of Usable that one compaction would follow another.
func (s State) isCrowded() bool {
	return s.Overhead()+min(leastRoom, s.Limits.Usable/4) > s.Limits.Usable
}

// most returns the tokens that the request may take: Usable, but a crowded request takes the room for the answer too,
// all but leastAnswer, or all that fits by a refusal.
func (s State) most() int {
	switch {
	case !s.isCrowded():
		return s.Limits.Usable
	case s.Refused:
		return max(s.Limits.Usable, s.Fits)
	}
	return max(s.Limits.Usable, s.Limits.Window-int(leastAnswer/s.Scale.Ratio))
}

// compactLine returns the tokens above which the request is compacted. It is above CompactLine where the Overhead would
// leave little room below that. A request that cannot fit is left to the provider.
func (s State) compactLine() int {
	switch {
	case s.staysFull(), s.Overhead()+minTail > s.most(): // in the second no compaction can help, as nothing has room
		return math.MaxInt
	case s.isCrowded():
		return s.most()
	}
	return max(s.Limits.CompactLine, s.Overhead()+min(leastRoom, s.Limits.Usable/4, s.Limits.End/4))
}

// prepareLine returns the tokens above which a summary is made ahead of need: as far below compactLine as PrepareLine
// is below CompactLine.
func (s State) prepareLine() int {
	return s.compactLine() - (s.Limits.CompactLine - s.Limits.PrepareLine)
}

// goal returns the tokens to which the compaction that a client asked for brings the request; 0 if none did.
func (s State) goal() int {
	switch {
	case !s.Asked || s.ByAgent:
		return 0
	case s.CompactTo > 0:
		return min(s.CompactTo, s.most())
	case s.Limits.KeepTurns > 0: // these turns may have more than TargetLine
		return s.Total * 3 / 5
	}
	return min(s.Limits.TargetLine, s.Total*3/5) // a share of the window may be more than a small request has
}

// Stays returns the tokens of the request that stay beside the summary of the last compaction.
func (s State) Stays() int { return s.staysBeside(s.compactedEnd) }

// staysBeside returns the tokens that stay beside a summary of the items before a cut: the Overhead, what no compaction
// takes out, and what is behind the cut.
func (s State) staysBeside(cut int) int {
	n := s.Total
	for _, g := range s.Request.Groups() {
		if g.End <= cut && !s.staysInPlace(g) {
			n -= s.Sent(g.First, g.End)
		}
	}
	return n
}

// missesGoal reports whether the request is over its Goal. One that nobody named is no reason to make a good summary
// smaller, as long as little is left beside the Overhead.
func (s State) missesGoal() bool {
	return s.Goal > 0 && s.Total > s.Goal && (s.CompactTo > 0 || s.Total-s.Overhead() > leastRoom)
}

// target returns the tokens to which a compaction brings the request: TargetLine, but two fifths of the room that the
// Overhead leaves may stay filled, and a third of it comes free below compactLine, so that both are worth it. Where the
// window has room (Due), the share compact_to is of what the request has beside the Overhead. A Goal holds as it is.
func (s State) target() int {
	if s.Goal > 0 {
		return s.Goal
	}
	room := min(s.most(), max(s.Limits.End, s.compactLine())) - s.Overhead()
	target := min(max(s.Limits.TargetLine, s.Overhead()+room*2/5), s.compactLine()-room/3)
	if s.Due() != "" {
		target = min(target, s.Overhead()+int(s.Limits.Target*float64(s.Total-s.Overhead())))
	}
	return target
}
