package ending

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/answer"
	"epitome/rewrite/history/verb"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// result is what answers a call, while it is read for how the call ended.
type result struct {
	*action.Source
	raw  []byte // it, as it stands in the body
	text string // what it says; of one that is only looked at in passing, nothing if it is long
	exit exit
}

// Of reads how the call ended whose result has the text. raw is the result as it stands in the body. The output of a
// command alone is read for what it says: what a page or a file says of success is not of the call.
func Of(c *action.Source, raw []byte, text string) *Ending {
	r := &result{Source: c, raw: raw, text: text, exit: exitOf(c, raw)}
	e := r.ending()
	if c.Action.Kind == action.Shell && !c.Action.OnlyFiles && !c.Action.Looks {
		e.takeOutput(text)
		if c.Action.Reports && len(text) > longestAnswer { // what it shows of failures is of others
			e.Claims = excerpt.Unknown
		}
	}
	return e
}

// longestAnswer is the size in bytes up to which a command that only reports may speak of itself.
const longestAnswer = 1_000

// takeOutput takes in what the output of a command says by its tools' own words.
func (e *Ending) takeOutput(text string) {
	screen, _ := shorten.FinalScreen(text)
	read := excerpt.Read(screen)
	if read.Line != "" && !exitForm.MatchString(read.Line) {
		e.Line = read.Line
	}
	if e.Session == "" { // what a command says on its way may not be its last word
		e.Claims = read.Outcome
	}
}

// StateOf says in a few words how the call ended whose result has the text; empty if that does not tell. raw is the
// result as it stands in the body. The output of a command is not read for what it says.
func StateOf(c *action.Source, raw []byte, text string) string {
	r := &result{Source: c, raw: raw, text: text, exit: exitOf(c, raw)}
	switch e := r.ending(); {
	case e.Refusal.How != "" || e.asked != shell.NoQuestion || e.Session != "":
		return e.InWords()
	case e.Known || e.Code > 0:
		return fmt.Sprintf("exit code %d", e.Code)
	case e.Error:
		return "failed"
	}
	return ""
}

// DidNothing reports whether a result, as it stands in the body, says that its call did nothing: at its beginning, or
// in the fields of an object.
func DidNothing(c *action.Source, raw []byte) bool {
	if c.Said == conversation.WentWell {
		return false
	}
	r := &result{Source: c, raw: raw, exit: exitOf(c, raw)}
	wentWell := r.exit.known && r.exit.code == 0
	if wentWell && !r.asks() {
		return false
	}
	r.text = shortText(raw)
	return !wentWell && r.beginsAsError() || r.asks() && r.saysFailure()
}

// MayBeRefused reports whether a result, as it stands in the body, may say that its call could not read or write its
// files. What is short and speaks of such things may be a file too: then it counts for nothing.
func MayBeRefused(c *action.Source, raw []byte) bool {
	text := shortText(raw)
	switch c.Action.Kind {
	case action.Shell:
		return c.Action.OnlyFiles && len(c.Action.Writes) == 0 && SaysNoFile(text)
	case action.Writing:
		text = shorten.FirstLine(text)
	}
	return SaysRefusal(text) || SaysNoFile(text)
}

// longestComplaint is the size in bytes from which on a result is no mere complaint.
const longestComplaint = 4_000

// shortText is the text of a result, as it stands in the body, or of its first part; empty if that is long.
func shortText(raw []byte) string {
	if len(raw) > 0 && raw[0] == '[' {
		raw = []byte(gjson.GetBytes(raw, "0.text").Raw)
	}
	if len(raw) > longestComplaint || len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	text, err := span.Unquote(raw)
	if err != nil {
		return string(raw)
	}
	return text
}

// ending is how the call ended, by all but what the output of a command says.
func (r *result) ending() *Ending {
	e := &Ending{looks: r.Action.Looks || r.Action.OnlyFiles, Said: r.Said, Code: r.exit.code, Known: r.exit.known,
		Killed: r.killed(), silent: showsNothing(r.text)}
	if !e.Known {
		e.Session = GoesOn(r.Source, r.raw)
	}
	if !e.Known && e.Session == "" {
		e.Refusal = r.refusal()
	}
	words := r.words()
	r.takeError(e, words)
	if r.answersNo(e) {
		e.asked = r.Action.Asks
	}
	e.support = r.supportOf(e, words)
	return e
}

