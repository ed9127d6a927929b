package history

import (
	"fmt"
	"strconv"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history/answer"
	"epitome/rewrite/history/verb"
	"epitome/rewrite/mark"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
)

// Ending is how a call ended, as far as its result tells. An exit state is told by whoever ran the command; words of
// the output are claims of its writer.
type Ending struct {
	Known  bool // an exit state is told
	Code   int
	Error  bool            // the result begins as a message of an error does, or its client marks it as one
	Claims excerpt.Outcome // what the words of a command's output say
	Line   string          // the one whole line that matters most; empty if there is none

	Refusal Refusal // of the call
	Session string  // of a command that went on when its result came
	Said    conversation.Verdict
	Killed  bool           // the command that the call is about did not end by itself: it was ended
	asked   shell.Question // that was answered with no
	looks   bool           // the call changes nothing
	marked  bool           // the client marks the result as an error, and the text does not say that it is one
	above   bool           // there is more in the result than the error
	silent  bool           // the command put out nothing
	support
}

// support is what speaks for a call of which no exit state is told.
type support struct {
	quiet   bool // nothing in the result says failure
	vouched bool // something may, but the client marks the result as none
	calm    bool // so that the call may be taken for one that succeeded
	claims  bool // what writes files says that it did, and has shown what may be read as something else
}

// Failed reports whether the call failed, by its exit state or by what its result says.
func (e *Ending) Failed() bool {
	if e.asked != shell.NoQuestion && (e.looks || e.asked.Code() > 1) {
		return false
	}
	return e.Code > 0 || e.Error || e.Claims == excerpt.Failed || e.Refusal.How != ""
}

// Succeeded reports whether the call succeeded, by its exit state or by what its result says.
func (e *Ending) Succeeded() bool {
	return !e.Failed() && (e.Known || e.calm || e.claims || e.Claims == excerpt.Succeeded)
}

// MayHaveFailed reports whether the call failed, or whether its result says something of which it is not known.
func (e *Ending) MayHaveFailed() bool {
	return !e.Succeeded() && !e.TellsNoError() && (e.Failed() || !e.silent)
}

// InWords says how the call ended, and who says so; empty if nobody does.
func (e *Ending) InWords() string {
	switch {
	case e.Refusal.How != "":
		return e.refusalInWords()
	case e.Code > 0:
		return failureInWords(e.Code, e.asked)
	case e.marked:
		return "its result is marked as an error"
	case e.above:
		return "its result begins with an error"
	case e.Error:
		return "its result is an error"
	case e.Known && e.Claims == excerpt.Failed:
		return "ended with exit code 0, but its output tells of a failure"
	case e.Known:
		return "ended with exit code 0"
	case e.Session != "":
		return "still running then, id " + e.Session
	case e.Claims == excerpt.Failed:
		return "its output says that it failed"
	case e.claims:
		return "its result says that it succeeded"
	case e.Claims == excerpt.Succeeded:
		return "its output says that it succeeded"
	case e.quiet:
		return noErrorTold
	case e.vouched:
		return notMarked
	}
	return ""
}

// How a call ended that may be taken for one that succeeded, though its result does not say so.
const (
	noErrorTold = "no error told"
	notMarked   = "its result is not marked as an error"
)

// TellsNoError reports whether nobody says how the call ended but that nobody tells of an error.
func (e *Ending) TellsNoError() bool {
	words := e.InWords()
	return words == noErrorTold || words == notMarked
}

// refusalInWords says what the result says of who kept the call from what it was to do, with the user's own words if
// they are not long and nothing in them passes for a mark of epitome's. A command or a server may write what a client
// writes, so that it is told as the result's, whatever the client marks it as.
func (e *Ending) refusalInWords() string {
	const longest = 600 // bytes of the user's words; longer ones stand where the result lies
	s := "its result says: " + e.Refusal.How
	switch words := e.Refusal.Words; {
	case len(words) > longest || strings.Contains(words, mark.Start):
		s += ", with words of their own"
	case words != "":
		s += ", and said: " + strconv.Quote(shorten.OneLine(words, longest))
	}
	return s
}

// failureInWords says what an exit code above zero tells.
func failureInWords(code int, asked shell.Question) string {
	switch asked {
	case shell.Match:
		return "ended with exit code 1: nothing matched"
	case shell.Sameness:
		return "ended with exit code 1: there are differences"
	case shell.Condition:
		return "ended with exit code 1: the condition does not hold"
	case shell.Rest:
		return "ended with exit code 1: nothing but matches"
	case shell.Activity:
		return "ended with exit code 3: a unit is not active"
	case shell.Drift:
		return "ended with exit code 2: there are changes"
	}
	return fmt.Sprintf("failed with exit code %d", code)
}

// KnownEnding returns how the call ended that the result answers; nil if that was not asked for yet.
func (r *Result) KnownEnding() *Ending { return r.ending }

// LearnEnding reads how the call ended whose result has the text. raw is the result as it stands in the body. The
// output of a command alone is read for what it says: what a page or a file says of success is not of the call.
func (r *Result) LearnEnding(raw []byte, text string) *Ending {
	e := r.readEnding(raw, text)
	if r.Action.Kind == KindShell && !r.Action.OnlyFiles && !r.Action.Looks {
		screen, _ := shorten.FinalScreen(text)
		read := excerpt.Read(screen)
		if read.Line != "" && !exitForm.MatchString(read.Line) {
			e.Line = read.Line
		}
		if e.Session == "" { // what a command says on its way may not be its last word
			e.Claims = read.Outcome
		}
	}
	r.ending = e
	return e
}

