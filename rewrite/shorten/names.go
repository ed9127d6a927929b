package shorten

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lengths of names, in bytes. A name longer than longestCode may be digits of some coding; isCode tells.
const (
	shortestName = 6
	longestIdent = 99
	longestCode  = 40
	mostNames    = 4096 // different ones; the first of a text count
)

// NamesIn returns the identifiers and paths that text repeats most, with spaces between them, in at most most bytes.
// What stands there most often comes first; of equally many, paths come first, then what stands first. Names are
//
//   - paths: a/b, ./a.b/c, ~/a/b, /a/b (one slash at least that is not the first character),
//   - words joined by dots: a.b, self.x.y,
//   - words with an underscore between letters or digits: a_b, MAX_2,
//   - words that begin in letters and go on from a small letter or digit to a capital: aB, v2Beta,
//   - numbers of six digits and more that are no part of a word or of a number with a point.
//
// A name within a path counts for itself as well. Only ASCII letters make names. A name that touches a letter of
// another alphabet is a fragment, and does not count; one that touches a script written without spaces does. One that
// may begin with the letter of an escape is a fragment, too. Of JSON, what its strings say is read.
func NamesIn(text string, most int) string {
	return CountNames(Decoded(text), shortestName).mostFrequent(most)
}

// CountNames counts the names of text that have at least shortest bytes.
func CountNames(text string, shortest int) *NameCount {
	n := &NameCount{text: text, shortest: shortest, kinds: nameBytes(), place: make(map[string]int32)}
	for i := 0; i < len(text); i++ {
		start, has := i, byte(0)
		for i < len(text) && n.kinds[text[i]] != 0 {
			has |= n.kinds[text[i]]
			i++
		}
		if i-start < shortest {
			continue
		}
		if has&slash != 0 {
			n.addPaths(start, i)
		}
		if has&dot != 0 || mayName(has) {
			n.addWords(start, i)
		}
	}
	return n
}

// mayName reports whether a word that has these kinds of bytes can be a name by itself.
func mayName(has byte) bool {
	return has&(underscore|digit) != 0 || has&(small|capital) == small|capital
}

// The kinds of bytes that names and paths are made of.
const (
	small byte = 1 << iota
	capital
	digit
	underscore
	dollar
	dot
	slash
	sign // + - @ ~

	word = small | capital | digit | underscore
)

func nameBytes() (kinds [256]byte) {
	for c := range kinds {
		kinds[c] = nameByte(byte(c))
	}
	return kinds
}

func nameByte(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return small
	case c >= 'A' && c <= 'Z':
		return capital
	case c >= '0' && c <= '9':
		return digit
	}
	switch c {
	case '_':
		return underscore
	case '$':
		return dollar
	case '.':
		return dot
	case '/':
		return slash
	case '+', '-', '@', '~':
		return sign
	}
	return 0
}

// NameCount counts the names of a text.
type NameCount struct {
	text     string
	shortest int // bytes of a name
	kinds    [256]byte
	Found    []countedName    // in the order in which they stand
	place    map[string]int32 // of each name in Found
}

type countedName struct {
	Name string
	n    int
	path bool
}

// mostFrequent returns the names that were counted most often, in at most room bytes. It sorts Found.
func (n *NameCount) mostFrequent(room int) string {
	slices.SortStableFunc(n.Found, func(a, b countedName) int {
		if c := cmp.Compare(b.n, a.n); c != 0 || a.path == b.path {
			return c
		}
		if a.path {
			return -1
		}
		return 1
	})
	var out strings.Builder
	for _, f := range n.Found {
		space := min(out.Len(), 1)
		if out.Len()+space+len(f.Name) > room {
			break
		}
		out.WriteString(" "[:space])
		out.WriteString(f.Name)
	}
	return out.String()
}

func (n *NameCount) add(start, end int, path bool) {
	if end-start < n.shortest || end-start > longestIdent {
		return
	}
	name := n.text[start:end]
	if i, ok := n.place[name]; ok {
		n.Found[i].n++
		return
	}
	if len(n.Found) == mostNames || isCode(name) || n.isFragment(start, end) {
		return
	}
	n.place[name] = int32(len(n.Found))
	n.Found = append(n.Found, countedName{name, 1, path})
}

// isCode reports whether a long name changes between small letters, capitals and digits as often as random digits of
// base64 or hexadecimal do, which is more often than words do.
func isCode(name string) bool {
	if len(name) <= longestCode {
		return false
	}
	changes := 0
	last := nameByte(name[0])
	for i := 1; i < len(name); i++ {
		kind := nameByte(name[i])
		if kind != last && kind|last < underscore {
			changes++
		}
		last = kind
	}
	return changes*20 > len(name)*9
}

