// Package excerpt makes texts shorter: a text of many lines, the output of a terminal, a single line.
//
// An excerpt has lines of the text, word for word, and says of every gap how many lines are omitted, or how many bytes
// of a long line. The package knows one list of words that speak of failure, and no tool, language or log format. Its
// time grows with the length of the text alone. It also knows how notes of epitome begin.
package excerpt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/dialect/jsonspan"
)

// Mark begins every note of epitome: a line in brackets that epitome adds to a conversation for the model.
const Mark = "[epitome:"

// Count returns how many tokens a text has, exactly or about.
type Count func(text string) int

// Note returns the line above a shortened text. what describes the text, where says where the full text can be read.
func Note(what, where string) string { return Mark + " " + what + ". " + where + "]" }

// Quote returns a text with "> " before each line, so that no line passes for a note or a heading.
func Quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// OneLine returns a text as one line of at most maxLength characters, in valid UTF-8: each run of white space and
// control characters becomes one space, and a longer text is cut and ends with "…".
func OneLine(text string, maxLength int) string {
	const maxRead = 64 << 10 // bytes that are looked at, as the text may be megabytes long
	isGap := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(text[:min(len(text), maxRead)], isGap), " ")
	runes := []rune(text)
	if len(runes) > maxLength {
		return strings.TrimRight(string(runes[:maxLength-1]), " .") + "…" // which is the last character
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// CountLines returns how many lines a text has. The last one counts with or without a line break at its end.
func CountLines(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// Amount returns a number of lines in words: "1 line", "2 lines".
func Amount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// LaidOut lays out JSON, so that an excerpt can show single values: each array or object that is short is one line, so
// that no field is read as that of another object. ok is false for text that is no JSON, is large, or is so deep that its
// indentation takes much memory, and if the lines count, as those of a file do, for text that has no long ones.
func LaidOut(text string, linesCount bool) (lines string, ok bool) {
	const longLine, maxSize, maxDepth = 500, 8 << 20, 16 // average bytes per line; bytes of all; levels
	hasShortLines := len(text) < longLine*CountLines(text)
	if len(text) > maxSize || linesCount && hasShortLines {
		return "", false
	}
	start := strings.TrimLeft(text, " \t\r\n")
	isList := strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")
	var b bytes.Buffer
	if !isList || !jsonspan.IsFlat([]byte(text), maxDepth) || json.Compact(&b, []byte(text)) != nil {
		return "", false
	}
	return layOut(b.Bytes()), true
}

// layOut breaks the lines of JSON without spaces, but no array or object within it that is short.
func layOut(compact []byte) string {
	const longest = 1_000 // bytes of an array or object that is one line
	var b strings.Builder
	depth := 0
	breakLine := func() { b.WriteString("\n" + strings.Repeat(" ", depth)) }
	for i := 0; i < len(compact); i++ {
		c, end := compact[i], 0
		switch {
		case c == '"':
			end, _ = jsonspan.EndOfString(compact, i)
		case depth > 0 && (c == '{' || c == '['):
			size, _ := jsonspan.EndOfValue(compact[i:min(i+longest, len(compact))], 0) // 0 if it is longer
			end = i + size
		}
		if end > i {
			b.Write(compact[i:end])
			i = end - 1
			continue
		}
		isOpening, isClosing := c == '{' || c == '[', c == '}' || c == ']'
		if isClosing {
			depth--
			breakLine()
		}
		b.WriteByte(c)
		if isOpening {
			depth++
		}
		if isOpening || c == ',' {
			breakLine()
		}
	}
	return b.String()
}

// How much of a text is shown, and in which order: the score of a line is explained at order.
const (
	headLines, tailLines   = 3, 6    // lines at the beginning and at the end of a text that are shown first
	linesAbove, linesBelow = 4, 2    // lines that are shown around a failing line
	maxOfShape             = 3       // failing lines of one shape that are shown before others: they repeat each other
	failureScore           = 6       // part of the score of a failing line
	reasonScore            = 2       // added to failureScore for a line that says why it failed
	endShare               = 4       // first lines are shown until they took a quarter of the budget, then last lines
	gapTokens              = 16      // tokens of the note in a gap: join writes it
	longestLine            = 8 << 10 // bytes of a line that is not cut
)

// Lines returns an excerpt of a text in about budget tokens: its first and last lines, failing lines with the lines
// around them, and then the lines that look like few others. A note in each gap says how many lines are omitted there,
// and omitted is the number of all of them. A line that takes most of the budget is cut, with notes of the same kind.
func Lines(text string, budget int, count Count) (short string, omitted int) {
	x := newChoice(text, budget, count)
	x.choose()
	return x.join()
}

// choice is the choice of the lines that an excerpt shows. The slices have one element per line of the text.
type choice struct {
	lines  []string // with their line breaks; long ones are cut
	isNote []bool   // the line has a Mark of its own
	shapes []*shape
	shown  []bool
	budget int // tokens that are left for more lines
	count  Count
}

// shape is what lines have in common that are equal except for their numbers (see mask).
type shape struct {
	lines   int     // lines of the text that have the shape
	failure float64 // part of the score of its lines; 0 if they speak of no failure
	tried   int     // failing lines of the shape that choose has tried to show, at most maxOfShape
}

// newChoice finds the shape of each line, and shows no line yet.
func newChoice(text string, budget int, count Count) *choice {
	lines := slices.Collect(strings.Lines(text))
	x := &choice{
		lines: lines, isNote: make([]bool, len(lines)), shapes: make([]*shape, len(lines)),
		shown: make([]bool, len(lines)), budget: budget, count: count,
	}
	known := map[string]*shape{}
	for i, line := range lines {
		x.isNote[i] = strings.Contains(line, Mark)
		if budget > 0 && len(line) > min(longestLine, 2*budget) && !x.isNote[i] {
			line = x.cutLine(line, 3*budget/4*len(line)/len(text)) // the more, the more of the text it is
			lines[i] = line
		}
		masked := mask(line)
		s := known[masked]
		if s == nil {
			s = &shape{failure: failure(masked)}
			known[masked] = s
		}
		s.lines++
		x.shapes[i] = s
	}
	return x
}

// Cut ends the note in a gap within a line.
const Cut = " bytes omitted]"

// cutLine cuts a line to about so many tokens: few bytes make a token where the line is no prose.
func (x *choice) cutLine(line string, tokens int) string {
	const parts, least = 16, 320 // of the line; bytes that are left of it
	sample := line[:min(len(line), longestLine)]
	for most := tokens * len(sample) / max(x.count(sample), 1); ; most = most * 3 / 4 {
		short := cut(line, max(most, least)/parts)
		if most <= least || x.count(short) <= tokens {
			return short
		}
	}
}

// cut returns sixteen parts of a line of about size bytes each: its beginning, the first that speak of failure, its end.
func cut(line string, size int) string {
	const first, last, failing = 6, 4, 3 // parts; behind a failing one the next is shown, too
	var b strings.Builder
	until := first * size // all before this index is shown
	hits := 0             // failing parts that are shown
	omitted := 0          // bytes since the last part that is shown
	for at, end := 0, 0; at < len(line); at = end {
		end = min(at+size, len(line))
		for end < len(line) && !utf8.RuneStart(line[end]) {
			end++
		}
		if at >= len(line)-last*size {
			until = len(line)
		} else if at >= until && hits < failing && failure(mask(line[at:min(end+size/2, len(line))])) > 0 {
			hits++
			until = end + size
		}
		if at >= until {
			omitted += end - at
			continue
		}
		if omitted > 0 {
			fmt.Fprint(&b, Mark, " ", omitted, Cut)
			omitted = 0
		}
		b.WriteString(line[at:end])
	}
	return b.String()
}

// mask returns the trimmed line with 9 for each number but 0 for zero, as "0 failed" and "3 failed" are not alike.
func mask(line string) string {
	line = strings.TrimSpace(line[:min(len(line), longestLine)])
	b := make([]byte, 0, len(line))
	inNumber := false
	for _, c := range []byte(line) {
		isDigit := c >= '0' && c <= '9'
		if !isDigit || !inNumber {
			b = append(b, c)
		}
		if isDigit && c > '0' {
			b[len(b)-1] = '9' // b has one digit for the whole number
		}
		inNumber = isDigit
	}
	return string(b)
}

// choose shows lines while the budget lasts: the ends of the text, failing lines with lines around them, then the rest.
func (x *choice) choose() {
	headBudget, tailBudget := x.budget/endShare, x.budget/endShare
	for i := 0; i < min(headLines, len(x.lines)) && headBudget > 0; i++ {
		headBudget -= x.show(i)
	}
	for i := len(x.lines) - 1; i >= max(len(x.lines)-tailLines, 0) && tailBudget > 0; i-- {
		tailBudget -= x.show(i)
	}
	order := x.order()
	for _, i := range order {
		s := x.shapes[i]
		if s.failure == 0 || s.tried == maxOfShape {
			continue
		}
		s.tried++
		x.show(i)
		if x.shown[i] { // now, or before as a line at an end of the text or around another failing line
			for _, k := range x.around(i, linesBelow) {
				x.show(k)
			}
		}
	}
	for _, i := range order { // the other failing lines, too
		x.show(i)
	}
}

// order returns the indexes of all lines, the highest score first: the failure score plus log(lines / lines of the same
// shape). So a failing line comes before others unless its shape has over e^failureScore = 403 times as many lines.
func (x *choice) order() []int {
	order := make([]int, len(x.lines))
	score := make([]float64, len(x.lines))
	for i, s := range x.shapes {
		order[i] = i
		score[i] = s.failure + math.Log(float64(len(x.lines))/float64(s.lines))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(score[b], score[a]), a-b) })
	return order
}

