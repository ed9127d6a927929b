package conversation

import (
	"errors"
	"fmt"
	"strconv"

	"epitome/rewrite/jsonspan"
)

// Flaw is a broken rule of an API: the rule, and the ID of the call or the number of the message that breaks it.
type Flaw struct{ Rule, Where string }

func (f Flaw) String() string { return f.Rule + " (" + f.Where + ")" }

// FlawList collects the flaws of a request that is checked message by message.
type FlawList struct {
	Flaws []Flaw
	Count int // messages so far
}

// Add adds a flaw of a call.
func (l *FlawList) Add(rule, id string) { l.Flaws = append(l.Flaws, Flaw{Rule: rule, Where: id}) }

// AddHere adds a flaw of the message that is being checked.
func (l *FlawList) AddHere(rule string) { l.Add(rule, strconv.Itoa(l.Count)) }

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

	RuleReasoning = "what the model thought is apart from what it led to"
)

// ErrBroken says that a request breaks rules as it came, and would break more of them rewritten.
var ErrBroken = errors.New("the request is broken as it came")

// Worse returns an error if a rewritten request breaks a rule that the original kept. A conversation that came in
// broken may stay broken, but must not become more so.
func Worse(original, rewritten *Request) error {
	if !jsonspan.Valid(rewritten.Body) {
		return jsonspan.ErrNoJSON
	}
	had := map[Flaw]int{}
	for _, f := range original.Dialect.Flaws(original) {
		had[f.comparable()]++
	}
	isBroken := len(had) > 0
	for _, f := range rewritten.Dialect.Flaws(rewritten) {
		key := f.comparable()
		if had[key]--; had[key] < 0 {
			err := fmt.Errorf("the rewritten request breaks a rule: %s", f)
			if isBroken {
				err = fmt.Errorf("%w: %w", ErrBroken, err)
			}
			return err
		}
	}
	return nil
}

// comparable returns the flaw without anything that a rewrite may change about it: the number of its message, and
// whether the call is still there that a superfluous result names.
func (f Flaw) comparable() Flaw {
	switch f.Rule {
	case RuleApart, RuleAnsweredTwice:
		f.Rule = RuleOrphan
	case RuleOrphan, RuleUnanswered, RuleArguments, RuleRepeated, RuleLate:
	default:
		f.Where = ""
	}
	return f
}
