// Package ending is how a call ended, as far as its result tells: by an exit state, by the words of an error, by who
// kept the call from what it was to do, or by what a program says at the end of its output.
//
// It promises to say whose word that is: an exit state is told by whoever ran the command, all else is what the result
// claims. What a file or a page says of errors is not of the call that shows it. What programs write of their own work
// is read by package excerpt, and the fields of a service's answer by package answer; what stands here are the words of
// agents, and of those who run commands for them. It reads the ends of long results, and each once.
package ending

import (
	"fmt"
	"strconv"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
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
	case shell.Checks:
		return "ended with exit code 8: checks are pending"
	}
	return fmt.Sprintf("failed with exit code %d", code)
}
