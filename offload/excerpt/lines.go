package excerpt

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
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

// SpeaksOfFailure reports whether a text in small letters has one of failureWords.
func SpeaksOfFailure(line string) bool {
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

// How much of a text is shown, and in which order: the score of a line is explained at rank.
const (
	headLines, tailLines   = 3, 6    // lines at the beginning and at the end of a text that are shown first
	linesAbove, linesBelow = 4, 2    // lines that are shown around a failing line
	maxOfShape             = 3       // failing lines of one shape that are shown before others: they repeat each other
	failureWeight          = 403.43  // of a failing line, see rank; others have 1
	reasonWeight           = 7.389   // times failureWeight: of one that says why it failed
	endShare               = 4       // first lines are shown until they took a quarter of the budget, then last lines
	gapTokens              = 16      // tokens of the note in a gap: join writes it
	longestLine            = 8 << 10 // bytes of a line that is not cut
	stride                 = 16      // lines from one whose place is held to the next
)

// Lines returns an excerpt of a text in about budget tokens: its first and last lines, failing lines with the lines
// around them, and then the lines that look like few others. A note in each gap says how many lines are omitted there,
// and which, if a reader has the text with these lines (isKept); omitted is the number of all of them. A line that
// takes most of the budget is cut, with notes of the same kind.
func Lines(text string, isKept bool, budget int, count Count) (short string, omitted int) {
	x := newChoice(text, budget, count)
	x.isKept = isKept
	x.choose()
	return x.join()
}

// choice is the choice of the lines that an excerpt shows. A text can have millions, so it holds nothing of each line.
type choice struct {
	text           string // with long lines cut
	isKept         bool   // see Lines
	number         int    // of its lines
	starts         []int  // where every stride-th line begins, and the text ends
	isCut, isShown map[int]bool
	shapes         map[string]*shape // by mask
	first          []*shape          // of the first lines: most texts have no more
	lastLine       string            // for which shapeOf was called last: many lines are like the one before
	lastShape      *shape
	budget         int // tokens that are left for more lines
	count          Count
}

// shape is what lines have in common that are equal except for their numbers (see mask).
type shape struct {
	failure float64 // weight of its lines; 0 if they speak of no failure
	number  int32   // of lines of the text that have the shape
	tried   int32   // lines of the shape that choose was offered; it shows the first maxOfShape, if they fail
}

// newChoice cuts long lines and counts shapes, and shows no line yet.
func newChoice(text string, budget int, count Count) *choice {
	x := &choice{shapes: map[string]*shape{}, budget: budget, count: count}
	x.isCut, x.isShown = map[int]bool{}, map[int]bool{}
	lines := strings.Count(text, "\n") + 1
	x.starts = make([]int, 0, lines/stride+2)
	x.first = make([]*shape, 0, min(lines, 1<<16))
	var b strings.Builder // what stands before text[done], with long lines cut
	at, done := 0, 0
	for l := range strings.Lines(text) {
		if x.number%stride == 0 {
			x.starts = append(x.starts, b.Len()+at-done)
		}
		size := len(l)
		if budget > 0 && len(l) > min(longestLine, 2*budget) && !strings.Contains(l, Mark) {
			l = x.cutLine(l, 3*budget/4*len(l)/len(text)) // the more, the more of the text it is
			b.WriteString(text[done:at] + l)
			done = at + size
			x.isCut[x.number] = true
		}
		s := x.shapeOf(l)
		s.number++
		if x.number < cap(x.first) {
			x.first = append(x.first, s)
		}
		x.number++
		at += size
	}
	x.text = b.String() + text[done:]
	x.starts = append(x.starts, len(x.text))
	return x
}

// shapeOf returns the shape of a line.
func (x *choice) shapeOf(line string) *shape {
	if line == x.lastLine {
		return x.lastShape
	}
	var space [256]byte // with it, most lines allocate nothing
	masked := mask(space[:0], line)
	s := x.shapes[string(masked)]
	if s == nil {
		s = x.newShape(string(masked))
	}
	x.lastLine, x.lastShape = line, s
	return s
}

// newShape returns the shape of a mask that has none yet. Beyond very many shapes, some of the further ones are one.
func (x *choice) newShape(masked string) *shape {
	const most, further = 1 << 18, 1 << 16
	weight := failure(masked)
	if len(x.shapes) >= most {
		masked = fmt.Sprintf("\n%g %d", weight, crc32.ChecksumIEEE([]byte(masked))%further) // no mask has a line break
		if s := x.shapes[masked]; s != nil {
			return s
		}
	}
	s := &shape{failure: weight}
	x.shapes[masked] = s
	return s
}

// start returns the index in the text at which line i begins; behind the last line, the text ends.
func (x *choice) start(i int) int {
	at := x.starts[i/stride]
	for range i % stride {
		_, rest, _ := strings.Cut(x.text[at:], "\n")
		at = len(x.text) - len(rest)
	}
	return at
}

func (x *choice) line(i int) string { return x.text[x.start(i):x.start(i+1)] }

// isNote reports whether line i has a Mark of its own.
func (x *choice) isNote(i int, line string) bool { return strings.Contains(line, Mark) && !x.isCut[i] }

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
		} else if at >= until && hits < failing && failure(string(mask(nil, line[at:min(end+size/2, len(line))]))) > 0 {
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

// mask appends to b the trimmed line with 9 for each number but 0 for zero, as "0 failed" and "3 failed" are not alike.
func mask(b []byte, line string) []byte {
	line = strings.TrimSpace(line[:min(len(line), longestLine)])
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
	return b
}

// failure returns the weight of a line as a failing one; 0 if it speaks of no failure.
func failure(line string) float64 {
	const longest = 400 // bytes that regexps look at
	small := strings.ToLower(line)
	if !SpeaksOfFailure(small) {
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
	if !SpeaksOfFailure(harmful) && !SpeaksOfFailure(small[len(start):]) {
		return 0
	}
	saysWhy := func(form *regexp.Regexp) bool { return form.MatchString(start) }
	if strings.Contains(start, ": ") && slices.ContainsFunc(reasons, saysWhy) { // most lines need no regexp
		return failureWeight * reasonWeight
	}
	return failureWeight
}

// choose shows lines while the budget lasts: the ends of the text, failing lines with lines around them, then the rest.
func (x *choice) choose() {
	headBudget, tailBudget := x.budget/endShare, x.budget/endShare
	for i := 0; i < min(headLines, x.number) && headBudget > 0; i++ {
		headBudget -= x.show(i)
	}
	for i := x.number - 1; i >= max(x.number-tailLines, 0) && tailBudget > 0; i-- {
		tailBudget -= x.show(i)
	}
	// So many lines are tried at most: each takes a token of the budget at least, unless it is shown already.
	most := max(x.budget, 1) + len(x.isShown)
	failing := func(i int, line string, s *shape) bool {
		s.tried++
		return s.failure > 0 && s.tried <= maxOfShape && !x.isNote(i, line)
	}
	all := func(i int, line string, _ *shape) bool { return !x.isNote(i, line) }
	lists := x.rank(most, failing, all)
	for _, r := range lists[0] {
		x.show(r.index)
		if x.isShown[r.index] { // now, or before as a line at an end of the text or around another failing line
			for _, k := range x.around(r.index, linesBelow) {
				x.show(k)
			}
		}
	}
	for _, r := range lists[1] { // the other failing lines, too
		x.show(r.index)
	}
}

// ranked is a line with its score.
type ranked struct {
	index int
	score float64
}

// rank returns a list for each of takes: of the lines that it accepts, the highest score first, and not more than most.
// The score is the weight of a line over the number of lines of its shape: a failing line comes before others unless
// its shape has over failureWeight times as many lines.
func (x *choice) rank(most int, takes ...func(i int, line string, s *shape) bool) [][]ranked {
	lists := make([][]ranked, len(takes))
	shorten := func(k int) { // to the best lines, in their order
		slices.SortFunc(lists[k], func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), a.index-b.index) })
		lists[k] = lists[k][:min(len(lists[k]), most)]
	}
	i := -1
	for l := range strings.Lines(x.text) {
		i++
		var s *shape
		if i < len(x.first) {
			s = x.first[i]
		} else {
			s = x.shapeOf(l)
		}
		score := max(s.failure, 1) / float64(max(s.number, 1))
		for k, takesIt := range takes {
			isHigh := len(lists[k]) < most || score > lists[k][most-1].score
			if !isHigh || !takesIt(i, l, s) {
				continue
			}
			lists[k] = append(lists[k], ranked{i, score})
			if len(lists[k])%most == 0 { // seldom, and from then on the first ones are in order
				shorten(k)
			}
		}
	}
	for k := range lists {
		shorten(k)
	}
	return lists
}

