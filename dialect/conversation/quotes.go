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
	var q quoting
	for _, text := range texts {
		one := quoting{[]byte("\n" + text)}
		one.elements()
		q.out = append(q.out, one.out...)
	}
	q.out = bytes.TrimPrefix(q.out, []byte("\n"))
	q.blocks()
	q.tags()
	q.comments()
	q.spans()
	return string(bytes.ReplaceAll(q.out, []byte{hidden}, []byte{'"'}))
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

var (
	beginTag  = regexp.MustCompile(`\A<([A-Za-z][\w:.-]*)(?:[\s/>]|\z)`)
	endTag    = regexp.MustCompile(`</([A-Za-z][\w:.-]*)\s*>`)
	blankLine = regexp.MustCompile(`\n[ \t\r]*(?:\n|\z)`)
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

// lineTags returns where tags begin that begin a line or follow another one, and their names. A tag that is hidden
// meanwhile is not among them.
func (q *quoting) lineTags() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for at := 0; ; at++ {
			length := bytes.IndexByte(q.out[at:], '<')
			if length < 0 {
				return
			}
			at += length
			before := bytes.TrimRight(q.out[:at], " \t")
			isFirst := len(before) == 0 || before[len(before)-1] == '\n' || before[len(before)-1] == '>'
			if !isFirst {
				continue
			}
			m := beginTag.FindSubmatch(q.out[at:])
			if m != nil && !yield(at, string(m[1])) {
				return
			}
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

// paragraphEnd returns where the paragraph of a place ends.
func (q *quoting) paragraphEnd(at int) int {
	if m := blankLine.FindIndex(q.out[at:]); m != nil {
		return at + m[0]
	}
	return len(q.out)
}

// fenceLine matches a line with which a fenced block of code begins or ends, also within a list.
var fenceLine = regexp.MustCompile("^([ \t]*)(?:(?:[-*+]|\\d+[.)])[ \t]+)*(`{3,}|~{3,})([^`\r\n]*)")

// listItem matches the first line of an item of a list.
var listItem = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d+[.)])[ \t]`)

// fence is the line that begins a block of code.
type fence struct {
	begin  int
	sign   string // of ``` or ~~~, as many as there are
	indent int
	depth  int  // how many blocks are open: of one within another both begin with such a line
	isSure bool // nothing but a beginning has words behind the sign
}

// blocks hides blocks of code and quotes, line by line.
func (q *quoting) blocks() {
	var open, before *fence // the block that is open, and the first one that surely began
	isBelowBlank, isCode, isQuote, isList := true, false, false, false
	for from := 0; from < len(q.out); {
		end := from + len(q.out[from:])
		if length := bytes.IndexByte(q.out[from:], '\n'); length >= 0 {
			end = from + length + 1
		}
		line := q.out[from:end]
		bare := bytes.TrimSpace(line)
		indent := indentOf(line)
		isBlank := len(bare) == 0
		f := fenceAt(line, from, indent)
		least := 4
		if isList {
			least = 8
		}
		isCode = isBlank && isCode || indent >= least && (isBelowBlank || isCode)
		isQuote = !isBlank && (bare[0] == '>' || isQuote && f == nil && !listItem.Match(line))
		switch {
		case open != nil:
			q.hide(from, end)
			open = open.with(f)
		case isCode || isQuote:
			q.hide(from, end)
		case f != nil:
			open = f
			begin := from
			if before == nil && f.isSure {
				before = f
			} else if before != nil && !f.isSure && before.sign[0] == f.sign[0] {
				begin = before.begin // it may as well end a block in which another one stood
				before.begin = from
			}
			q.hide(begin, end)
		case !isBlank && indent < 2:
			isList = listItem.Match(line)
		}
		isBelowBlank = isBlank
		from = end
	}
}

// indentOf returns how many columns the blanks take before a line.
func indentOf(line []byte) (columns int) {
	for _, c := range line {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns
		}
	}
	return columns
}

// fenceAt returns the fence that a line is; nil if it is none.
func fenceAt(line []byte, begin, indent int) *fence {
	m := fenceLine.FindSubmatch(line)
	if m == nil || len(bytes.TrimRight(line, "\r\n")) != len(m[0]) {
		return nil
	}
	isSure := len(bytes.TrimSpace(m[3])) > 0
	return &fence{begin: begin, sign: string(m[2]), indent: indent, depth: 1, isSure: isSure}
}

// with returns the block that is open behind a line, which may be a fence in it; nil if it ends the block.
func (f *fence) with(line *fence) *fence {
	if line == nil || !strings.HasPrefix(line.sign, f.sign) || line.indent > f.indent+3 {
		return f
	}
	if line.isSure {
		f.depth++
		return f
	}
	f.depth--
	if f.depth == 0 {
		return nil
	}
	return f
}

// comments are how they begin and end. Without an end there is none, but for those that begin a line.
var comments = []struct{ begin, end string }{{"<!--", "-->"}, {"/*", "*/"}}

// comments hides comments.
func (q *quoting) comments() {
	for _, c := range comments {
		for at := 0; ; {
			length := bytes.Index(q.out[at:], []byte(c.begin))
			if length < 0 {
				break
			}
			begin := at + length
			at = begin + len(c.begin)
			length = bytes.Index(q.out[at:], []byte(c.end))
			isLine := begin == 0 || q.out[begin-1] == '\n'
			if length < 0 {
				if isLine {
					q.hide(begin, len(q.out))
				}
				break
			}
			at += length + len(c.end)
			q.hideQuote(begin, at-len(c.end))
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

// spans hides code spans and what stands in quotation marks. A quote that never ends goes on to the end of its
// paragraph; one of single marks is none then, as an apostrophe looks like them.
func (q *quoting) spans() {
	open := map[rune][]int{} // by group, where quotes begin whose end has not come
	var quotes [][2]int      // none within another one
	for from := 0; from < len(q.out); {
		end := q.paragraphEnd(from)
		q.codeSpans(from, end)
		quotes = q.quotes(quotes, open, from, end)
		delete(open, '\'')
		from = end + 1
	}
	for _, span := range quotes {
		q.hideQuote(span[0], span[1])
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

var backticks = regexp.MustCompile("`+")

// codeSpans hides the code spans of a paragraph: each ends with as many backticks as it begins.
func (q *quoting) codeSpans(from, end int) {
	runs := backticks.FindAllIndex(q.out[from:end], -1)
	next := make([]int, len(runs)) // by run, the next one of its length
	last := map[int]int{}
	for i, run := range slices.Backward(runs) {
		next[i] = last[run[1]-run[0]]
		last[run[1]-run[0]] = i
	}
	for i := 0; i < len(runs); i++ {
		if next[i] == 0 {
			continue
		}
		q.hideQuote(from+runs[i][0], from+runs[next[i]][0])
		i = next[i]
	}
}

// quotes appends the quotes that end in a paragraph.
func (q *quoting) quotes(quotes [][2]int, open map[rune][]int, from, end int) [][2]int {
	text := string(q.out[from:end])
	before := ' '
	for i, c := range text {
		m, isMark := marks[c]
		if isMark {
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(c):])
			begins := open[m.group]
			last := len(begins) - 1
			switch side := m.sideBetween(before, after, last >= 0); {
			case side > 0:
				open[m.group] = append(begins, from+i)
			case side < 0 && last >= 0:
				open[m.group] = begins[:last]
				for len(quotes) > 0 && quotes[len(quotes)-1][0] > begins[last] {
					quotes = quotes[:len(quotes)-1]
				}
				quotes = append(quotes, [2]int{begins[last], from + i})
			}
		}
		before = c
	}
	return quotes
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
