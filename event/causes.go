package event

import (
	"encoding/json"
	"iter"
	"strings"
)

// Cause is why items of a request were changed in an exchange: what the rung observed that did it. The set is closed;
// a cause is made where the decision is made. The code of an item says why it was that one.
type Cause uint8

// The causes. NoCause is that nobody noted one, as before there were any.
const (
	NoCause      Cause = iota
	CauseLarge         // of results that come
	CauseScreen        //
	CauseRent          // of old results that are cleared
	CausePause         //
	CauseModel         //
	CauseClearAt       //
	CauseRules         // of what the configuration folds
	CauseLine          // of a compaction
	CauseBudget        //
	CauseAsked         //
	CauseFull          // of what goes beyond that
	CauseRefused       // of a rescue
	CauseBroken        //
	CauseThought       //
)

// causes are the name and the sentence of each cause. An event is stored with the names: they keep their spelling.
var causes = [...]struct{ name, sentence string }{
	CauseLarge:  {"over_limit", "A result that came was over the limit for one result."},
	CauseScreen: {"final_screen", "Terminal output that came is shorter as it would stand on the screen in the end."},
	CauseRent:   {"rent", "Carrying old or outdated results on costs more than clearing them."},
	CausePause: {"pause", "The pause was longer than cache_life: the provider had forgotten the conversation, so clearing " +
		"old results cost nothing."},
	CauseModel:   {"other_model", "Another model is asked, which has nothing cached, so clearing old results cost nothing."},
	CauseClearAt: {"clear_at", "The request was over the line at which old results are cleared (clear_at)."},
	CauseRules:   {"rules", "A rule of the configuration leaves out what is older than it keeps, or cuts it."},
	CauseLine: {"compact_at", "The window filled up: the request was over the line at which old turns become a summary " +
		"(compact_at)."},
	CauseBudget:  {"cutover_at", "What was sent since the last summary was over the budget (cutover_at)."},
	CauseAsked:   {"asked_for", "A compaction was asked for."},
	CauseFull:    {"window_full", "The request did not fit into the window all the same, so results were cut hard."},
	CauseRefused: {"refused", "The provider refused the request as too long."},
	CauseBroken:  {"taken_for_broken", "The provider took the rewritten conversation for broken: nothing of it is changed."},
	CauseThought: {"thinking_refused", "The provider refused what the model had thought: it stood behind something else then."},
}

// String is the name of the cause; empty for NoCause.
func (c Cause) String() string { return causes[c].name }

// Sentence says the cause to a person; empty for NoCause.
func (c Cause) Sentence() string { return causes[c].sentence }

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

// Causes are a set of them.
type Causes uint16

// CausesOf are these causes, without NoCause.
func CausesOf(list ...Cause) (s Causes) {
	for _, c := range list {
		s |= 1 << c
	}
	return s &^ (1 << NoCause)
}

// EveryCause is the set of all causes.
func EveryCause() Causes { return 1<<len(causes) - 2 }

// Has reports whether the set has the cause.
func (s Causes) Has(c Cause) bool { return s&(1<<c) != 0 }

// All are the causes of the set, in the order of the rungs.
func (s Causes) All() iter.Seq[Cause] {
	return func(yield func(Cause) bool) {
		for i := range causes {
			if c := Cause(i); c != NoCause && s.Has(c) && !yield(c) { //nolint:gosec // there are few
				return
			}
		}
	}
}

// String is the names of the causes, with commas between them.
func (s Causes) String() string { return strings.Join(s.names(), ", ") }

func (s Causes) names() []string {
	all := []string{}
	for c := range s.All() {
		all = append(all, c.String())
	}
	return all
}

// Sentences says the causes to a person.
func (s Causes) Sentences() string {
	var all []string
	for c := range s.All() {
		all = append(all, c.Sentence())
	}
	return strings.Join(all, " ")
}

// MarshalJSON writes the names.
func (s Causes) MarshalJSON() ([]byte, error) { return json.Marshal(s.names()) }

// UnmarshalJSON reads the names. One that a later version has made is left out.
func (s *Causes) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	*s = 0
	for c := range EveryCause().All() {
		for _, name := range names {
			if name == c.String() {
				*s |= CausesOf(c)
			}
		}
	}
	return nil
}
