package summarize

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/dialect/conversation"
)

// order is a sentence of the user that says how the agent is to work from now on.
type order struct {
	item  int
	text  string
	times int // how often it was said
}

// standing writes the section of the user's standing orders, and returns their texts. They are of what the user typed
// alone, and each holds until a later one says otherwise. Of those that do not fit in Budgets.Orders together, those that
// were said more than once stay, and then the newest.
func (s *summary) standing() (texts []string) {
	room, others := s.Budgets.Orders, 0
	list := slices.DeleteFunc(s.orders(), func(o order) bool {
		tokens := s.Count(o.text) + 4 // of its number
		if tokens > room {
			others++
			return true
		}
		room -= tokens
		return false
	})
	slices.SortStableFunc(list, func(a, b order) int { return b.item - a.item })
	var text strings.Builder
	if others > 0 {
		fmt.Fprintf(&text, "(others, in the transcript: %d)\n", others)
	}
	for _, o := range slices.Backward(list) {
		fmt.Fprintf(&text, "%d %s\n", s.Request.Items[o.item].Number, o.text)
		texts = append(texts, o.text)
	}
	s.section("the user's standing orders, each behind the number of its message; a later one overrides an earlier one",
		text.String())
	return texts
}

// orders returns the standing orders of the user in the span, each once, without those that say nearly the same as a newer
// one. Those that were said more than once come first, and then the newest.
func (s *summary) orders() (list []order) {
	known := map[string]int{} // places in the list, by the words
	shown := seen{}
	for i := s.To - 1; i >= s.From; i-- {
		found, isFound := s.Found[i]
		if !isFound {
			found = ordersIn(s.Request.Unquoted(i))
			s.Found[i] = found
		}
		for _, text := range slices.Backward(found) {
			words := plainWords(text)
			at, isKnown := known[words]
			switch {
			case isKnown:
				list[at].times++
			case shown.news(text) >= newsOfWhole:
				shown.add(text)
				known[words] = len(list)
				list = append(list, order{item: i, text: text, times: 1})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b order) int { return min(b.times, 2) - min(a.times, 2) })
	return list
}

// ordersIn returns the standing orders in a text that the user typed, oldest first. unquoted is the text with quotation
// marks in the place of what it quotes.
func ordersIn(text, unquoted string) (list []string) {
	const longestTyped = 600 // characters of a message that is mostly typed
	typed := typed{text: unwrapped(unquoted), isShort: utf8.RuneCountInString(text) <= longestTyped}
	typed.firstEnd = strings.Index(typed.text+"\n\n", "\n\n")
	typed.lastBegin = strings.LastIndex(strings.TrimRight(typed.text, " \n"), "\n\n")
	for at := 0; at < len(typed.text); {
		line, _, _ := strings.Cut(typed.text[at:], "\n")
		from := at
		at = min(at+len(line)+1, len(typed.text))
		bare := strings.TrimSpace(line)
		isAdded := strings.HasPrefix(bare, "+") && !strings.HasPrefix(bare, "+ ") // a line of a diff
		if bare == "" || isAdded || strings.ContainsAny(bare[:1], "><|#") || strings.HasPrefix(bare, "//") {
			continue
		}
		least := typed.points(from, at)
		for sentence := range sentences(line) {
			whole := strings.TrimSpace(strings.ReplaceAll(text[from:from+len(sentence)], "\n", " "))
			from += len(sentence)
			said := strings.TrimSpace(sentence)
			if isShort(said) && isOrder(said, least) && !conversation.IsKeepLine(whole) {
				list = append(list, whole)
			}
		}
	}
	return list
}

// unwrapped returns a text of the same length with spaces in the place of line breaks within sentences: behind a long line,
// before a small letter.
func unwrapped(text string) string {
	const long = 60 // bytes
	out := []byte(text)
	begin := 0
	for i, c := range text {
		if c != '\n' {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+1:])
		if i-begin >= long && unicode.IsLower(next) {
			out[i] = ' '
		}
		begin = i + 1
	}
	return string(out)
}

// isShort reports whether a text may be an order: people say what they want in few words.
func isShort(text string) bool {
	const least, longest = 6, 200 // bytes, characters
	return len(text) >= least && utf8.RuneCountInString(text) <= longest
}

// typed is a message of the user, of which a part may be pasted.
type typed struct {
	text      string // without quotes
	isShort   bool   // most of it is typed
	firstEnd  int    // of the first paragraph
	lastBegin int    // of the last one
}

// Points that make a sentence an order, by where it stands.
const (
	typedPoints  = 3 // in a short message, or where the user speaks of himself
	edgePoints   = 4 // in the first or the last paragraph of a longer one
	alonePoints  = 6 // on a line between empty ones
	pastedPoints = 7
)

// points returns how many points make an order of a sentence in the line from a place to an end.
func (t *typed) points(from, end int) int {
	const longestEdge, longestSpoken = 400, 2_000 // bytes of a line
	line := strings.TrimSpace(t.text[from:end])
	above := t.text[:from]
	isAnnounced := strings.HasSuffix(strings.TrimRight(above, " \n"), ":")
	isAlone := strings.HasSuffix(above, "\n\n") && strings.HasPrefix(t.text[end:], "\n") && isShort(line) && !isAnnounced
	isEdge := from < t.firstEnd || from > t.lastBegin
	var tone tones
	if len(line) <= longestSpoken {
		tone, _ = toneOf(line)
	}
	switch {
	case tone.has(self), t.isShort && (isEdge || isAlone):
		return typedPoints
	case isEdge && len(line) <= longestEdge:
		return edgePoints
	case isAlone:
		return alonePoints
	}
	return pastedPoints
}