// readEnding is how a call ended, by all but what the output of a command says.
func (c *Source) readEnding(raw []byte, text string) *Ending {
	e := &Ending{looks: c.Action.Looks || c.Action.OnlyFiles, Said: c.said}
	e.Code, e.Known = c.exitState(raw)
	if !e.Known {
		e.Session = c.goesOn(raw)
	}
	e.Killed = c.killed(raw, text)
	if !e.Known && e.Session == "" {
		e.Refusal = c.refusal(text)
	}
	e.silent = showsNothing(text)
	isAbove := true
	saysFailed := c.asks() && c.answersFailure(text)
	if e.Error, e.Line = c.complaint(raw, text); !e.Error && saysFailed {
		isAbove, e.Error, e.Line = false, true, firstWords(text)
	}
	if e.Line == "{" { // its fields tell more
		e.Line = ""
	}
	acts := c.answers()
	counts := acts || c.said == conversation.WentWell // else nobody asks whether the text says failure
	trouble := e.Error || counts && !answer.SaysNoTrouble(text)
	if e.Known && e.Code == 0 || c.said == conversation.WentWell {
		e.Error, e.Line = false, ""
	}
	e.above = isAbove && e.Error && len(text) > longestComplaint
	if c.said == conversation.WentWrong {
		e.marked = !e.Error && e.Code == 0
		e.Error = true
	}
	asks := c.Action.Asks
	isSure := asks == shell.Sameness && c.Action.Alone ||
		asks.Code() > 1 && !strings.Contains(text, "cd: can't cd to ") // by which a shell ends with code 2
	if e.Code == asks.Code() && (isSure || e.silent) {
		e.asked = asks
	}
	e.vouched = trouble && c.said == conversation.WentWell && (acts || c.Action.Kind == KindShell)
	e.calm = acts && !e.Error && (e.vouched && !saysFailed || !trouble)
	e.claims = c.Action.Kind == KindWriting && !e.calm && !e.Error && doneForm.MatchString(firstWords(text))
	e.quiet = !trouble && (acts || c.Action.Kind == KindShell && c.said == conversation.WentWell)
	return e
}

// asks reports whether the call asks somebody who may answer with an error in the fields of an object.
func (c *Source) asks() bool {
	return c.answers() || c.Action.Kind == KindFetching || c.Action.Kind == KindSearching
}

// answersBadly reports whether a result, as it stands in the body, is such an error.
func (c *Source) answersBadly(raw []byte) bool {
	if c.said == conversation.WentWell || !c.asks() {
		return false
	}
	text, ok := shortText(raw)
	return ok && c.answersFailure(text)
}

// answersFailure reports whether an answer says that nothing came of the call, and is not what it asked for.
func (c *Source) answersFailure(text string) bool {
	return answer.Failed(text, answer.Deed) && answer.Failed(text, c.ask())
}

// ask is what the call asks for, as far as its tool says.
func (c *Source) ask() answer.Ask {
	switch asks, isCheck := verb.Asks(c.Name); {
	case isCheck:
		return answer.Finding
	case asks || c.Action.Kind == KindFetching || c.Action.Kind == KindSearching:
		return answer.Record
	}
	return answer.Deed
}

// shows reports whether an answer with a field of an error is the record that was asked for.
func (c *Source) shows(text string) bool {
	return c.asks() && strings.HasPrefix(text, "{") && c.ask() != answer.Deed && answer.IsRecord(text)
}

// answers reports whether what a result says is of its call, and not of what the call was to show.
func (c *Source) answers() bool { return c.Action.Kind == KindWriting || c.Action.Kind == KindOther }

// goesOn is how the command is named that goes on; empty if it has ended, or if nobody says so.
func (c *Source) goesOn(raw []byte) string {
	if c.Action.Kind != KindShell || c.Action.OnlyFiles { // what a file says is not of the call
		return ""
	}
	id, status := sessionIn(raw)
	if status == "running" {
		return c.Action.Session
	}
	return id
}

// refusal is what kept the call from what it was to do. What a file or a page says of that is not of the call.
func (c *Source) refusal(text string) Refusal {
	switch {
	case c.said == conversation.WentWell:
		return Refusal{}
	case c.said == conversation.WentWrong:
	case c.Action.Kind == KindShell && !c.Action.Looks && !c.Action.OnlyFiles:
	case c.Action.Kind != KindWriting && c.Action.Kind != KindOther:
		return Refusal{}
	}
	return refusalIn(text, c.Action.Kind == KindShell)
}

// showsNothing reports whether a command has put out nothing: what its runner writes around that does not count.
func showsNothing(text string) bool {
	const most = 1_000 // bytes
	if len(text) > most {
		return false
	}
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(l)
		switch strings.ToLower(strings.Trim(l, "()<>. ")) {
		case "", "output:", "no output", "output: empty", "output: (empty", "error: (none", "stdout:", "stderr:":
			continue
		}
		if !exitForm.MatchString(l) && !besideExit.MatchString(l) {
			return false
		}
	}
	return true
}

// doneForm finds how the answer of a tool begins that says that it wrote a file.
var doneForm = pattern.Of(`(?i)^(?:the file \S+ (?:has been|was) (?:updated|created|edited|written)|` +
	`file (?:created|updated|written|edited) successfully|success(?:fully\b|[.:!]|$)|created file \S|wrote \d)`)

// StateInWords says in a few words how the call ended that the result answers, which stands so in the body; empty if it
// does not tell. text is what it says.
func (c *Source) StateInWords(raw []byte, text string) string {
	switch e := c.readEnding(raw, text); {
	case e.Refusal.How != "" || e.asked != shell.NoQuestion || e.Session != "":
		return e.InWords()
	case e.Known || e.Code > 0:
		return fmt.Sprintf("exit code %d", e.Code)
	case e.Error:
		return "failed"
	}
	return ""
}
