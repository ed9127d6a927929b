package rewrite

import (
	"fmt"
	"strings"
)

// mark begins every line that epitome puts into a conversation. A text with such a line that names an artifact is not cut
// again.
const mark = "[epitome: "

// marked reports whether a line of the text is a mark of epitome's own. Anyone can write a line that looks like one, so it
// must name an artifact that a form speaks of or that lies on the shelf. Nobody can guess a name, and equal content has
// another one in another scope.
func (p *plan) marked(text string) bool {
	const mostLooks = 8 // at the shelf: a forger may write any number of names
	looks := 0
	for at := 0; at < len(text); {
		if at > 0 || !strings.HasPrefix(text, mark) {
			i := strings.Index(text[at:], "\n"+mark)
			if i < 0 {
				return false
			}
			at += i + 1
		}
		line, _, _ := strings.Cut(text[at:], "\n")
		at += len(line)
		for name := range namesLike(line) {
			if p.artifactNames[name] {
				return true
			}
			if looks < mostLooks && p.shelf.Touch(name) {
				return true
			}
			looks++
		}
	}
	return false
}

// about says what a text came from: tool and key argument.
func (c *origin) about() string {
	name := c.name
	if name == "" {
		name = "a tool"
	}
	if c.deed.key == "" {
		return name
	}
	return name + " `" + c.deed.key + "`"
}

// linesIn is how many lines a text has, the last one with or without its end.
func linesIn(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// middle is what an excerpt leaves out.
type middle struct {
	excerpt
	total int    // lines of the whole
	of    string // what the lines are of, if not of the text as it came
	where string
	names string // in what was left out
}

// excerptStub shows head and tail of a text and says what stands between them.
func excerptStub(c *origin, m middle) string {
	var b strings.Builder
	b.WriteString(m.head)
	fmt.Fprintf(&b, "%slines %d-%d of %d left out%s: %d lines, %d tokens of %s. %s",
		mark, m.from, m.to, m.total, m.of, m.to-m.from+1, m.leftTokens, c.about(), m.where)
	if m.names != "" {
		b.WriteString(". Names in them: " + m.names)
	}
	b.WriteString("]\n")
	b.WriteString(m.tail)
	return b.String()
}

// outlineStub shows what a JSON value is made of.
func outlineStub(c *origin, outline string, tokens int, where string) string {
	return fmt.Sprintf("%spreview of a JSON value of %d tokens from %s. %s]\n%s", mark, tokens, c.about(), where, outline)
}

// screenStub shows terminal output as it would stand on the screen in the end.
func screenStub(screen string, tokens int, where string) string {
	if screen != "" && !strings.HasSuffix(screen, "\n") {
		screen += "\n"
	}
	return fmt.Sprintf("%s%sabove is the final screen of terminal output of %d tokens. %s]", screen, mark, tokens, where)
}

// referenceStub stands where lines were that an earlier result holds.
func referenceStub(c *origin, r repeat) string {
	return fmt.Sprintf("%slines %d-%d are left out: but for line numbers and trailing spaces they are lines %d-%d of the earlier result of %s]\n", mark, r.first, r.last, r.at, r.at+r.last-r.first, c.about())
}

// clearedStub stands where a result was.
func clearedStub(c *origin, m middle, why string) string {
	lines := ""
	if m.total > 0 {
		lines = fmt.Sprintf(" %d lines,", m.total)
	}
	s := fmt.Sprintf("%s%s,%s %d tokens, cleared: %s. %s", mark, c.about(), lines, m.leftTokens, why, m.where)
	if m.names != "" {
		s += ". Names in it: " + m.names
	}
	return s + "]"
}

// where says how to get a text back.
func where(address string) string { return "Read it whole in " + address }

// keptAs is what where is when no address can be given.
func keptAs(name string) string {
	return "Kept as artifact " + name + ", which cannot be read from here"
}
