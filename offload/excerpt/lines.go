package excerpt

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// failureWords are texts in small letters by which a line is taken to speak of failure. Test runners print the signs.
var failureWords = []string{
	"error", "fail", "fatal", "panic", "exception", "traceback", "assert", "abort", "denied", "refused", "rejected",
	"forbidden", "cannot", "can't", "could not", "couldn't", "unable", "undefined", "undeclared", "unexpected",
	"unknown", "unreachable", "uncaught", "invalid", "missing", "not found", "not ok", "not a ", "not valid",
	"not in scope", "no such", "nonexistent", "mismatch", "conflict", "violat", "killed", "segfault", "core dumped",
	"out of memory", "out of bounds", "out of range", "out of space", "timed out", "time out", "timeout", "corrupt",
	"broken", "crash", "expected", "received:", "actual", "got:", "but was", "!=", "attempt to", "✗", "✘", "✖", "●",
	"×",
}

// wordsAt has failureWords by their first two bytes, as a regexp takes fifty times as long.
var wordsAt [1 << 16][]string

func init() {
	for _, word := range failureWords {
		words := &wordsAt[int(word[0])<<8|int(word[1])]
		*words = append(*words, word)
	}
}

// speaksOfFailure reports whether a line in small letters has one of failureWords.
func speaksOfFailure(line string) bool {
	for i := 1; i < len(line); i++ {
		for _, word := range wordsAt[int(line[i-1])<<8|int(line[i])] {
			if strings.HasPrefix(line[i-1:], word) {
				return true
			}
		}
	}
	return false
}

// harmless match parts of lines in small letters that have failureWords and speak of no failure, such as "0 errors".
// Regexps are slow, so each is for lines with one of some whole words or of some texts.
var harmless = []struct {
	words, texts []string
	form         *regexp.Regexp
}{
	{strings.Fields("ok pass passed"), strings.Fields("✓ √ ✔"), regexp.MustCompile(
		`^(?:\s*(?:ok\b|pass\b|passed\b|[✓√✔])[^,;]*|[^,;]*(?:\b(?:ok|passed)(?:\s[^,;a-z]*)?|\(pass\).*))$`)},
	{nil, []string{"|", "│", "→", "\t"}, regexp.MustCompile(`^\s*\d+(?: ?[|│→]|\t).*$`)}, // of a file, behind its number
	{strings.Fields("0 no without any"), nil, regexp.MustCompile(`\b(?:0|no|without|any)\b[^,;.]{0,12}[ _-]` +
		`(?:errors?|failures?|failed|fail|conflicts)\b`)},
	{strings.Fields("0 none null false nil"), []string{"free"}, regexp.MustCompile(`errors?[ _-]?free|` +
		`\b(?:errors?|failures?|failed|fail)["']?[:= ]+(?:0|none|null|false|nil)\b`)},
}

// hasWord reports whether a word ends in a line in small letters, and no longer one goes on there.
func hasWord(line, word string) bool {
	for _, after, found := strings.Cut(line, word); found; _, after, found = strings.Cut(after, word) {
		if after == "" || !strings.Contains("abcdefghijklmnopqrstuvwxyz0123456789_", after[:1]) {
			return true
		}
	}
	return false
}