// words are what the words of a result say of its call.
type words struct {
	error   bool   // it is the message of an error, or an object of which the fields say so
	line    string // that says so
	above   bool   // it stands above what the call was to show, as far as there is more
	fields  bool   // an object says that nothing came of the call
	trouble bool   // it says failure somewhere, whatever of; false too where nobody asks
}

func (r *result) words() (w words) {
	w.fields = r.asks() && r.saysFailure()
	if w.error, w.line = r.complaint(); w.error {
		w.above = true
	} else if w.fields {
		w.error, w.line = true, firstWords(r.text)
	}
	if w.line == "{" { // its fields tell more
		w.line = ""
	}
	counts := r.answers() || r.Said == conversation.WentWell
	w.trouble = w.error || counts && !answer.SaysNoTrouble(r.text)
	return w
}

// takeError takes in the words of an error, unless who ran the call says that it succeeded, and the client's mark.
func (r *result) takeError(e *Ending, w words) {
	if wentWell := e.Known && e.Code == 0 || r.Said == conversation.WentWell; !wentWell {
		e.Error, e.Line = w.error, w.line
	}
	e.above = w.above && e.Error && len(r.text) > longestComplaint
	if r.Said == conversation.WentWrong {
		e.marked = !e.Error && e.Code == 0
		e.Error = true
	}
}

// answersNo reports whether the exit code is the answer no to what the call asks.
func (r *result) answersNo(e *Ending) bool {
	const lostFolder = "cd: can't cd to " // with which a shell ends with code 2
	asks := r.Action.Asks
	isSure := asks == shell.Sameness && r.Action.Alone || asks.Code() > 1 && !strings.Contains(r.text, lostFolder)
	return e.Code == asks.Code() && (isSure || e.silent)
}

// supportOf is what speaks for a call of which no exit state is told.
func (r *result) supportOf(e *Ending, w words) (s support) {
	acts, isCommand, wentWell := r.answers(), r.Action.Kind == action.Shell, r.Said == conversation.WentWell
	s.vouched = w.trouble && wentWell && (acts || isCommand)
	s.calm = acts && !e.Error && (s.vouched && !w.fields || !w.trouble)
	s.claims = r.Action.Kind == action.Writing && !s.calm && !e.Error && doneForm.MatchString(firstWords(r.text))
	s.quiet = !w.trouble && (acts || isCommand && wentWell)
	return s
}

// answers reports whether what a result says is of its call, and not of what the call was to show.
func (r *result) answers() bool {
	return r.Action.Kind == action.Writing || r.Action.Kind == action.Other
}

// asks reports whether the call asks somebody who may answer with an error in the fields of an object.
func (r *result) asks() bool {
	return r.answers() || r.Action.Kind == action.Fetching || r.Action.Kind == action.Searching
}

// ask is what the call asks for, as far as its tool says.
func (r *result) ask() answer.Ask {
	switch asks, isCheck := verb.Asks(r.Name); {
	case isCheck:
		return answer.Finding
	case asks || r.Action.Kind == action.Fetching || r.Action.Kind == action.Searching:
		return answer.Record
	}
	return answer.Deed
}

// saysFailure reports whether the fields of an answer say that nothing came of the call, and are not what it asked for.
func (r *result) saysFailure() bool {
	return answer.Failed(r.text, answer.Deed) && answer.Failed(r.text, r.ask())
}

// shows reports whether an answer with a field of an error is the record that was asked for.
func (r *result) shows() bool {
	return r.asks() && strings.HasPrefix(r.text, "{") && r.ask() != answer.Deed && answer.IsRecord(r.text)
}

// refusal is what kept the call from what it was to do. What a file or a page says of that is not of the call.
func (r *result) refusal() Refusal {
	isCommand := r.Action.Kind == action.Shell
	switch {
	case r.Said == conversation.WentWell:
		return Refusal{}
	case r.Said == conversation.WentWrong:
	case isCommand && !r.Action.Looks && !r.Action.OnlyFiles:
	case !r.answers():
		return Refusal{}
	}
	return refusalIn(r.text, isCommand)
}