// isFragment reports whether the name touches a letter that no name has, or may begin with one that is none of its own.
func (n *NameCount) isFragment(start, end int) bool {
	const alphabets = 0x2E80 // scripts from here on are written without spaces, or nearly so
	before, _ := utf8.DecodeLastRuneInString(n.text[:start])
	after, _ := utf8.DecodeRuneInString(n.text[end:])
	beside := func(r rune) bool { return r >= utf8.RuneSelf && r < alphabets && unicode.IsLetter(r) }
	return beside(before) || beside(after) || isEscaped(n.text, start)
}

// addPaths counts the paths in a run of bytes that names are made of.
func (n *NameCount) addPaths(start, end int) {
	last := start // the end of the path before
	for i := start; i < end; i++ {
		if !n.inPath(i) {
			continue
		}
		first, parts := i, 1
		for i < end && (n.inPath(i) || n.text[i] == '/' && i+1 < end && n.inPath(i+1)) {
			if n.text[i] == '/' {
				parts++
			}
			i++
		}
		if parts < 2 {
			continue
		}
		if first > last && n.text[first-1] == '/' {
			first--
		}
		for range 2 {
			if first > last && (n.text[first-1] == '~' || n.text[first-1] == '.') {
				first--
			}
		}
		n.add(first, i, true)
		last = i
	}
}

// inPath reports whether a part of a path may hold the byte at i.
func (n *NameCount) inPath(i int) bool {
	return n.text[i] != '~' && n.kinds[n.text[i]]&(word|dot|sign) != 0
}

// addWords counts the words in a run of bytes that names are made of.
func (n *NameCount) addWords(start, end int) {
	for i := start; i < end; {
		if n.kinds[n.text[i]]&(word|dollar) == 0 {
			i++
			continue
		}
		first, has := i, byte(0)
		for i < end && n.kinds[n.text[i]]&(word|dollar) != 0 {
			has |= n.kinds[n.text[i]]
			i++
		}
		if !n.goesOnAt(i, end) {
			if mayName(has) {
				n.addParts(first, i)
			}
			continue
		}
		if first = n.startOfWords(first, i); first == i {
			continue
		}
		for n.goesOnAt(i, end) {
			i = n.wordEnd(i+1, end)
		}
		n.add(first, i, false)
	}
}

// wordEnd returns the end of the letters, digits, underscores and dollar signs from i on.
func (n *NameCount) wordEnd(i, end int) int {
	for i < end && n.kinds[n.text[i]]&(word|dollar) != 0 {
		i++
	}
	return i
}

// goesOnAt reports whether a dot stands at i, and behind it a word that is no number.
func (n *NameCount) goesOnAt(i, end int) bool {
	return i+1 < end && n.text[i] == '.' && n.kinds[n.text[i+1]]&(word&^digit|dollar) != 0
}

// startOfWords returns where the words joined by dots begin, of which the first stands at start: behind leading digits,
// or behind a part that is a name by itself, which it counts.
func (n *NameCount) startOfWords(start, end int) int {
	if n.kinds[n.text[start]] != digit {
		return start
	}
	part := start
	for part < end && n.text[part] != '$' {
		part++
	}
	if n.addPart(start, part) {
		return part
	}
	for start < part && n.kinds[n.text[start]] == digit {
		start++
	}
	return start
}

// addParts counts the names between dollar signs.
func (n *NameCount) addParts(start, end int) {
	for start < end {
		part := start
		for part < end && n.text[part] != '$' {
			part++
		}
		if part > start {
			n.addPart(start, part)
		}
		start = part + 1
	}
}

// addPart counts a word if it is a name by itself, and reports whether it is.
func (n *NameCount) addPart(start, end int) bool {
	name := n.text[start:end]
	if hasUnderscore(name) || hasHump(name) || n.isNumber(start, end) {
		n.add(start, end, false)
		return true
	}
	return false
}

// hasUnderscore reports whether an underscore stands between letters or digits.
func hasUnderscore(name string) bool {
	for i := 1; i+1 < len(name); i++ {
		if name[i] == '_' && name[i-1] != '_' && name[i+1] != '_' {
			return true
		}
	}
	return false
}

// hasHump reports whether a capital follows leading letters that end small, or one digit behind them.
func hasHump(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		kind := nameByte(name[i])
		if kind&(small|digit) != 0 && nameByte(name[i+1]) == capital {
			return true
		}
		if kind&(small|capital) == 0 {
			return false
		}
	}
	return false
}

// isNumber reports whether only digits stand between start and end, without a point beside them.
func (n *NameCount) isNumber(start, end int) bool {
	const fewest = 4
	for i := start; i < end; i++ {
		if n.kinds[n.text[i]] != digit {
			return false
		}
	}
	return end-start >= fewest && (start == 0 || n.text[start-1] != '.') && (end == len(n.text) || n.text[end] != '.')
}
