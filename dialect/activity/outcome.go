package activity

import (
	_ "embed" // words.txt
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"epitome/internal/jsonspan"
	"epitome/internal/unit"
	"epitome/offload/excerpt"
)

// exitForm matches an exit code, in one of its three groups: in a phrase or bare, on a line that says nothing else, or
// in a field of JSON.
var exitForm = regexp.MustCompile(`(?im)^[\[(<*\s]*(?:error: )?` +
	`(?:(?:the )?(?:process|command|program|shell|script) )?(?:has )?` +
	`(?:(?:exited with (?:code|status)|` +
	`(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?` + exitName + `)[ :=>"']*(\d{1,3})|` +
	exitName + `[ :=>"']*(\d{1,3}))(?:</\w+>|[\])>.*\s])*$|` +
	`"(?:exit_?code|exit_?status|return_?code)" ?: ?(\d{1,3})\b`)

const exitName = `(?:exit[ _]?code|exit[ _]status|return[ _]?code)`

//go:embed words.txt
var wordsText string

var (
	words   = unit.Expressions(wordsText)
	answers = atStart(words["refused"] + "|" + words["open"]) // of clients
	open    = atStart(words["open"])
	report  = atStart(words["failed"])
	doubt   = atStart(words["doubt"])
	undone  = atStart(words["undone"])
	unasked = atStart(words["unasked"])

	openLine    = regexp.MustCompile(`(?i)^\s*(?:` + words["open-line"] + `)`)
	refusedLine = regexp.MustCompile(`(?i)^\s*(?:` + words["refused-line"] + `)`)

	lost      = inLine("lost")
	good      = inLine("good")
	won       = inLine("won")
	failing   = inLine("failing")
	ofProgram = inLine("program")
	isNeutral = inLine("neutral")
	showsText = inLine("shows")
	hints     = strings.Split(words["hint"], "|")
	foreign   = strings.Split(words["foreign"], "|")

	badStatus = regexp.MustCompile(`(?i)\A(?:` + words["status"] + `)\z`)
	// errorKeys are the keys of an object that says nothing but that a call failed.
	errorKeys = strings.Split(words["key"], "|")

	// failingStatus is the JSON of an HTTP status that is an error.
	failingStatus = regexp.MustCompile(`^"?[45]\d\d"?$`)
)

