package conversation

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unquoted returns texts, joined by line breaks, with quotation marks in the place of each byte of what they quote:
// elements, code, block quotes, comments, and what stands in quotation marks. In doubt a text is quoted. Line breaks
// stay, and the sign at the end of a quote. It takes linear time.
func unquoted(texts []string) string {
	q := quoting{[]byte("\n")} // each line of the text begins behind a line break, and the first one below an empty line
	for _, text := range texts {
		one := quoting{[]byte("\n" + text)}
		one.elements()
		q.out = append(q.out, one.out...)
	}
	q.hideAll(indented)
	q.fences()
	q.hideAll(blockQuote)
	q.tags()
	q.hideAll(comment, codeComment, openComment)
	q.codeSpans()
	q.quotes()
	return string(bytes.ReplaceAll(q.out[len("\n\n"):], []byte{hidden}, []byte{'"'}))
}

// quoting is a text of which a part is hidden.
type quoting struct{ out []byte }

// hidden stands for each byte of what is quoted until all is found.
const hidden = 0

// hide hides a piece of the text.
func (q *quoting) hide(from, end int) {
	for i, c := range q.out[from:end] {
		if c != '\n' {
			q.out[from+i] = hidden
		}
	}
}

// hideQuote hides a piece of the text, but not the sign at its end.
func (q *quoting) hideQuote(from, end int) {
	if sign := q.out[end-1]; sign == '.' || sign == '!' {
		end--
	}
	q.hide(from, end)
}

// hideAll hides all that matches one of some expressions.
func (q *quoting) hideAll(forms ...*regexp.Regexp) {
	for _, form := range forms {
		for _, m := range form.FindAllIndex(q.out, -1) {
			q.hide(m[0], m[1])
		}
	}
}

var (
	beginTag  = regexp.MustCompile(`\A<([A-Za-z][\w:.-]*)(?:[\s/>]|\z)`)
	endTag    = regexp.MustCompile(`</([A-Za-z][\w:.-]*)\s*>`)
	blankLine = regexp.MustCompile(`\n[ \t\r]*(?:\n|\z)`)
	backticks = regexp.MustCompile("`+|\n[ \t\r]*\n") // or the end of a paragraph

	// fenceLine matches a line with which a fenced block of code begins or ends, also within a list.
	fenceLine = regexp.MustCompile("\n[ \t]*(?:(?:[-*+]|\\d+[.)])[ \t]+)*(`{3,}|~{3,})[ \t]*([^`\r\n]*)\r?(?m:$)")

	// indented matches code below an empty line, and blockQuote what follows ">" in a paragraph.
	indented   = regexp.MustCompile(`\n[ \t\r]*\n(?:(?: {4}| {0,3}\t).*\n?|[ \t\r]*\n)+`)
	blockQuote = regexp.MustCompile(`\n[ \t]*>.*(?:\n.*[^ \t\r\n].*)*`)

	comment     = regexp.MustCompile(`(?s)<!--.*?-->`)
	codeComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	openComment = regexp.MustCompile(`(?s)\n(?:<!--|/\*).*`) // elsewhere one without an end is none
)

// elements hides the elements that begin a line or follow another one, but for those around what users type. An element
// ends at its last end, as what stands in it may look like one.
func (q *quoting) elements() {
	ends := map[string]int{}
	for _, m := range endTag.FindAllSubmatchIndex(q.out, -1) {
		ends[strings.ToLower(string(q.out[m[2]:m[3]]))] = m[1]
	}
	for begin, name := range q.lineTags() {
		name = strings.ToLower(name)
		if begin < ends[name] && !typedTag.MatchString(name) {
			q.hide(begin, ends[name])
		}
	}
}

// tags hides tags that begin a line and have no end, up to an empty line.
func (q *quoting) tags() {
	for begin, name := range q.lineTags() {
		if !typedTag.MatchString(name) {
			q.hide(begin, q.paragraphEnd(begin))
		}
	}
}

// lineTags returns where tags begin that begin a line or follow another one, and their names. A tag that is hidden
// meanwhile is not among them. An expression for all of it takes its time for each letter.
func (q *quoting) lineTags() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for at := 0; ; at++ {
			length := bytes.IndexByte(q.out[at:], '<')
			if length < 0 {
				return
			}
			at += length
			before := bytes.TrimRight(q.out[:at], " \t")
			if last := before[len(before)-1]; last != '\n' && last != '>' {
				continue
			}
			m := beginTag.FindSubmatch(q.out[at:])
			if m != nil && !yield(at, string(m[1])) {
				return
			}
		}
	}
}

// paragraphEnd returns where the paragraph of a place ends.
func (q *quoting) paragraphEnd(at int) int {
	if m := blankLine.FindIndex(q.out[at:]); m != nil {
		return at + m[0]
	}
	return len(q.out)
}

