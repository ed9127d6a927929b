package overflow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/unit"
)

// mostTokens is the largest number that is taken for one of tokens.
const mostTokens = unit.MostTokens

// wording is what an answer says in a form that rules can be written for: words in lower case with one space between
// them, names from code taken apart ("n_ctx" is "n ctx", "ContextWindowExceeded" is "context window exceeded"), every
// number that may be of tokens a "#" and every other one a "@", the ends of sentences a "|". Quotes, brackets,
// addresses and names with digits in them are left out; brackets, colons and dashes are commas. What asks for output
// ("max_tokens") is the word maxout.
type wording struct {
	text    string
	figures []figure // one for each # in text, in order
	largest int      // of all numbers, whatever they count
}

// figure is a number that may be of tokens.
type figure struct {
	value  int
	at     int  // of its # in the text
	lonely bool // it stands alone in brackets, as codes of errors do
}

// read puts a text into words.
func (w *wording) read(s string) {
	l := lexer{in: asides.ReplaceAllString(s, " "), out: make([]byte, 0, len(s)+16)}
	for l.i < len(l.in) {
		l.step()
	}
	w.text = strings.TrimSpace(outputNames.ReplaceAllString(w.text+" | "+string(l.out), " maxout "))
	w.figures = append(w.figures, l.figures...)
	w.largest = max(w.largest, l.largest)
	next := 0
	for i := range len(w.text) {
		if w.text[i] == '#' {
			w.figures[next].at = i
			next++
		}
	}
}

// lexer goes through one text.
type lexer struct {
	in      string
	i       int
	out     []byte
	figures []figure
	largest int
}

func (l *lexer) put(word string) {
	l.out = append(append(l.out, ' '), word...)
}

// peek is the byte at distance d from here, or a space beyond the ends.
func (l *lexer) peek(d int) byte {
	if i := l.i + d; i >= 0 && i < len(l.in) {
		return l.in[i]
	}
	return ' '
}

func (l *lexer) step() {
	c := l.in[l.i]
	switch {
	case letter(c):
		l.putName()
	case digit(c), c == '-' && digit(l.peek(1)) && !letter(l.peek(-1)) && !digit(l.peek(-1)):
		l.putNumber()
	case c == '\n', (c == '.' || c == '!' || c == '?' || c == ';') && !letter(l.peek(1)):
		l.put("|")
		l.i++
	case c == '>' || c == '<':
		l.putComparison(c)
	case c == '[' && letter(l.peek(-1)): // an index
		l.skip("]")
	case c == '+' || c == '[':
		l.put(string(c))
		l.i++
	case strings.IndexByte(",:()", c) >= 0, c == '-' && l.peek(-1) == ' ' && l.peek(1) == ' ':
		if !strings.HasSuffix(string(l.out), " ,") {
			l.put(",")
		}
		l.i++
	case c >= utf8.RuneSelf:
		l.putNonASCII()
	default:
		l.i++
	}
}

// putComparison puts a sign that compares numbers; others are quoted, or parts of an arrow or a tag.
func (l *lexer) putComparison(c byte) {
	arrow := l.peek(-1) == '-' || l.peek(-1) == '='
	ahead := strings.TrimRight(l.in[max(l.i-3, 0):l.i], " )")
	l.i++
	if l.peek(0) == '=' {
		l.i++
		l.put(string(c) + "=")
		return
	}
	behind := strings.TrimLeft(l.in[l.i:min(l.i+3, len(l.in))], " (")
	if numbers := behind != "" && digit(behind[0]) || ahead != "" && digit(ahead[len(ahead)-1]); numbers && !arrow {
		l.put(string(c))
	}
}

// putNonASCII puts a run of letters that are not ASCII as one word, and punctuation as what stands for it in ASCII.
func (l *lexer) putNonASCII() {
	start := l.i
	for l.i < len(l.in) && l.in[l.i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(l.in[l.i:])
		if !unicode.IsLetter(r) {
			break
		}
		l.i += size
	}
	if start < l.i {
		l.put(l.in[start:l.i])
		return
	}
	r, size := utf8.DecodeRuneInString(l.in[l.i:])
	l.i += size
	switch r {
	case '。', '；', '！', '？':
		l.put("|")
	case '≤':
		l.put("<=")
	case '≥':
		l.put(">=")
	}
}

// putName puts the words of a word, a name from code or a path.
func (l *lexer) putName() {
	start := l.i
	for l.i < len(l.in) && (letter(l.in[l.i]) || digit(l.in[l.i]) || l.in[l.i] == '_' || l.joins(start)) {
		l.i++
	}
	whole := l.in[start:l.i]
	switch {
	case strings.HasPrefix(whole, "http") && strings.HasPrefix(l.in[l.i:], "://"):
		l.skip(" \t\n\"'<>)")
	case strings.Contains(whole, "/") && strings.Contains(whole, "."): // a host and a path
	default:
		for part := range strings.FieldsFuncSeq(whole,
			func(r rune) bool { return r == '.' || r == '/' || r == '-' || r == '@' }) {
			l.putCode(part)
		}
	}
	if strings.HasPrefix(l.in[l.i:], "'t") && strings.HasSuffix(whole, "n") {
		l.put("not")
	}
	if l.peek(0) == '\'' && letter(l.peek(1)) && !letter(l.peek(2)) { // the s of a genitive, the t of a negation
		l.i += 2
	}
}

