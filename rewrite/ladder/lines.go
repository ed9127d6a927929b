package ladder

import (
	"math"

	"epitome/event"
)

// When a request is compacted, and to how many tokens.

const (
	minTail     = 500   // tokens that may always stay behind a cut, however little room the target leaves
	crampedTail = 2_500 // the same, but at most a quarter of the room, where the overhead takes a quarter of Usable
	leastRoom   = 8_000 // tokens of Usable, or a quarter of it if less, that a conversation needs beside the overhead
	leastAnswer = 1_024 // tokens of the model that a crowded request leaves for the answer
)

// trigger returns what calls for a compaction of the request, as events name it (event.Reason…); "" if nothing does.
func (s State) trigger() string {
	turns := s.Limits.Conf.Answers
	switch {
	case s.Refused:
		return event.ReasonOverflow
	case s.ByAgent:
		return event.ReasonAgent
	case s.Asked && (s.CompactTo == 0 || s.Total > s.CompactTo):
		return event.ReasonManual
	case s.Total > s.compactLine():
		return event.ReasonThreshold
	case s.OverBudget:
		return event.ReasonBudget
	case turns > 0 && s.Answers-s.Decision.Compacted >= turns:
		return event.ReasonTurns
	}
	return ""
}

// reasonOf has the reason that the edits of a compaction are recorded with, by its trigger.
var reasonOf = map[string]event.Code{
	event.ReasonOverflow:  event.CodeRefused,
	event.ReasonAgent:     event.CodeAsked,
	event.ReasonManual:    event.CodeAsked,
	event.ReasonThreshold: event.CodeCompactAt,
	event.ReasonBudget:    event.CodeCutoverAt,
	event.ReasonTurns:     event.CodeCompactTurns,
}

// Due returns what calls for a compaction though the window has room: the tokens or the answers since the last one, or
// the agent. It is empty if nothing does.
func (s State) Due() string {
	trigger := s.trigger()
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
	case s.Overhead()+minTail > s.most(): // nothing else has room, so no compaction can help
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
	case s.Limits.Conf.KeepTurns > 0: // these turns may have more than Target
		return s.Total * 3 / 5
	}
	return min(s.Limits.Target, s.Total*3/5) // a share of the window may be more than a small request has
}

// Stays returns the tokens of the request that stay beside its summary: the Overhead, what no compaction takes out, and
// what is behind the cut.
func (s State) Stays() int {
	tokens := s.Overhead()
	for _, g := range s.Request.Groups() {
		if g.First >= s.Request.Head && (g.End > s.compactedEnd || s.staysInPlace(g)) {
			tokens += s.Sent(g.First, g.End)
		}
	}
	return tokens
}

// missesGoal reports whether the request is over its Goal. One that nobody named is no reason to make a good summary
// smaller, as long as little is left beside the Overhead.
func (s State) missesGoal() bool {
	return s.Goal > 0 && s.Total > s.Goal && (s.CompactTo > 0 || s.Total-s.Overhead() > leastRoom)
}

// target returns the tokens to which a compaction brings the request: Limits.Target, but two fifths of the room that the
// Overhead leaves may stay filled, and a third of it comes free below compactLine, so that both are worth it. Where the
// window has room (Due), the share compact_to is of what the request has beside the Overhead. A Goal holds as it is.
func (s State) target() int {
	if s.Goal > 0 {
		return s.Goal
	}
	room := min(s.most(), max(s.Limits.End, s.compactLine())) - s.Overhead()
	target := min(max(s.Limits.Target, s.Overhead()+room*2/5), s.compactLine()-room/3)
	if s.Due() != "" {
		target = min(target, s.Overhead()+int(s.Limits.Conf.Target*float64(s.Total-s.Overhead())))
	}
	return target
}

// Bounds that nobody configures. Shares are of the window, tokens are those of the vocabulary.
const (
	usualClear     = 0.8   // of usable: ClearAt at most, if it is tokens
	usualCompact   = 0.9   // of usable: CompactAt at most, if it is tokens
	protectShare   = 0.20  // Protect at most
	clearShare     = 0.10  // that clearing at the line frees at least, if this is more than ClearAtLeast
	mostClearShare = 0.25  // that clearing at the line has to free at most
	keepShare      = 0.25  // KeepTail at most
	prepareShare   = 0.8   // of usable, not of the window: above this a summary is made ahead of need
	leastBatch     = 1_000 // tokens that clearing below the line frees at least
	leastCold      = 5_000 // the same while the provider has nothing cached: any batch would pay then
	leastSaving    = 40    // tokens that shortening one text frees at least
	leastFreed     = 200   // tokens that clearing one item frees at least: its stub costs attention, too
)