// fences hides blocks of code. Both of two blocks, one within the other, begin with words behind the sign. Without words
// a line behind such a block may as well end another one around it, and if the last block does not end, any line may.
func (q *quoting) fences() {
	depth, sign, begin := 0, "", 0 // of the blocks that are open
	first, isNamed := -1, false    // the first line since which it is not sure where blocks end; one had words
	for _, m := range fenceLine.FindAllSubmatchIndex(q.out, -1) {
		hasWords := m[4] < m[5]
		switch {
		case depth == 0:
			depth, sign, begin = 1, string(q.out[m[2]:m[3]]), m[0]
			if first < 0 {
				first = begin
			}
			if isNamed && !hasWords {
				q.hide(first, begin)
				first = begin
			}
			isNamed = isNamed || hasWords
		case !strings.HasPrefix(string(q.out[m[2]:m[3]]), sign):
			continue
		case hasWords:
			depth++
		default:
			depth--
		}
		if depth == 0 {
			q.hide(begin, m[1])
		}
	}
	if depth > 0 {
		q.hide(first, len(q.out))
	}
}

// codeSpans hides code spans within paragraphs: each ends with as many backticks as it begins.
func (q *quoting) codeSpans() {
	if bytes.IndexByte(q.out, '`') < 0 {
		return
	}
	runs := backticks.FindAllIndex(q.out, -1)
	next := make([]int, len(runs)) // by run, the next one of its length
	last := map[int]int{}
	for i, run := range slices.Backward(runs) {
		if q.out[run[0]] == '\n' {
			clear(last)
			continue
		}
		next[i] = last[run[1]-run[0]]
		last[run[1]-run[0]] = i
	}
	for i := 0; i < len(runs); i++ {
		if next[i] > 0 {
			q.hideQuote(runs[i][0], runs[next[i]][0])
			i = next[i]
		}
	}
}

// mark is how a quotation mark is used. Marks of one group quote together, whichever of them begins.
type mark struct {
	group rune
	side  int // 1 mostly begins a quote, -1 mostly ends one
}

// marks are the quotation marks of the languages that users write.
var marks = map[rune]mark{
	'"': {'"', 0}, '“': {'"', 1}, '”': {'"', -1}, '„': {'"', 1}, '‟': {'"', 1}, '〝': {'"', 1}, '〞': {'"', -1},
	'\'': {'\'', 0}, '‘': {'\'', 1}, '’': {'\'', -1}, '‚': {'\'', 1},
	'«': {'«', 1}, '»': {'«', -1}, '‹': {'‹', 1}, '›': {'‹', -1},
	'「': {'「', 1}, '」': {'「', -1}, '『': {'『', 1}, '』': {'『', -1}, '《': {'《', 1}, '》': {'《', -1},
}

// quotes hides what stands in quotation marks. A quote that never ends goes on to the end of its paragraph; one of single
// marks is none then, as an apostrophe looks like them.
func (q *quoting) quotes() {
	open := map[rune][]int{} // by group, where quotes begin whose end has not come
	var quotes [][2]int      // none within another one
	text := string(q.out)
	before := ' '
	for i, c := range text {
		if c == '\n' && strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\r"), "\n") {
			delete(open, '\'')
		}
		m, isMark := mark{}, false
		if c == '"' || c == '\'' || c >= utf8.RuneSelf {
			m, isMark = marks[c]
		}
		if isMark {
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(c):])
			begins := open[m.group]
			last := len(begins) - 1
			switch side := m.sideBetween(before, after, last >= 0); {
			case side > 0:
				open[m.group] = append(begins, i)
			case side < 0 && last >= 0:
				open[m.group] = begins[:last]
				for len(quotes) > 0 && quotes[len(quotes)-1][0] > begins[last] {
					quotes = quotes[:len(quotes)-1]
				}
				quotes = append(quotes, [2]int{begins[last], i})
			}
		}
		before = c
	}
	delete(open, '\'')
	for _, quote := range quotes {
		q.hideQuote(quote[0], quote[1])
	}
	for _, begins := range open {
		end := 0
		for _, begin := range begins {
			if begin >= end {
				end = q.paragraphEnd(begin)
				q.hide(begin, end)
			}
		}
	}
}

// sideBetween returns whether a mark between two characters begins a quote (1), ends one (-1) or does neither. isOpen
// says that a quote of its group has begun.
func (m mark) sideBetween(before, after rune, isOpen bool) int {
	const wide = 0x2e80 // words of these scripts have no blanks between them
	isEdge := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) || c >= wide }
	isEmpty := func(c rune) bool { return unicode.IsSpace(c) || c == utf8.RuneError }
	begins := !isEmpty(after) && isEdge(before)
	ends := !isEmpty(before) && isEdge(after)
	switch {
	case begins && !ends, begins && m.side == 0 && !isOpen:
		return 1
	case ends && !begins, ends && m.side == 0:
		return -1
	case begins, m.group != '"' && m.group != '\'':
		return m.side
	case !isEmpty(before): // an apostrophe, or inches
		return 0
	case isOpen:
		return -1
	}
	return 1 // alone in its line
}