// reasons match failing lines in small letters that say, behind a colon, why something failed.
var reasons = []*regexp.Regexp{
	regexp.MustCompile(`(?:(?:panic|fail|abort)\w*|error|exception|fatal|killed|denied|cannot|can't)\b[^:]{0,40}: \S`),
	regexp.MustCompile(`: .*(?:cannot|can't|no such|undefined)`),
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

// choice is the choice of the lines that an excerpt shows.
type choice struct {
	lines  []line
	budget int // tokens that are left for more lines
	count  Count
}

type line struct {
	*shape
	text   string // with its line break; a long one is cut
	isNote bool   // it has a Mark of its own
	shown  bool
}

// shape is what lines have in common that are equal except for their numbers (see mask).
type shape struct {
	number  int     // of lines of the text that have the shape
	failure float64 // part of the score of its lines; 0 if they speak of no failure
	tried   int     // failing lines of the shape that choose has tried to show, at most maxOfShape
}

// newChoice finds the shape of each line, and shows no line yet.
func newChoice(text string, budget int, count Count) *choice {
	x := &choice{budget: budget, count: count}
	known := map[string]*shape{}
	for l := range strings.Lines(text) {
		isNote := strings.Contains(l, Mark)
		if budget > 0 && len(l) > min(longestLine, 2*budget) && !isNote {
			l = x.cutLine(l, 3*budget/4*len(l)/len(text)) // the more, the more of the text it is
		}
		masked := mask(l)
		s := known[masked]
		if s == nil {
			s = &shape{failure: failure(masked)}
			known[masked] = s
		}
		s.number++
		x.lines = append(x.lines, line{shape: s, text: l, isNote: isNote})
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

// cut returns sixteen parts of a line, each of about size bytes: the first, those that speak of failure, the last.
func cut(line string, size int) string {
	const first, last, failing = 6, 4, 3 // parts; behind a failing one the next is shown, too
	var b strings.Builder
	hits, until, omitted := 0, first*size, 0 // until: all before this index is shown
	for at, end := 0, 0; at < len(line); at = end {
		for end = min(at+size, len(line)); end < len(line) && !utf8.RuneStart(line[end]); {
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
	b, inNumber := make([]byte, 0, len(line)), false
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

// failure returns the part of a line's score that it has as a failing line; 0 if it speaks of no failure.
func failure(line string) float64 {
	const longest = 400 // bytes that regexps look at
	small := strings.ToLower(line)
	if !speaksOfFailure(small) {
		return 0
	}
	start := small[:min(len(small), longest)]
	harmful := start
	for _, h := range harmless {
		isIn := func(text string) bool { return strings.Contains(harmful, text) }
		isWordIn := func(word string) bool { return hasWord(harmful, word) }
		if slices.ContainsFunc(h.words, isWordIn) || slices.ContainsFunc(h.texts, isIn) {
			harmful = h.form.ReplaceAllString(harmful, "")
		}
	}
	if !speaksOfFailure(harmful) && !speaksOfFailure(small[len(start):]) {
		return 0
	}
	saysWhy := func(form *regexp.Regexp) bool { return form.MatchString(start) }
	if strings.Contains(start, ": ") && slices.ContainsFunc(reasons, saysWhy) { // most lines need no regexp
		return failureScore + reasonScore
	}
	return failureScore
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
		l := &x.lines[i]
		if l.failure == 0 || l.tried == maxOfShape {
			continue
		}
		l.tried++
		x.show(i)
		if l.shown { // now, or before as a line at an end of the text or around another failing line
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
	order, score := make([]int, len(x.lines)), make([]float64, len(x.lines))
	for i, l := range x.lines {
		order[i] = i
		score[i] = l.failure + math.Log(float64(len(x.lines))/float64(l.number))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(score[b], score[a]), a-b) })
	return order
}

// mayShow reports whether line i exists, is not shown yet, and is not like a note of epitome.
func (x *choice) mayShow(i int) bool {
	return i >= 0 && i < len(x.lines) && !x.lines[i].shown && !x.lines[i].isNote
}

// show shows line i if it may be shown and the budget has room for it, and returns the tokens that this takes.
func (x *choice) show(i int) int {
	if x.budget <= 0 || !x.mayShow(i) {
		return 0
	}
	n := x.count(x.lines[i].text)
	isWithin := i > 0 && i+1 < len(x.lines) && !x.lines[i-1].shown && !x.lines[i+1].shown
	if isWithin { // one gap becomes two, with a note each
		n += gapTokens
	}
	if n > x.budget { // a shorter line may still have room
		x.budget-- // so not all lines are counted in vain
		return 0
	}
	x.lines[i].shown = true
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
	depth := indent(x.lines[i].text)
	for k := i - 1; depth > 0 && k >= max(0, i-far); k-- {
		if l := x.lines[k].text; strings.TrimSpace(l) != "" && indent(l) < depth {
			return k
		}
	}
	return i
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// join returns the lines that are shown with a note in place of each gap, and how many lines are not shown.
func (x *choice) join() (short string, omitted int) {
	var b, gap strings.Builder
	first := 0                                             // line of the gap
	for i, l := range append(x.lines, line{shown: true}) { // behind the last line, a gap ends as well
		if !l.shown {
			gap.WriteString(l.text)
			continue
		}
		if x.isShort(gap.String()) {
			b.WriteString(gap.String())
		} else {
			lines := fmt.Sprint(first + 1) // a reader counts lines from 1
			if i > first+1 {
				lines += fmt.Sprintf("-%d", i)
			}
			fmt.Fprintf(&b, "%s %s omitted (%s)]\n", Mark, Amount(i-first), lines)
			omitted += i - first
		}
		b.WriteString(l.text)
		gap.Reset()
		first = i + 1
	}
	return b.String(), omitted
}

// isShort reports whether a gap takes no more than the note in its place would, and so stays.
func (x *choice) isShort(gap string) bool {
	return len(gap) <= 64*gapTokens && !strings.Contains(gap, Mark) && x.count(gap) <= gapTokens
}

// detail matches a line near a failing line that belongs to its failure: an expected or an actual value, a changed line
// of a diff, or a place in a file.
var detail = regexp.MustCompile(`(?i)^[>|#\s]*(?:[-+](?:\s+[^-+\s]|\w\w)|` +
	`(?:left|right|want|wanted|got|expected|received|actual|caused by)\b)|` +
	`[\w/)]\.\w+["']?(?:[:(]| line )\d|\bline \d|-->`)

// report matches a line that reports a failure. Other failing lines may be code, or prose about a failure.
var report = regexp.MustCompile(`(?:^|[\s\]|>=])(?:(?:ERR|ERROR|FAIL|FAILED|FAILURE|FATAL|CONFLICT|Traceback)\b|` +
	`(?:not ok|failure)\b|(?:[\w.]*[Ee]rror|[\w.]*Exception|fatal|panic)(?:\[?\w*\]?| \w+)?:\s|npm error|[✗✘✖])|` +
	`\(\w+(?:Error|Exception)\)|level"?[=:]"?(?i:error|fatal)|\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|` +
	`\bpanicked at|:\d+:\d+: |: (?:.*not found|No such file|[Pp]ermission denied)`)

// Failure returns the lines of an output that report its main failure: the failing line with the highest score, its
// heading, and lines near it that say what was expected, what came and where. It is empty if no line speaks of failure.
// failed says that the output is known to be of a failure. Else it may be code or prose, and needs a line like report.
func Failure(text string, failed bool) string {
	const maxLines, maxBytes, longest, below = 6, 720, 400, 12 // longest: bytes per line; below: lines to look at
	x := newChoice(text, 0, nil)                               // without a budget, as show is not called
	order := x.order()
	first := slices.IndexFunc(order, func(i int) bool {
		l := &x.lines[i]
		return l.failure > 0 && len(l.text) <= longest && (failed || report.MatchString(l.text))
	})
	if first < 0 {
		return ""
	}
	best := order[first]
	room := maxBytes
	shown := map[string]bool{} // lines without the spaces around them
	for at, k := range append([]int{best}, x.around(best, below)...) {
		if !x.mayShow(k) || len(shown) == maxLines {
			continue
		}
		l := &x.lines[k]
		text := strings.TrimSpace(l.text)
		isBestOrHeading := at < 2 // at 1 is the heading
		isAnnounced := k == best+1 && strings.HasSuffix(strings.TrimSpace(x.lines[best].text), ":")
		belongs := isBestOrHeading || isAnnounced || l.failure > 0 || detail.MatchString(l.text)
		hasRoom := len(text) <= min(longest, room) // even the best line may have none
		if belongs && hasRoom && !shown[text] && text != "" {
			l.shown, shown[text] = true, true
			room -= len(text)
		}
	}
	var b strings.Builder
	for _, l := range x.lines {
		if l.shown {
			b.WriteString(l.text)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