// mayShow reports whether line i exists, is not shown yet, and is not like a note of epitome.
func (x *choice) mayShow(i int) bool {
	return i >= 0 && i < len(x.lines) && !x.shown[i] && !x.isNote[i]
}

// show shows line i if it may be shown and the budget has room for it, and returns the tokens that this takes.
func (x *choice) show(i int) int {
	if x.budget <= 0 || !x.mayShow(i) {
		return 0
	}
	n := x.count(x.lines[i])
	if i > 0 && i+1 < len(x.lines) && !x.shown[i-1] && !x.shown[i+1] { // one gap becomes two, with a note each
		n += gapTokens
	}
	if n > x.budget { // a shorter line may still have room
		x.budget-- // so not all lines are counted in vain
		return 0
	}
	x.shown[i] = true
	x.budget -= n
	return n
}

// around returns the indexes of lines around failing line i: its heading, then linesAbove lines above it and as many
// lines below it as asked for, nearest first. Some may lie outside the text or be shown already: see mayShow.
func (x *choice) around(i, below int) []int {
	list := []int{x.heading(i)}
	for k := 1; k <= max(linesAbove, below); k++ {
		if k <= linesAbove {
			list = append(list, i-k)
		}
		if k <= below {
			list = append(list, i+k)
		}
	}
	return list
}