// atStart matches texts that begin, behind signs, with one of some expressions.
func atStart(expr string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)\A[^\w{"<]*(?:` + expr + `)`)
}

// inLine matches lines that begin, behind signs, with an expression that words.txt has under a name.
func inLine(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[^\w<]*(?:` + words[name] + `)`)
}

// near is how many bytes at each end of a result are looked at: what stands further inside is more likely output.
const near = 300

// ends returns the first bytes of a text, near of them, and the last ones. With a letter at the cuts, half a number or
// line is no match.
func ends(text string, last int) string {
	if len(text) <= near+last {
		return text
	}
	return text[:near] + "x\nx" + text[len(text)-last:]
}

// exitCode returns the exit code that a client states near the beginning or the end of a result; -1 if it states none.
// Of a quote, which others wrote, a bare code counts at the beginning alone.
func exitCode(text string, isQuote bool) int {
	text = ends(text, near)
	m := exitForm.FindStringSubmatch(text)
	if m == nil || isQuote && m[2] != "" && !strings.HasPrefix(text, m[0]) {
		return -1
	}
	code, _ := strconv.Atoi(m[1] + m[2] + m[3]) // of which one is not empty
	return code
}

// ending is how a call ended, as far as its result says.
type ending uint8

const (
	noFailure ending = iota
	unclear          // the result speaks of a failure that may not be its own
	failed
	noEnd // there is no result, or the call was broken off or goes on
)

// readEnd sets how the call ended by the text of its result. isMarked says that the client marked it as failed. An exit
// code outweighs other words, and a mark an exit code of 0.
func (c *Call) readEnd(text string, isMarked bool) {
	isQuote := c.OnlyShows()
	if c.Kind == Run || !isQuote && c.Kind != Ask { // others may only mention an exit code
		c.Exit = exitCode(text, c.shows)
	}
	c.end = noFailure
	switch {
	case c.Kind == Ask && Unasked(text):
		c.end = failed
	case c.Exit < 0 && c.Kind != Ask: // users may say anything
		c.end = c.endByWords(text, isQuote)
	}
	if c.Exit > 0 || isMarked && c.end != noEnd {
		c.end = failed
	}
}

// Unasked reports whether the result of a call of kind Ask says that the question failed before the user saw it.
func Unasked(result string) bool { return unasked.MatchString(result) }

// endByWords returns how the call ended by a result without an exit code. isQuote says that others wrote the result.
func (c *Call) endByWords(text string, isQuote bool) ending {
	said := strings.TrimSpace(text)
	if inner := jsonspan.Wrapped(text); !inner.Empty() {
		said = strings.TrimSpace(jsonspan.StringOf([]byte(text[inner.Start:inner.End])))
	}
	end := c.endByAnswer(said)
	if end != noFailure {
		return end
	}
	end = c.endOfObject(text, isQuote)
	if end == noFailure && c.Kind == Run && !c.shows {
		end = endOfRun(said)
	}
	return max(end, c.endByReport(said, isQuote || c.Kind == Run))
}

// endByAnswer reads a result that is the client's answer: the call was refused, or was broken off or goes on. Below the
// output of a command such an answer is a line. Several are a list that somebody wrote.
func (c *Call) endByAnswer(said string) (end ending) {
	number := 0
	head := said[:min(len(said), near)]
	for line := range strings.Lines(head) {
		if answers.MatchString(line) {
			number++
		}
	}
	switch {
	case number == 1 && open.MatchString(head):
		return noEnd
	case number == 1 && answers.MatchString(head):
		return failed
	case c.Kind != Run:
		return noFailure
	}
	for line := range strings.Lines(ends(said, near)) {
		if openLine.MatchString(line) {
			return noEnd
		}
		if refusedLine.MatchString(line) {
			end = failed
		}
	}
	return end
}

// endByReport reads a result that is a report of a failure, or begins with one. A quote, which others wrote, counts
// as failed only if the report is all of it, on one line. Where the report may not be the tool's own, as that of a
// lookup with more lines, the end is unclear.
func (c *Call) endByReport(said string, isQuote bool) ending {
	const longest = 2_000 // bytes of a tool's own report
	if c.shows {
		last := said[strings.LastIndexByte(said, '\n')+1:]
		if len(said) <= 2*near && (ofProgram.MatchString(said) || ofProgram.MatchString(last)) {
			return failed
		}
		return noFailure
	}
	words := ends(said, near)
	isAll := len(said) <= near && !strings.Contains(said, "\n")
	isNumbered := strings.IndexAny(said, "0123456789") == 0 // as lines of files are
	mayBeOwn := !isQuote || isAll || c.Kind.Looks() && !isNumbered
	switch {
	case len(said) > longest || !mayBeOwn:
		return noFailure
	case isQuote && !isAll && report.MatchString(words):
		return unclear
	case isQuote && !isAll:
		return noFailure
	case report.MatchString(words):
		return failed
	case c.Kind == Write && (doubt.MatchString(words) || undone.MatchString(words)): // its words are its own
		return failed
	case doubt.MatchString(words):
		return unclear
	}
	return noFailure
}

// endOfObject reads a result that begins with a JSON object which says, at its top level, that the call failed: by
// MCP's mark, or by a key that is common for it. Beside keys of other things it may be a record of something else.
func (c *Call) endOfObject(text string, isQuote bool) ending {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") { // so that most results are not copied
		return noFailure
	}
	o, err := jsonspan.ObjectAt([]byte(text), 0)
	if err != nil {
		return noFailure
	}
	nothing := []string{"", "null", "false", "0", `""`, "{}", "[]"}
	reason := strings.Join(strings.Fields(o.Raw("error")), "")
	status := o.Text("status") // that an order is cancelled is no failure of cancel_order
	isFailing := func(key string) bool { return failingStatus.MatchString(o.Raw(key)) }
	saysError := !slices.Contains(nothing, reason) || o.Raw("success") == "false" || o.Raw("ok") == "false" ||
		isFailing("status") || isFailing("statusCode") || isFailing("status_code") ||
		badStatus.MatchString(status) && !strings.Contains(strings.ToLower(c.Tool), strings.ToLower(status[:4]))
	switch {
	case o.Raw("isError") == "true" || o.Raw("is_error") == "true":
		return failed
	case !saysError:
		return noFailure
	case !o.HasOther(errorKeys):
		return failed
	case isQuote:
		return noFailure
	}
	return unclear
}

// State returns how the call ended: "ok", "failed", "failed, exit code 3", or "unclear" if there is no result, or the
// result says that the call was broken off or goes on, or speaks of a failure that may not be its own.
func (c *Call) State() string {
	switch {
	case c.Failed() && c.Exit > 0:
		return fmt.Sprintf("failed, exit code %d", c.Exit)
	case c.Failed(): // maybe with exit code 0: the client knows better
		return "failed"
	case c.end == noFailure:
		return "ok"
	}
	return "unclear"
}

// Failed reports whether the result says that the call failed.
func (c *Call) Failed() bool { return c.end == failed }

// Failure returns the lines of a call's result that report its failure. They are empty if the call did not fail, or is
// not a command without an exit code whose output reports a failure.
func (c *Call) Failure(result string) string {
	if !c.Failed() && (c.Kind != Run || c.Exit == 0 && (c.shows || endOfRun(result) != failed)) {
		return ""
	}
	screen, _ := excerpt.Screen(result)
	return excerpt.Failure(screen, c.Failed())
}
