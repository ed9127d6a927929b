package history

import (
	"fmt"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/shorten"
)

// Ending is how a call ended, as far as its result tells. An exit state is told by whoever ran the command; words of
// the output are claims of its writer.
type Ending struct {
	Known  bool // an exit state is told
	Code   int
	Error  bool            // the result begins as a message of an error does
	Claims excerpt.Outcome // what the words of a command's output say
	Line   string          // the one whole line of a command's output that matters most; empty if there is none
}

// Failed reports whether the call failed, by its exit state or by what its result says.
func (e *Ending) Failed() bool { return e.Code > 0 || e.Error || e.Claims == excerpt.Failed }

// Succeeded reports whether the call succeeded, by its exit state or by what its result says.
func (e *Ending) Succeeded() bool {
	return !e.Failed() && (e.Known || e.Claims == excerpt.Succeeded)
}

// InWords says how the call ended, and who says so; empty if nobody does.
func (e *Ending) InWords() string {
	switch {
	case e.Code > 0:
		return fmt.Sprintf("failed with exit code %d", e.Code)
	case e.Error:
		return "its result is an error"
	case e.Known && e.Claims == excerpt.Failed:
		return "ended with exit code 0, but its output tells of a failure"
	case e.Known:
		return "ended with exit code 0"
	case e.Claims == excerpt.Failed:
		return "its output says that it failed"
	case e.Claims == excerpt.Succeeded:
		return "its output says that it succeeded"
	}
	return ""
}

// KnownEnding returns how the call ended that the result answers; nil if that was not asked for yet.
func (r *Result) KnownEnding() *Ending { return r.ending }

// LearnEnding reads how the call ended whose result has the text. raw is the result as it stands in the body. The
// output of a command alone is read for what it says: what a page or a file says of success is not of the call.
func (r *Result) LearnEnding(raw []byte, text string) *Ending {
	e := &Ending{}
	e.Code, e.Known = r.exitState(raw)
	e.Error = (e.Code > 0 || !e.Known) && complains(raw)
	if r.Action.Kind == KindShell && !r.Action.OnlyFiles && !r.Action.Looks {
		screen, _ := shorten.FinalScreen(text)
		read := excerpt.Read(screen)
		e.Claims, e.Line = read.Outcome, read.Line
	}
	r.ending = e
	return e
}