// heading returns the nearest line above line i that is less indented, as a file's name above its errors; i if none is.
func (x *choice) heading(i int) int {
	const far = 60 // lines above i that are looked at
	depth := indent(x.lines[i])
	for k := i - 1; depth > 0 && k >= max(0, i-far); k-- {
		if strings.TrimSpace(x.lines[k]) != "" && indent(x.lines[k]) < depth {
			return k
		}
	}
	return i
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// join returns the lines that are shown with a note in place of each gap, and how many lines are not shown.
func (x *choice) join() (short string, omitted int) {
	var b strings.Builder
	for i := 0; i < len(x.lines); i++ {
		first := i
		for i < len(x.lines) && !x.shown[i] {
			i++
		}
		n := i - first
		gap := strings.Join(x.lines[first:i], "")
		if len(gap) <= 64*gapTokens && !strings.Contains(gap, Mark) && x.count(gap) <= gapTokens { // shorter than a note
			b.WriteString(gap)
			n = 0
		}
		if n > 0 {
			lines := fmt.Sprint(first + 1) // a reader counts lines from 1
			if n > 1 {
				lines += fmt.Sprintf("-%d", i)
			}
			fmt.Fprintf(&b, "%s %s omitted (%s)]\n", Mark, Amount(n), lines)
			omitted += n
		}
		if i < len(x.lines) {
			b.WriteString(x.lines[i])
		}
	}
	return b.String(), omitted
}