// mayShow reports whether line i exists, is not shown yet, and is not like a note of epitome.
func (x *choice) mayShow(i int) bool {
	return i >= 0 && i < x.number && !x.isShown[i] && !x.isNote(i, x.line(i))
}

// show shows line i if it may be shown and the budget has room for it, and returns the tokens that this takes.
func (x *choice) show(i int) int {
	if x.budget <= 0 || !x.mayShow(i) {
		return 0
	}
	n := max(x.count(x.line(i)), 1)
	isWithin := i > 0 && i+1 < x.number && !x.isShown[i-1] && !x.isShown[i+1]
	if isWithin { // one gap becomes two, with a note each
		n += gapTokens
	}
	if n > x.budget { // a shorter line may still have room
		x.budget-- // so not all lines are counted in vain
		return 0
	}
	x.isShown[i] = true
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
	depth := indent(x.line(i))
	for k := i - 1; depth > 0 && k >= max(0, i-far); k-- {
		if l := x.line(k); strings.TrimSpace(l) != "" && indent(l) < depth {
			return k
		}
	}
	return i
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// join returns the lines that are shown with a note in place of each gap, and how many lines are not shown.
func (x *choice) join() (short string, omitted int) {
	var b strings.Builder
	first := 0                                                    // line of the gap
	ends := append(slices.Sorted(maps.Keys(x.isShown)), x.number) // behind the last line, a gap ends as well
	for _, i := range ends {
		gap := x.text[x.start(first):x.start(i)]
		// A gap that takes no more than the note in its place would stays.
		if len(gap) <= 64*gapTokens && !strings.Contains(gap, Mark) && x.count(gap) <= gapTokens {
			b.WriteString(gap)
		} else {
			where := ""
			if x.isKept && i > first+1 {
				where = fmt.Sprintf(" (%d-%d)", first+1, i) // a reader counts lines from 1
			} else if x.isKept {
				where = fmt.Sprintf(" (%d)", i)
			}
			fmt.Fprintf(&b, "%s %s omitted%s]\n", Mark, Amount(i-first), where)
			omitted += i - first
		}
		b.WriteString(x.line(i))
		first = i + 1
	}
	return b.String(), omitted
}

// detail matches a line near a failing line that belongs to its failure: an expected or an actual value, a changed line
// of a diff, or a place in a file.
var detail = regexp.MustCompile(`(?i)^[>|#\s]*(?:[-+](?:\s+[^-+\s]|\w\w)|` +
	`(?:left|right|want|wanted|got|expected|received|actual|caused by)\b)|` +
	`[\w/)]\.\w+["']?(?:[:(]| line )\d|\bline \d|-->`)

// report matches a line that reports a failure. Other failing lines may be code, or prose about a failure.
var report = regexp.MustCompile(`(?:^|[\s\]|>=])(?:(?:ERR|ERROR|FAIL|FAILED|FAILURE|FATAL|CONFLICT|Traceback)\b|` +
	`(?:not ok|failure)\b|(?:[\w.]*[Ee]rror|[\w.]*Exception|fatal|panic)(?:\[?\w*\]?| \w+)?:\s|` +
	`Error [1-9]\d*\s*$|npm error|[✗✘✖])|` +
	`\(\w+(?:Error|Exception)\)|level"?[=:]"?(?i:error|fatal)|\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|` +
	`\bpanicked at|:\d+:\d+: |: (?:.*not found|No such file|[Pp]ermission denied)`)

// Failure returns the lines of an output that report its main failure: the failing line with the highest score, its
// heading, and lines near it that say what was expected, what came and where. It is empty if no line speaks of failure.
// failed says that the output is known to be of a failure. Else it may be code or prose, and needs a line like report.
func Failure(text string, failed bool) string {
	const maxLines, maxBytes, longest, below = 6, 720, 400, 12 // longest: bytes per line; below: lines to look at
	x := newChoice(text, 0, nil)                               // without a budget, as show is not called
	ranking := x.rank(1, func(_ int, line string, s *shape) bool {
		return s.failure > 0 && len(line) <= longest && (failed || report.MatchString(line))
	})[0]
	if len(ranking) == 0 {
		return ""
	}
	best := ranking[0].index
	room := maxBytes
	shown := map[string]bool{} // lines without the spaces around them
	for at, k := range append([]int{best}, x.around(best, below)...) {
		if !x.mayShow(k) || len(shown) == maxLines {
			continue
		}
		l := x.line(k)
		said := strings.TrimSpace(l)
		isBestOrHeading := at < 2 // at 1 is the heading
		isAnnounced := k == best+1 && strings.HasSuffix(strings.TrimSpace(x.line(best)), ":")
		belongs := isBestOrHeading || isAnnounced || x.shapeOf(l).failure > 0 || detail.MatchString(l)
		hasRoom := len(said) <= min(longest, room) // even the best line may have none
		if belongs && hasRoom && !shown[said] && said != "" {
			x.isShown[k], shown[said] = true, true
			room -= len(said)
		}
	}
	var b strings.Builder
	for _, i := range slices.Sorted(maps.Keys(x.isShown)) {
		b.WriteString(x.line(i))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
