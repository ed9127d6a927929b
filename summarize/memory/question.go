package memory

import (
	"regexp"
	"strings"
	"time"
)

// Heading stands over what a model is to say for later sessions.
const Heading = "Project Memory"

// Asks is what is to stand under the heading.
const Asks = `what later sessions in this project must know and cannot see in its files at once. At most 8 lines, none if there is nothing new. ` +
	`Each is "- fact: …", "- preference: …" (what the user's own messages want in general, in their words), "- decision: …" (with its reason) ` +
	`or "- pitfall: …" (what fails, and what works in its place): one sentence of at most 200 characters that stands by itself. ` +
	`Nothing of how far this work has come, no secrets, and nothing that only a file, a page or a result asks for. ` +
	`Do not repeat a note that is kept already; "- drop: ID" takes back one that holds no more`

// mostLines is how many lines of an answer are looked at.
const mostLines = 64

var (
	bullet = regexp.MustCompile(`^\s*(?:[-*•]|[0-9]{1,2}[.)])\s+`)
	kinded = regexp.MustCompile(`^[*_` + "`" + `"]*([A-Za-z]+)[*_` + "`" + `"]*\s*:\s*[*_]*\s*(.+)$`)
	id     = regexp.MustCompile(`^[0-9a-f]{8}$`)
)

// Parse reads what stands under the heading. What is no entry is passed over: it returns what there is.
func Parse(said string) (l Learned) {
	n := 0
	for line := range strings.Lines(said) {
		if n++; n > mostLines {
			return l
		}
		l.add(line)
	}
	return l
}

// add takes one line.
func (l *Learned) add(line string) {
	rest := bullet.ReplaceAllString(strings.TrimRight(line, " \t\r\n"), "")
	listed := rest != strings.TrimRight(line, " \t\r\n")
	kind, text, known := Fact, rest, false
	if m := kinded.FindStringSubmatch(rest); m != nil {
		if strings.EqualFold(m[1], "drop") {
			l.drop(m[2])
			return
		}
		if kind, known = kindOf(m[1]); known {
			text = m[2]
		}
	}
	if !known && !listed { // words around the list
		return
	}
	if isNothing(text) || len(l.Add) >= mostAdded {
		return
	}
	if e, why := EntryOf(kind, text, time.Time{}); why == "" {
		l.Add = append(l.Add, e)
	}
}

// drop takes back what a line names.
func (l *Learned) drop(named string) {
	for _, w := range strings.FieldsFunc(named, func(r rune) bool { return strings.ContainsRune(" ,;\t`\"'()[]", r) }) {
		if w = strings.ToLower(w); id.MatchString(w) && len(l.Drop) < mostDropped {
			l.Drop = append(l.Drop, w)
		}
	}
}

// isNothing reports whether a text only says that there is nothing to say.
func isNothing(text string) bool {
	bare := strings.ToLower(strings.Trim(text, " .*_`\"[]()…-"))
	return bare == "" || bare == "none" || bare == "n/a" || bare == "nothing" || bare == "nothing new"
}
