package plan

import (
	"fmt"
	"strconv"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
)

// Why is why something was done, or why nothing was: the code that names what was observed, and words for it, which may
// have numbers and nothing of what a conversation says. The zero value is that there is nothing to give a reason for.
type Why struct {
	Code  event.Code
	Words string
}

// Because is the reason that the code's own sentence says.
func Because(c event.Code, format string, args ...any) Why {
	if len(args) == 0 {
		return Why{c, format}
	}
	return Why{c, fmt.Sprintf(format, args...)}
}

// Amount is a number of the vocabulary's tokens in those of the model, as people read it: with its digits in groups of
// three.
func Amount(p *Plan, tokens int) string { return grouped(p.Scale.InModelTokens(tokens)) }

// InTokens is such an Amount with its unit.
func InTokens(p *Plan, tokens int) string {
	if s := Amount(p, tokens); s != "1" {
		return s + " tokens"
	}
	return "1 token"
}

// grouped is a number with its digits in groups of three.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Spent is why a result is worth nothing any more.
func Spent(res *history.Result) Why {
	switch res.SpentWhy {
	case history.WhyReadAgain:
		return Why{event.CodeReadAgain, res.SpentWhy}
	case history.WhySameText:
		return Why{event.CodeSameAgain, res.SpentWhy}
	}
	return Why{event.CodeWritten, res.SpentWhy}
}

// WhyOld is why results are cleared that are old, and WhyOlder why those are that a rule of the user's counts out.
var (
	WhyOld   = Why{event.CodeOld, "old"}
	WhyOlder = Why{event.CodeOlderResults, "older than the results that are to be sent"}
)

// WhyCompacted is why the messages are left out that a compaction leaves out.
func WhyCompacted(p *Plan) Why {
	why := Why{event.CodeLine, "the window fills"}
	switch p.Result.Notice.Reason {
	case event.ReasonBudget:
		why.Code = event.CodeBudget
	case event.ReasonManual:
		why.Code = event.CodeAsked
	case event.ReasonOverflow:
		why.Code = event.CodeRefused
	}
	return why
}

// causeOf is why the rung was taken that changes an item for a reason with the code. What comes is changed for itself.
func causeOf(p *Plan, c event.Code) event.Cause {
	switch c {
	case event.CodeOverLimit:
		return event.CauseLarge
	case event.CodeScreen:
		return event.CauseScreen
	}
	return p.Sheet.Cause
}

// CodeOf is why a recorded form was chosen.
func CodeOf(f *decision.Form) event.Code {
	if f.Why == event.NoCode {
		return event.CodeNotNoted
	}
	return f.Why
}