// joins reports that the byte here ties two parts of a name together. An upper-case letter after a dot begins a
// sentence.
func (l *lexer) joins(start int) bool {
	switch next := l.peek(1); l.in[l.i] {
	case '-', '/', '@':
		return l.i > start && (letter(next) || digit(next))
	case '.':
		return l.i > start && (lower(next) || digit(next))
	}
	return false
}

func (l *lexer) skip(until string) {
	if n := strings.IndexAny(l.in[l.i:], until); n >= 0 {
		l.i += n
		return
	}
	l.i = len(l.in)
}

// putCode puts the words of one name, without those that have digits.
func (l *lexer) putCode(name string) {
	words := splitName(name)
	if asksForOutput.MatchString(strings.Join(words, "_")) {
		l.put("maxout")
		return
	}
	for _, word := range words {
		if !strings.ContainsAny(word, "0123456789") {
			l.put(word)
		}
	}
}

// splitName takes a name apart at underscores and where capitals begin a word: n_ctx, maxTokens, HTTPError.
func splitName(name string) (words []string) {
	start := 0
	cut := func(end int) {
		if start < end {
			words = append(words, strings.ToLower(name[start:end]))
		}
	}
	for i := range len(name) {
		switch {
		case name[i] == '_':
			cut(i)
			start = i + 1
		case i > start && upper(name[i]) && (lower(name[i-1]) || i+1 < len(name) && lower(name[i+1])):
			cut(i)
			start = i
		}
	}
	cut(len(name))
	return words
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }

func letter(c byte) bool { return lower(c) || upper(c) }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// putNumber puts a number as # or @, or nothing where it is a version, a date, an amount or a part of a name.
func (l *lexer) putNumber() {
	open, money := l.peek(-1) == '(', l.peek(-1) == '$'
	negative := l.in[l.i] == '-'
	if negative {
		l.i++
	}
	value, whole := l.readDigits()
	unit := l.readUnit()
	if whole {
		l.largest = max(l.largest, value)
	}
	switch {
	case !whole || money:
	case negative && unit == "" && value > 0:
		l.put("-#")
		l.figures = append(l.figures, figure{value: -value})
	case unit != "":
		l.put("@ " + unit)
	case value > mostTokens || l.skipSuffix():
		l.put("@")
	default:
		l.put("#")
		l.figures = append(l.figures, figure{value: value, lonely: open && l.peek(0) == ')'})
	}
}

// readDigits reads a number with its separators and its k or m. It is not whole if more dots, dashes or letters hang
// on it.
func (l *lexer) readDigits() (value int, whole bool) {
	fraction, scale := 0, 1 // of a fraction only what k or m needs is kept
	run := 0                // digits since the last separator
	for digit(l.peek(0)) || (l.peek(0) == ',' || l.peek(0) == '_') && run <= 3 && l.groupOfThree() {
		run++
		if digit(l.peek(0)) {
			value = min(value*10+int(l.peek(0)-'0'), 1<<40)
		} else {
			run = 0
		}
		l.i++
	}
	whole = true
	if l.peek(0) == '.' && digit(l.peek(1)) {
		for l.i++; digit(l.peek(0)); l.i++ {
			if scale < 1000 {
				fraction, scale = fraction*10+int(l.peek(0)-'0'), scale*10
			}
		}
	}
	for (l.peek(0) == '.' || l.peek(0) == '-') && digit(l.peek(1)) {
		whole = false
		for l.i++; digit(l.peek(0)); l.i++ {
		}
	}
	if times := thousands(l.peek(0)); times > 1 && !letter(l.peek(1)) && !digit(l.peek(1)) {
		l.i++
		value = min(value*times+fraction*times/scale, 1<<40)
	}
	return value, whole
}

// groupOfThree reports that three digits follow the separator here, and no fourth.
func (l *lexer) groupOfThree() bool {
	return digit(l.peek(1)) && digit(l.peek(2)) && digit(l.peek(3)) && !digit(l.peek(4))
}

func thousands(c byte) int {
	switch c {
	case 'k', 'K':
		return 1000
	case 'm', 'M':
		return 1_000_000
	}
	return 1
}

// skipSuffix reports that letters hang on the number before, which makes it a part of a name, and goes past them.
func (l *lexer) skipSuffix() bool {
	start := l.i
	for letter(l.peek(0)) || digit(l.peek(0)) {
		l.i++
	}
	return l.i > start
}

// readUnit reads what a number counts if that is no token.
func (l *lexer) readUnit() string {
	if l.peek(0) == '%' {
		return "percent"
	}
	rest := l.in[l.i:]
	if strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "-") {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && letter(rest[n]) {
		n++
	}
	word := strings.ToLower(rest[:n])
	if !otherUnits.MatchString(word) {
		return ""
	}
	l.i += len(l.in[l.i:]) - len(rest) + n
	return word
}
