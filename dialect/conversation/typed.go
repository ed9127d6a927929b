package conversation

import (
	"regexp"
	"strings"
)

var (
	noteTag     = regexp.MustCompile(`(?i)<(?:` + words["note"] + `)(?:[\s/>]|$)`)
	noteEnd     = regexp.MustCompile(`(?i)\A</(?:` + words["note"] + `)\s*>`)
	lineNoteEnd = regexp.MustCompile(`(?im)^[ \t]*</(?:` + words["note"] + `)\s*>`)
	stamp       = regexp.MustCompile(`\A\s*<(?:` + words["stamp"] + `)>[^<]*</[^<>]*>\s*`)
	heading     = regexp.MustCompile(`(?i)\A[ \t]*(?:` + words["heading"] + `)`)
	clientsText = regexp.MustCompile(`(?s)\A(?:# AGENTS\.md instructions.*</INSTRUCTIONS>|` +
		`(?:` + words["opening"] + `).*)`)
	typedTag  = regexp.MustCompile(`(?i)\A(?:` + words["typed"] + `)\z`)
	besideTag = regexp.MustCompile(`(?i)\A(?:` + words["beside"] + `)\z`)
	person    = regexp.MustCompile(`(?i)\A(?:` + words["person"] + `)\z`)
	anyTag    = regexp.MustCompile(`\A<([A-Za-z][\w:.-]*)(?:\s[^>]*)?>`)
)

// Said returns the texts of a message of the user: those that the user typed, and those that somebody else says in the
// user's role, as a result that the client sends in a message, or another agent. All behind the heading of a result is
// the result's. Notes of clients are in neither. The words by which both are known are in words.txt.
func (r *Request) Said(i int) (typed, others []string) {
	it := &r.Items[i]
	if it.Role != User {
		return nil, nil
	}
	isOthers := r.isAgents(it)
	for _, text := range withoutNotes(r.texts(it, false)) {
		ownEnd := 0
		if !isOthers {
			ownEnd = headingIn(text)
		}
		isOthers = isOthers || ownEnd < len(text)
		if own := typedIn(text[:ownEnd]); own != "" {
			typed = append(typed, own)
		}
		if other := strings.TrimSpace(text[ownEnd:]); other != "" {
			others = append(others, other)
		}
	}
	return typed, others
}

// headingIn returns where the heading of a result begins in a text; its length if there is none. An expression that is
// tried at each line is faster than one that looks for lines.
func headingIn(text string) (begin int) {
	const longest = 2_000 // bytes of a heading
	for begin < len(text) {
		if heading.MatchString(text[begin:min(len(text), begin+longest)]) {
			return begin
		}
		line := strings.IndexByte(text[begin:], '\n')
		if line < 0 {
			break
		}
		begin += line + 1
	}
	return len(text)
}

// OwnWords returns what the user typed in item i.
func (r *Request) OwnWords(i int) string {
	typed, _ := r.Said(i)
	return strings.Join(typed, "\n")
}

// Unquoted returns what the user typed in item i, and the same with quotation marks in the place of what it quotes: only
// the rest may be an order. Both are empty where the message may be the result of a call that the agent made in a text.
func (r *Request) Unquoted(i int) (own, rest string) {
	typed, _ := r.Said(i)
	if len(typed) == 0 || r.mayAnswerCall(i) {
		return "", ""
	}
	return strings.Join(typed, "\n"), unquoted(typed)
}

// isAgents reports whether a message of the user's role is another agent's, who has a name of its own.
func (r *Request) isAgents(it *Item) bool {
	if it.Name == "" || person.MatchString(it.Name) {
		return false
	}
	for i := range r.Items {
		if r.Items[i].Role == User {
			return r.Items[i].Name != it.Name
		}
	}
	return false
}

// mayAnswerCall reports whether the message before item i ends in an element, by which agents without tools of the API
// call theirs.
func (r *Request) mayAnswerCall(i int) bool {
	if i == 0 || r.Items[i-1].Role != Assistant || !r.Tools.Empty() {
		return false
	}
	said := strings.TrimSpace(r.TextOf(&r.Items[i-1]))
	return strings.HasSuffix(said, ">") && strings.HasPrefix(said[max(strings.LastIndexByte(said, '<'), 0):], "</")
}

