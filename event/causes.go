package event

import (
	"slices"
	"strings"
)

// Cause is why items of a request were changed in an exchange: what the rung observed that did it. The code of an item
// says why it was that one. Events are stored with causes: they keep their spelling.
type Cause string

// The causes.
const (
	NoCause Cause = ""

	// of the rungs for results
	CauseLarge   Cause = "over_limit"
	CauseScreen  Cause = "final_screen"
	CauseRent    Cause = "rent"
	CausePause   Cause = "pause"
	CauseModel   Cause = "other_model"
	CauseClearAt Cause = "clear_at"
	CauseRules   Cause = "rules"

	// of a compaction
	CauseLine   Cause = "compact_at"
	CauseBudget Cause = "cutover_at"
	CauseAsked  Cause = "asked_for"
	CauseFull   Cause = "window_full"

	// of a rescue
	CauseRefused Cause = "refused"
	CauseBroken  Cause = "taken_for_broken"
	CauseThought Cause = "thinking_refused"
)

// causeSentences says each cause to a person.
var causeSentences = map[Cause]string{
	CauseLarge:  "A result that came was over the limit for one result.",
	CauseScreen: "Terminal output that came is shorter as it would stand on the screen in the end.",
	CauseRent:   "Carrying old or outdated results on costs more than clearing them.",
	CausePause: "The pause was longer than cache_life: the provider had forgotten the conversation, so clearing old " +
		"results cost nothing.",
	CauseModel:   "Another model is asked, which has nothing cached, so clearing old results cost nothing.",
	CauseClearAt: "The request was over the line at which old results are cleared (clear_at).",
	CauseRules:   "A rule of the configuration leaves out what is older than it keeps, or cuts it.",
	CauseLine: "The window filled up: the request was over the line at which old turns become a summary " +
		"(compact_at).",
	CauseBudget:  "What was sent since the last summary was over the budget (cutover_at).",
	CauseAsked:   "A compaction was asked for.",
	CauseFull:    "The request did not fit into the window all the same, so results were cut hard.",
	CauseRefused: "The provider refused the request as too long.",
	CauseBroken:  "The provider took the rewritten conversation for broken: nothing of it is changed.",
	CauseThought: "The provider refused what the model had thought: it stood behind something else then.",
}

// Sentence says the cause to a person; empty for NoCause, and for one of a later version.
func (c Cause) Sentence() string { return causeSentences[c] }

// CauseOfReason is the cause of a compaction that was told with a reason; NoCause if it is none of a compaction.
func CauseOfReason(reason string) Cause {
	switch reason {
	case ReasonThreshold:
		return CauseLine
	case ReasonBudget:
		return CauseBudget
	case ReasonManual:
		return CauseAsked
	case ReasonOverflow:
		return CauseRefused
	}
	return NoCause
}

// Causes are those of an exchange, each once, in the order in which they were observed.
type Causes []Cause

// With returns the causes and more of them, and leaves s as it is.
func (s Causes) With(more ...Cause) Causes {
	all := slices.Clone(s)
	for _, c := range more {
		if c != NoCause && !all.Has(c) {
			all = append(all, c)
		}
	}
	return all
}

// Has reports whether the cause is one of them.
func (s Causes) Has(c Cause) bool { return slices.Contains(s, c) }

// String returns the causes with commas between them.
func (s Causes) String() string {
	names := make([]string, len(s))
	for i, c := range s {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

// Sentences says the causes to a person.
func (s Causes) Sentences() string {
	var all []string
	for _, c := range s {
		if says := c.Sentence(); says != "" {
			all = append(all, says)
		}
	}
	return strings.Join(all, " ")
}
