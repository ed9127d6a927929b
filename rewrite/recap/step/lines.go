package step

import (
	"strings"

	"epitome/pattern"
	"epitome/rewrite/shorten"
)

// WholeLine is the first line of a command with what it goes on with: the lines behind one that ends in a backslash,
// behind the beginning of a message that it is given the first line of that, and behind a document its end and the line
// below.
func WholeLine(command string) string {
	const most = 8 // lines
	line := shorten.FirstLine(command)
	_, rest, _ := strings.Cut(command, line)
	for range most {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "\r"), "\n")
		isOpen := strings.HasSuffix(line, "\\")
		if !isOpen && !messageBegins.MatchString(line) {
			break
		}
		next := rest
		if at := strings.IndexByte(rest, '\n'); at >= 0 {
			next = rest[:at]
		}
		rest = rest[len(next):]
		if line = strings.TrimRight(strings.TrimSuffix(line, "\\"), " ") + " " + strings.TrimSpace(next); !isOpen {
			break
		}
	}
	line = strings.TrimSpace(strings.TrimSuffix(line, "\\"))
	if at := strings.Index(line, "<<"); at >= 0 && !strings.Contains(line, "$(") && !strings.Contains(line[at+2:], "<<") {
		if mark, below, ok := belowDocument(line[at:] + "\n" + rest); ok && below != "" {
			line += " " + mark + " " + below
		}
	}
	return line
}

// belowDocument is the end of the document with which a text begins that a command is given, and the line below it.
func belowDocument(text string) (mark, line string, ok bool) {
	mark, _, rest, ok := documentIn(text)
	if !ok {
		return "", "", false
	}
	_, below, _ := strings.Cut(rest, "\n")
	return mark, strings.TrimSpace(shorten.FirstLine(strings.TrimLeft(below, " \t\r\n"))), true
}

// messageBegins finds the end of a line behind which the text of a message stands that a command is given.
var messageBegins = pattern.Of(`"\$\(cat <<-?\s*['"]?\w+['"]?$`)

// documentOf is the document that a command is given at the beginning of a text, as one word, and the text without it.
// ok is false if none begins there, or if it has no end.
func documentOf(text string) (word, rest string, ok bool) {
	_, body, rest, ok := documentIn(text)
	return "<<" + body, rest, ok
}

// shownIn is how many bytes of a text are a document that the shell puts there as it is, as messages are written that
// have several lines: $(cat <<'EOF' … EOF). It is 0 if the text begins with none, or if commands stand in it.
func shownIn(text string) int {
	document, ok := strings.CutPrefix(text, "$(cat ")
	if !ok {
		return 0
	}
	_, body, rest, ok := documentIn(document)
	isQuoted := strings.ContainsAny(shorten.FirstLine(document), `'"`)
	if !ok || !isQuoted && (strings.Contains(body, "`") || strings.Contains(body, "$(")) {
		return 0
	}
	if rest = strings.TrimLeft(rest, "\r\n\t "); !strings.HasPrefix(rest, ")") || !strings.HasSuffix(text, rest) {
		return 0
	}
	return len(text) - len(rest) + len(")")
}

// documentIn is what ends the document at the beginning of a text, what stands in it, and the text without both.
func documentIn(text string) (mark, body, rest string, ok bool) {
	after, isDocument := strings.CutPrefix(text, "<<")
	if !isDocument || strings.HasPrefix(after, "<") {
		return "", "", "", false
	}
	after, isIndented := strings.CutPrefix(after, "-")
	line, below, _ := strings.Cut(strings.TrimLeft(after, " \t"), "\n")
	mark, behind, ok := wordOf(line)
	if !ok || mark == "" {
		return "", "", "", false
	}
	read := 0
	for l := range strings.Lines(below) {
		read += len(l)
		end := strings.TrimRight(l, "\r\n")
		if isIndented {
			end = strings.TrimLeft(end, "\t")
		}
		if end == mark {
			return mark, below[:read-len(l)], behind + "\n" + below[read:], true
		}
	}
	return "", "", "", false
}
