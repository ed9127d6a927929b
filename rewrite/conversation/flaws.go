package conversation

import (
	"fmt"

	"epitome/rewrite/span"
)

// Flaw is a rule of a conversation's structure that is broken.
type Flaw struct {
	Rule string
	Call string // the id of the call or result in question, or the number of the item where there is none
}

func (f Flaw) String() string { return f.Rule + " (" + f.Call + ")" }

// The rules, by what breaks them.
const (
	RuleOrphan        = "a tool's result answers no call before it"
	RuleUnanswered    = "a call is not answered"
	RuleAnsweredTwice = "a call is answered twice"
	RuleApart         = "a result is apart from the message that called"
	RuleArguments     = "a call's arguments are not JSON"
	RuleRole          = "a role is unknown"
	RuleEmpty         = "an assistant's message has neither content nor calls"

	RuleNothing  = "a message says nothing"
	RuleBlank    = "a text is blank"
	RuleRepeated = "several calls have one id"
	RuleLate     = "a result stands behind other content of its message"
	RuleFirst    = "the first message is not the user's"
	RuleSystem   = "a message of the system stands where none may"
	RuleThinking = "an answer with thoughts does not begin with one"
	RuleMarked   = "a mark for a cache stands where none may"
	RuleMarks    = "there are too many marks for a cache"

	RuleReasoning = "what the model thought is apart from what it led to"
	RuleReasoned  = "a call is apart from what the model thought before it"
	RuleOutput    = "a result is not written as those of its kind are"
	RulePart      = "a part stands in a message of another kind"
	RuleTrigger   = "a request for a compaction is not the last item"
)

// Flaws returns all rules of its dialect that the conversation breaks.
func (r *Request) Flaws() []Flaw { return r.Dialect.Flaws(r) }

// Worse says what is wrong with a rewritten conversation that was not wrong with its original, nil if nothing is. What
// came in broken may stay broken, but not become more so.
func Worse(original, rewritten *Request) error {
	if !span.Valid(rewritten.Body) {
		return span.ErrNoJSON
	}
	had := make(map[Flaw]int)
	for _, f := range original.Flaws() {
		had[f.placeless()]++
	}
	for _, f := range rewritten.Flaws() {
		f = f.placeless()
		if had[f]--; had[f] < 0 {
			return fmt.Errorf("the rewritten conversation would be worse: %s", f)
		}
	}
	return nil
}

// placeless returns the flaw without what a rewrite may change: the number of its item, and whether the call is still
// there that a superfluous result names.
func (f Flaw) placeless() Flaw {
	switch f.Rule {
	case RuleApart, RuleAnsweredTwice:
		f.Rule = RuleOrphan
	case RuleRole, RuleEmpty, RuleNothing, RuleBlank, RuleFirst, RuleSystem, RuleThinking, RuleMarked, RuleMarks,
		RuleReasoning, RulePart, RuleTrigger:
		f.Call = ""
	}
	return f
}