// withoutNotes returns the texts of a message without the notes of clients. A line that begins with an end ends a note
// that began in a text before.
func withoutNotes(texts []string) []string {
	first := -1 // the first text with a note
	for i, text := range texts {
		text = stamp.ReplaceAllString(strings.TrimPrefix(text, "\ufeff"), "")
		begin, end := noteIn(text)
		if first >= 0 {
			stray := lineNoteEnd.FindStringIndex(text)
			if stray != nil && (begin < 0 || stray[0] < begin) {
				clear(texts[first+1 : i])
				begin, end = 0, max(end, lastEnd(text))
			}
		}
		if begin >= 0 {
			text = text[:begin] + text[end:]
		}
		if begin >= 0 && first < 0 {
			first = i
		}
		texts[i] = text
	}
	return texts
}

// noteIn returns where the notes of clients begin and end in a text; begin is -1 if there is none. One that begins a line
// or follows another element may go on to the end of the text, and any goes on to the last end.
func noteIn(text string) (begin, end int) {
	last := lastEnd(text)
	for begin = 0; ; begin++ {
		tag := noteTag.FindStringIndex(text[begin:])
		if tag == nil {
			return -1, -1
		}
		begin += tag[0]
		if begin < last {
			return begin, last
		}
		above := strings.TrimRight(text[:begin], " \t\r\f")
		if above == "" || strings.HasSuffix(above, "\n") || strings.HasSuffix(above, ">") {
			return begin, len(text)
		}
	}
}

// lastEnd returns where the last end of a note ends; 0 if there is none.
func lastEnd(text string) int {
	for at := len(text); at >= 0; {
		at = strings.LastIndex(text[:at], "</")
		if at < 0 {
			break
		}
		if end := noteEnd.FindStringIndex(text[at:]); end != nil {
			return at + end[1]
		}
	}
	return 0
}

// typedIn returns what the user typed in a text without notes.
func typedIn(text string) string {
	return unwrap(strings.TrimSpace(clientsText.ReplaceAllString(strings.TrimSpace(text), "")))
}

// mostElements bounds the elements of a text that are told apart.
const mostElements = 100

// unwrap returns what the user typed in a text that is nothing but elements: all of it, but for elements beside those
// that only clients write, and for tags around what is typed if there are no other elements. Any other text is returned
// as it is.
func unwrap(text string) string {
	var typed []string
	hasOthers, isClients := false, false
	rest := text
	for n := 0; rest != ""; n++ {
		tag := anyTag.FindStringSubmatch(rest)
		if tag == nil || n == mostElements {
			return text
		}
		rest = rest[len(tag[0]):]
		end := strings.LastIndex(rest, "</"+tag[1]+">") // what a file or a command says may look like an end
		if end < 0 {
			return text
		}
		isClients = isClients || besideTag.MatchString(tag[1])
		if typedTag.MatchString(tag[1]) {
			typed = append(typed, strings.TrimSpace(rest[:end]))
		} else {
			hasOthers = true
		}
		rest = strings.TrimSpace(rest[end+len("</>")+len(tag[1]):])
	}
	if hasOthers && !isClients {
		return text
	}
	return strings.TrimSpace(strings.Join(typed, "\n"))
}

// keepLine matches the lines by which a user says what every summary has to hold.
var keepLine = regexp.MustCompile(`(?im)^keep:[^\r\n]*`)

// IsKeepLine reports whether a line begins as those do. Where it is not the user's, it asks for nothing.
func IsKeepLine(line string) bool { return keepLine.MatchString(line) }

// KeepLines returns the lines of items [first, end) that begin with "keep:", in any case, in what the user typed and does
// not quote.
func (r *Request) KeepLines(first, end int) (lines []string) {
	for i := first; i < end; i++ {
		it := &r.Items[i]
		if it.Role != User || !strings.Contains(strings.ToLower(r.TextOf(it)), "keep:") {
			continue
		}
		own, rest := r.Unquoted(i)
		for _, line := range keepLine.FindAllStringIndex(rest, -1) {
			lines = append(lines, own[line[0]:line[1]])
		}
	}
	return lines
}