// Effective is what the limits come to at one window, in tokens of the vocabulary, in which requests are counted.
type Effective struct {
	Conf           *Limits `json:"-"`
	Window, Usable int     `json:"-"` // what the model holds, and how much of it a request may fill
	End            int     `json:"-"` // Window, but CompactLine if that was given in tokens: where lines and summaries end

	Floor       int `json:"floor"` // bytes of a body
	Offload     int `json:"offload_tokens"`
	Lookups     int `json:"offload_lookup_tokens"`
	Reads       int `json:"offload_read_tokens"`
	Keep        int `json:"offload_keep"`
	Replayed    int `json:"max_replayed"`
	Stale       int `json:"stale_tokens"`
	ClearLine   int `json:"clear_at"`
	AtLeast     int `json:"clear_at_least"` // freed by clearing at ClearLine
	PrepareLine int `json:"prepare_at"`     // above it a summary is made ahead of need
	CompactLine int `json:"compact_at"`
	Target      int `json:"compact_to"`
	KeepTail    int `json:"keep_tokens"`
	Protect     int `json:"protect_tokens"`
	Age         int `json:"protect_groups"` // newest groups, whose results are not cleared; counted by answers
}

// EffectiveAt returns the limits for a window of so many tokens of the model, of which a request may fill usable. One
// token of the vocabulary is ratio tokens of the model.
func (l *Limits) EffectiveAt(window, usable int, ratio float64) Effective {
	inVocabulary := func(ofModel float64) int { return int(ofModel / ratio) }
	atMost := func(tokens, window int, share float64) int {
		return inVocabulary(min(float64(tokens), share*float64(window)))
	}
	s := Effective{
		Conf: l, Window: inVocabulary(float64(window)), Usable: inVocabulary(float64(usable)),
		Offload: atMost(l.Offload, window, l.OffloadShare), Lookups: atMost(l.Lookups, window, l.OffloadShare),
		Reads: atMost(l.OffloadReads, window, l.OffloadShare), Keep: inVocabulary(float64(l.OffloadKeep)),
		Replayed: inVocabulary(float64(l.Replayed)), Stale: inVocabulary(float64(l.Stale)),
		KeepTail: atMost(l.KeepTail, window, keepShare),
	}
	s.Floor = min(l.Floor, s.Usable) // a token is a byte or more, so a text of fewer bytes than that fits in any case

	s.CompactLine = l.CompactAt.tokens(s.Usable, ratio, usualCompact)
	s.End = s.Window
	whole := s.Usable // of which the other lines are shares
	if l.CompactAt > 1 && s.CompactLine < int(usualCompact*float64(s.Usable)) {
		s.End, whole = s.CompactLine, s.CompactLine
	}
	s.PrepareLine = int(prepareShare * float64(whole))
	s.Target = int(l.Target * float64(whole))

	s.ClearLine = l.ClearAt.tokens(whole, ratio, usualClear)
	clearWindow := window // where clearing has the window end
	if l.ClearAt > 1 {
		s.ClearLine = min(l.ClearAt.tokens(s.Usable, ratio, usualClear), s.CompactLine)
		clearWindow = min(window, int(l.ClearAt))
	}
	freed := max(float64(l.ClearAtLeast), clearShare*float64(clearWindow))
	s.AtLeast = inVocabulary(min(freed, mostClearShare*float64(clearWindow)))
	s.Protect = atMost(l.Protect, clearWindow, protectShare)
	s.Age = max(l.groupsIn(clearWindow), l.KeepTurns)
	return s
}

// groupsIn returns how many of the newest groups are protected in a window. A small one holds few, so most results could
// never be cleared otherwise.
func (l *Limits) groupsIn(window int) int {
	switch {
	case window < 48_000:
		return min(3, l.Groups)
	case window < 96_000:
		return min(6, l.Groups)
	}
	return l.Groups
}
