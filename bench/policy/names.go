package policy

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name is something that a call's arguments name, or a line of them.
type Name struct {
	Text string
	Word bool // it counts only where it stands between word borders
}

// Find returns the paths, dotted, snake and camel words, long numbers and quoted strings of a text, each once, in the
// order in which they begin; at most most of them.
func Find(text string, most int) []Name {
	f := finder{text: text}
	f.paths()
	f.words()
	f.quotes()
	slices.SortFunc(f.found, func(a, b finding) int {
		return cmp.Or(a.at-b.at, strings.Compare(a.Text, b.Text)) // equal otherwise: they are the same word
	})
	var all []Name
	seen := make(map[string]bool)
	for _, n := range f.found {
		if n.Word {
			n.Text = strings.Trim(n.Text, ".")
		}
		size := utf8.RuneCountInString(n.Text)
		if len(all) < most && size >= 4 && size <= 200 && !seen[n.Text] {
			seen[n.Text] = true
			all = append(all, n.Name)
		}
	}
	return all
}

// LongLines returns a text's lines of 24 to 300 characters without the marks of a patch, each once: what an edit
// repeats of a file. It returns at most most of them.
func LongLines(text string, most int) []Name {
	var all []Name
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(strings.TrimLeft(line, "+- \t"), IsBlank)
		size := utf8.RuneCountInString(line)
		if size < 24 || size > 300 || seen[line] {
			continue
		}
		if seen[line] = true; len(all) == most {
			break
		}
		all = append(all, Name{Text: line})
	}
	return all
}

// IsBlank reports whether a character at the end of a line is nothing of it.
func IsBlank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// finding is a name and where it begins.
type finding struct {
	Name
	at int
}

// finder looks through a text for names. Every kind of name is found from left to right, none overlaps one of its
// kind, and the time is linear in the text.
type finder struct {
	text  string
	found []finding
}

func (f *finder) add(start, end int) {
	f.found = append(f.found, finding{Name{f.text[start:end], true}, start})
}

// stretch is a run of characters of one class, and where what it is joined to by separators ends; 0: it is joined to
// nothing.
type stretch struct{ start, end, joined int }

// stretchAt returns the stretch around i, unless last is it: then the same characters are not walked again.
func (f *finder) stretchAt(i int, last stretch, in func(rune) bool, join byte) stretch {
	if i >= last.start && i < last.end {
		return last
	}
	s := stretch{start: i, end: runEnd(f.text, i, in)}
	for at := s.end; s.end > i && at+1 < len(f.text) && f.text[at] == join; {
		end := runEnd(f.text, at+1, in)
		if r := f.text[at+1]; end == at+1 || join == '.' && !beginsName(r) {
			break
		}
		at, s.joined = end, end
	}
	return s
}

// paths finds segments joined by slashes, with dots, "~" and a slash before them.
func (f *finder) paths() {
	var last stretch
	joined := func(i int) int {
		last = f.stretchAt(i, last, inSegment, '/')
		return last.joined
	}
	for i := 0; i < len(f.text); {
		end := 0
		for at := i; end == 0 && at < len(f.text) && at <= i+2; at++ {
			if end = joined(at); end == 0 && f.text[at] == '/' {
				end = joined(at + 1)
			}
			if f.text[at] != '~' && f.text[at] != '.' {
				break
			}
		}
		if end == 0 {
			i = after(f.text, i)
			continue
		}
		f.add(i, end)
		i = end
	}
}

// words finds dotted, snake_case and camelCase words and numbers of four digits and more.
func (f *finder) words() {
	var last stretch
	for i := 0; i < len(f.text); {
		last = f.stretchAt(i, last, inDotted, '.')
		end := 0
		if beginsName(f.text[i]) {
			end = last.joined
		}
		if end == 0 {
			end = f.word(i)
		}
		if end == 0 {
			i = after(f.text, i)
			continue
		}
		f.add(i, end)
		i = end
	}
}

// word returns the end of the word or number that begins at i; 0 if none does, or if it has no mark of a name.
func (f *finder) word(i int) int {
	before, _ := utf8.DecodeLastRuneInString(f.text[:i])
	if i > 0 && InWord(before) {
		return 0
	}
	end := runEnd(f.text, i, InWord)
	run := f.text[i:end]
	switch {
	case run == "":
		return 0
	case snake(run), camel(run):
		return end
	case before == '.' && i > 0, end < len(f.text) && f.text[end] == '.':
		return 0
	case runEnd(run, 0, digit) == len(run) && utf8.RuneCountInString(run) >= 4:
		return end
	}
	return 0
}

// quotes finds what stands between two equal quotes: 8 to 80 characters of one line.
func (f *finder) quotes() {
	for i := 0; i < len(f.text); i++ {
		quote := f.text[i]
		if quote != '"' && quote != '\'' && quote != '`' {
			continue
		}
		end, size := i+1, 0
		for end < len(f.text) && f.text[end] != quote && f.text[end] != '\n' && size <= 80 {
			end, size = after(f.text, end), size+1
		}
		if end == len(f.text) || f.text[end] != quote || size < 8 || size > 80 {
			continue
		}
		f.found = append(f.found, finding{Name{f.text[i+1 : end], false}, i})
		i = end
	}
}

// after returns where the character behind the one at i begins.
func after(s string, i int) int {
	_, size := utf8.DecodeRuneInString(s[i:])
	return i + size
}

// runEnd returns the end of the run of characters of one class that begins at s[i].
func runEnd(s string, i int, in func(rune) bool) int {
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if !in(r) {
			return i
		}
		i += size
	}
	return i
}

// InWord reports whether a character is part of a word.
func InWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || letter(byte(r)) || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

func inSegment(r rune) bool { return InWord(r) || r == '.' || r == '@' || r == '+' || r == '-' }

func inDotted(r rune) bool { return InWord(r) || r == '$' }

func digit(r rune) bool { return unicode.Is(unicode.Nd, r) }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func beginsName(c byte) bool { return letter(c) || c == '_' || c == '$' }

// snake reports whether a word has an underscore between ASCII letters or digits.
func snake(run string) bool {
	plain := func(c byte) bool { return letter(c) || c >= '0' && c <= '9' }
	for i := 1; i+1 < len(run); i++ {
		if run[i] == '_' && plain(run[i-1]) && plain(run[i+1]) {
			return true
		}
	}
	return false
}

// camel reports whether the ASCII letters that a word begins with, and one digit behind them, hold a capital after a
// small letter or digit.
func camel(run string) bool {
	for i := 0; i+1 < len(run); i++ {
		c, capital := run[i], run[i+1] >= 'A' && run[i+1] <= 'Z'
		if capital && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			return true
		}
		if !letter(c) {
			return false
		}
	}
	return false
}

// In reports whether a text holds the name.
func (n Name) In(text string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], n.Text)
		if i < 0 {
			return false
		}
		i += from
		if !n.Word || Bordered(text, i, i+len(n.Text)) {
			return true
		}
		from = i + 1
	}
}

// Bordered reports whether text[start:end] touches no word character.
func Bordered[T string | []byte](text T, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(string(text[max(0, start-utf8.UTFMax):start]))
	behind, _ := utf8.DecodeRuneInString(string(text[end:min(len(text), end+utf8.UTFMax)]))
	return (start == 0 || !InWord(before)) && (end == len(text) || !InWord(behind))
}
