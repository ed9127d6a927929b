// Package past reads the span of a conversation that a summary stands for: its items, the calls that results answer,
// how those ended, and the commands in them. It writes nothing of a summary.
//
// It promises that of very long spans the newest messages alone are read, and that no result is read without its call.
package past

import (
	"strings"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/step"
	"epitome/rewrite/shorten"
)

// Span is what a summary stands for.
type Span struct {
	Plan     *plan.Plan
	From, To int   // items behind the head
	Callers  []int // of each item, the item whose call it answers; -1 if it answers none
	Read     int   // item from which on it is read what was said and done; the user's words are read everywhere
}

// Of is the span of these items. callers are, of each item, the item whose call it answers; -1 if it answers none.
func Of(p *plan.Plan, from, to int, callers []int) *Span {
	s := &Span{Plan: p, From: from, To: to, Callers: callers}
	s.Read = s.reach()
	return s
}

// MostRead is how much of the newest messages of a span is read for what was said and done in it, as plan.CostOf has
// it.
const MostRead = 3 << 20

// reach is the first item of the span that is read, and none that answers a call before it.
func (s *Span) reach() int {
	room := MostRead
	for i := s.To - 1; i >= s.From; i-- {
		if room -= plan.CostOf(s.Plan, i); room < 0 {
			i++
			for i < s.To && s.Callers[i] >= 0 {
				i++
			}
			return i
		}
	}
	return s.From
}

// IsReadWhole reports whether all of the span is read: else it is not known how many of a kind there are.
func (s *Span) IsReadWhole() bool { return s.Read == s.From }

// ItemAt is item i behind the head.
func (s *Span) ItemAt(i int) *conversation.Item { return &s.Plan.Req.Items[s.Plan.Req.Head+i] }

// TextOf is the text of a result.
func (s *Span) TextOf(res *history.Result) string { return s.Plan.TextOf(res.Item) }

// NumberOf is the number of the message that a result stands in, as the request counts them.
func (s *Span) NumberOf(res *history.Result) int { return plan.NumberOf(s.Plan, res.Item) }

// Backwards gives f the results of the span that are read, the newest first, until it returns false.
func (s *Span) Backwards(f func(res *history.Result) bool) {
	for k := len(s.Plan.Hist.Results) - 1; k >= 0; k-- {
		res := &s.Plan.Hist.Results[k]
		if res.Item < s.Read {
			return
		}
		if res.Item < s.To && !f(res) {
			return
		}
	}
}

// CallAt is the call that item i answers, though it may stand before what is read; nil if there is none.
func (s *Span) CallAt(i int) *conversation.Call {
	caller := s.Callers[i]
	if caller < 0 {
		return nil
	}
	return conversation.CallOf(s.Plan.Req, caller, s.ItemAt(i).Answers)
}

// CallOf is the call that the result answers; nil if there is none that is read.
func (s *Span) CallOf(res *history.Result) *conversation.Call {
	if s.Callers[res.Item] < s.Read {
		return nil
	}
	return s.CallAt(res.Item)
}

// ArgumentsOf are the arguments of a call, as they stand in the request.
func (s *Span) ArgumentsOf(call *conversation.Call) []byte { return call.ArgumentsIn(s.Plan.Req.Body) }

// ValuesOf are the arguments of the call that the result answers; none if they are a text, or not known.
func (s *Span) ValuesOf(res *history.Result) []byte {
	if call := s.CallOf(res); call != nil && !call.FreeText {
		return s.ArgumentsOf(call)
	}
	return nil
}

// EndingOf is how the call ended that the result answers.
func (s *Span) EndingOf(res *history.Result) *ending.Ending { return plan.EndingOf(s.Plan, res) }

// CommandOf is the command that a call gives to a shell, and the folder in which it is to run; both are empty if the
// call says none, or is not known.
func (s *Span) CommandOf(res *history.Result) (command, folder string) {
	call := s.CallOf(res)
	if call == nil {
		return "", ""
	}
	return action.CommandOf(call.Name, s.ArgumentsOf(call), call.FreeText)
}

// CommandLine is the first line of a command, or of what a shell is given, with the lines that it goes on with; the
// beginning of it if it is very long.
func (s *Span) CommandLine(res *history.Result) string {
	const longest = 300 // characters
	command, _ := s.CommandOf(res)
	if line := step.WholeLine(command); line != "" {
		if clean := shorten.OneLine(line, longest); len(clean) < len(line)*9/10 || clean == "" {
			return clean
		}
		return strings.TrimRight(strings.ToValidUTF8(line, "\ufffd"), " \t\r")
	}
	return res.Action.Key
}

// LineOf is the line of a result that matters most, as it stands there, if it is not long. Of a result behind the span
// none is told: it stands there anyway.
func (s *Span) LineOf(res *history.Result) string {
	const longest = 160 // bytes
	line := s.EndingOf(res).Line
	if res.Item >= s.To || line == "" || len(line) > longest || ExitLine.MatchString(line) {
		return ""
	}
	screen, _ := shorten.FinalScreen(s.TextOf(res))
	if all := shorten.WholeLines(screen, []string{line}); len(all) > 0 {
		return strings.TrimRight(all[0], " \t\r")
	}
	return ""
}

// SoleLineOf is the one line of a result, as it stands there; empty if it has several, or a long one, or one without a
// number. It is often the number of what the call made, or began.
func (s *Span) SoleLineOf(res *history.Result) string {
	const longest = 100 // bytes
	text := s.TextOf(res)
	if res.Item >= s.To || len(text) > 2*longest || !strings.ContainsAny(text, "0123456789") {
		return ""
	}
	if text = strings.Trim(text, "\r\n"); len(text) > longest {
		return ""
	}
	if strings.ContainsAny(text, "\r\n\x1b") || ExitLine.MatchString(text) {
		return ""
	}
	return strings.TrimRight(text, " \t")
}

// ExitLine finds a line that says the exit state and nothing else: that is told already.
var ExitLine = pattern.Of(`(?i)^\W*(?:process |command )?(?:exit(?:ed)?|return)[ _]?(?:with )?(?:code|status)?\W*\d+\W*$`)
