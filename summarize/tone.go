package summarize

import (
	_ "embed" // words.txt
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/internal/unit"
)

//go:embed words.txt
var wordsText string

// tones are names of words.txt, which says what they stand for.
type tones uint16

const (
	lasting tones = 1 << iota
	never
	stop
	not
	must
	each
	again
	self
	works
	topic
	manner
	do
	filler
	idle
	decided
)

// toneNames are their names, in the same order.
var toneNames = strings.Fields("lasting never stop not must each again self works topic manner do filler idle decided")

// has reports whether one of some tones is among t.
func (t tones) has(some tones) bool { return t&some != 0 }

// phrase is some words of words.txt, with a space around each.
type phrase struct {
	text string
	tone tones
}

// isWide reports whether a character is of Chinese, Japanese or Korean. Their words do not stand between spaces, or have
// endings.
func isWide(c rune) bool { return c >= 0x2e80 }

// phrases has those of words.txt by their first word, the longest first.
var phrases = readPhrases(wordsText)

func readPhrases(text string) map[string][]phrase {
	all := map[string][]phrase{}
	for name, list := range unit.Expressions(text) {
		for p := range strings.SplitSeq(list, "|") {
			p = plainWords(p)
			first, _, _ := strings.Cut(p[1:], " ")
			all[first] = append(all[first], phrase{text: p, tone: 1 << slices.Index(toneNames, name)})
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b phrase) int { return len(b.text) - len(a.text) })
	}
	return all
}

// plainWords returns the words of a text in small letters, with a space around each, and a comma between clauses. What
// ends with an apostrophe is a word, as in "n'oublie", and so is each character of Chinese, Japanese and Korean.
func plainWords(text string) string {
	const clauses = ",:;–—(，、：；（"
	var words strings.Builder
	for _, c := range text {
		switch {
		case isWide(c) && (unicode.IsLetter(c) || unicode.IsDigit(c)):
			words.WriteString(" " + string(c) + " ")
		case unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) || c == '-':
			words.WriteRune(unicode.ToLower(c))
		case c == '\'' || c == '’':
			words.WriteString("' ")
		case strings.ContainsRune(clauses, c):
			words.WriteString(" , ")
		default:
			words.WriteByte(' ')
		}
	}
	return " " + strings.Join(strings.Fields(words.String()), " ") + " "
}

// toneOf returns the tones of a sentence, and those with which it or a clause of it begins. In Chinese, Japanese and
// Korean verbs stand anywhere.
func toneOf(sentence string) (in, begins tones) {
	words := plainWords(sentence)
	isFirst, isClause := true, true // only fillers are before, in the sentence or the clause
	for len(words) > 1 {
		word, _, _ := strings.Cut(words[1:], " ")
		length := len(word) + 1
		var here tones
		for _, p := range phrases[word] {
			if !strings.HasPrefix(words, p.text) {
				continue
			}
			if p.tone == idle {
				length = len(p.text) - 1
				here = 0
				break
			}
			here |= p.tone
		}
		in |= here
		first, _ := utf8.DecodeRuneInString(word)
		switch {
		case isFirst:
			begins |= here
		case isWide(first):
			begins |= here & (never | stop | must)
		case isClause:
			begins |= here &^ (not | topic | works) // there they belong to the clause before
		}
		words = words[length:]
		isFirst = isFirst && (here.has(filler) || word == ",")
		isClause = word == "," || isClause && here.has(filler)
	}
	return in, begins
}

// weights are the points for tones that are in a sentence, and for those with which it or a clause begins.
var weights = []struct {
	tone       tones
	in, begins int
}{
	{lasting, 3, 0}, {again, 2, 0}, {never, 1, 2}, {stop, 0, 2}, {not, 0, 1}, {stop | not, 1, 0}, {must, 1, 0}, {each, 1, 0},
	{works, 1, 0}, {manner, 1, 0}, {do, 0, 1},
}

// isOrder reports whether a sentence has the points of an order that holds from now on. It also has to address
// somebody, as a description of things has the same words.
func isOrder(sentence string, least int) bool {
	in, begins := toneOf(sentence)
	commands := begins.has(never | stop | not | do | must)
	prefers := begins.has(topic|works) && in.has(manner|not|never|stop) // "comments in English"
	if !commands && !prefers && !in.has(lasting|again) && !(in.has(self) && in.has(must|never)) {
		return false
	}
	points := 0
	for _, w := range weights {
		if in.has(w.tone) {
			points += w.in
		}
		if begins.has(w.tone) {
			points += w.begins
		}
	}
	if prefers {
		points += 3
	}
	if in.has(self) && (commands || in.has(never)) {
		points++
	}
	last, _ := utf8.DecodeLastRuneInString(sentence)
	if last == '?' || last == '？' {
		points -= 2
	}
	if begins.has(lasting) || in.has(lasting) && (commands || in.has(self)) {
		least = min(least, edgePoints) // who pastes a text seldom pastes that
	}
	return points >= least
}
