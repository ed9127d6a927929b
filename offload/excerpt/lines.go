package excerpt

import (
	"cmp"
	_ "embed" // words.txt
	"fmt"
	"hash/crc64"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"epitome/internal/unit"
)

//go:embed words.txt
var wordsText string

var (
	words  = unit.Expressions(wordsText)
	reason = regexp.MustCompile(words["reason"])
	detail = regexp.MustCompile(`(?i)` + words["detail"])
	report = regexp.MustCompile(words["report"])

	// wordsAt has the failing words by their first two bytes, as a regexp takes fifty times as long.
	wordsAt [1 << 16][]string
)

func init() {
	for word := range strings.SplitSeq(words["failing"], "|") {
		list := &wordsAt[int(word[0])<<8|int(word[1])]
		*list = append(*list, word)
	}
}

// SpeaksOfFailure reports whether a text in small letters has one of the failing words.
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

// harmless match parts of lines in small letters that have failing words and speak of no failure, such as "0 errors".
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

// How much of a text is shown, and in which order: the score of a line is explained at rank.
const (
	headLines, tailLines   = 3, 6    // lines at the beginning and at the end of a text that are shown first
	linesAbove, linesBelow = 4, 2    // lines that are shown around a failing line
	maxOfShape             = 3       // failing lines of one shape around which lines are shown: they repeat each other
	failureWeight          = 403.43  // of a failing line, see rank; others have 1
	reasonWeight           = 7.389   // times failureWeight: of one that says why it failed
	endShare               = 4       // first lines are shown until they took a quarter of the budget, then last lines
	gapTokens              = 16      // tokens of the note in a gap: join writes it
	longestLine            = 8 << 10 // bytes of a line that is not cut
)

// Lines returns an excerpt of a text in about budget tokens: its first and last lines, failing lines with the lines
// around them, and then the lines that look like few others. A note in each gap says how many lines are omitted there,
// and which, if a reader has the text with these lines (isKept); omitted is the number of all of them. A line that
// takes most of the budget is cut, with notes of the same kind.
func Lines(text string, isKept bool, budget int, count Count) (short string, omitted int) {
	x := newChoice(text, budget, count)
	x.choose()
	return x.join(isKept)
}

// choice is the choice of the lines that an excerpt shows. A line is known by the index in the text at which it begins.
// A text can have millions, so choice holds nothing of most lines.
type choice struct {
	text      string
	cuts      map[int]string // what long lines are cut to
	isShown   map[int]bool
	shapes    map[uint64]*shape // by a sum of the mask
	lastLine  string            // for which shapeOf was called last: many lines are like the one before
	lastShape *shape
	budget    int // tokens that are left for more lines
	count     Count
}

// shape is what lines have in common that are equal except for their numbers (see mask).
type shape struct {
	failure float64 // weight of its lines; 0 if they speak of no failure
	number  int32   // of lines of the text that have the shape
	opened  int32   // failing lines of the shape around which lines are shown
}

// newChoice cuts long lines and counts shapes, and shows no line yet.
func newChoice(text string, budget int, count Count) *choice {
	x := &choice{text: text, budget: budget, count: count}
	x.cuts, x.isShown, x.shapes = map[int]string{}, map[int]bool{}, map[uint64]*shape{}
	at := 0
	for line := range strings.Lines(text) {
		size := len(line)
		if budget > 0 && size > min(longestLine, 2*budget) && !strings.Contains(line, Mark) {
			line = x.cutLine(line, 3*budget/4*size/len(text)) // the more, the more of the text it is
			x.cuts[at] = line
		}
		x.shapeOf(line).number++
		at += size
	}
	return x
}

// shapeOf returns the shape of a line. Beyond very many shapes, some of the further ones are one.
func (x *choice) shapeOf(line string) *shape {
	const most, further = 1 << 18, 1 << 16
	if line == x.lastLine {
		return x.lastShape
	}
	var space [256]byte // with it, most lines allocate nothing
	masked := mask(space[:0], line)
	key := crc64.Checksum(masked, sums)
	s := x.shapes[key]
	if s == nil {
		s = &shape{failure: failure(string(masked))}
		if len(x.shapes) >= most {
			key = key%further + uint64(s.failure)*further
			s = cmp.Or(x.shapes[key], s)
		}
		x.shapes[key] = s
	}
	x.lastLine, x.lastShape = line, s
	return s
}

var sums = crc64.MakeTable(crc64.ECMA)

// below returns the line below a line: the length of the text if there is none.
func (x *choice) below(at int) int {
	if i := strings.IndexByte(x.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(x.text)
}

// above returns the line above a line: -1 if there is none.
func (x *choice) above(at int) int {
	if at <= 0 {
		return -1
	}
	return strings.LastIndexByte(x.text[:at-1], '\n') + 1
}

// line returns a line as it is shown, with its line break.
func (x *choice) line(at int) string {
	if short, isCut := x.cuts[at]; isCut {
		return short
	}
	return x.text[at:x.below(at)]
}

// isNote reports whether a line has a Mark of its own.
func (x *choice) isNote(at int) bool { return strings.Contains(x.text[at:x.below(at)], Mark) }

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
	endsWord := func(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }
	words := strings.FieldsFunc(start, endsWord)
	harmful := start
	for _, h := range harmless {
		isIn := func(text string) bool { return strings.Contains(start, text) }
		isWord := func(word string) bool { return slices.Contains(words, word) }
		if slices.ContainsFunc(h.words, isWord) || slices.ContainsFunc(h.texts, isIn) {
			harmful = h.form.ReplaceAllString(harmful, "")
		}
	}
	if !SpeaksOfFailure(harmful) && !SpeaksOfFailure(small[len(start):]) {
		return 0
	}
	if strings.Contains(start, ": ") && reason.MatchString(start) { // most lines need no regexp
		return failureWeight * reasonWeight
	}
	return failureWeight
}

// choose shows lines while the budget lasts: the ends of the text, failing lines with lines around them, then the rest.
func (x *choice) choose() {
	share := x.budget / endShare
	x.showEnd(0, headLines, share, x.below)
	x.showEnd(x.above(len(x.text)), tailLines, share, x.above)
	// So many lines are tried at most: each takes a token of the budget at least, unless it is shown already.
	most := max(x.budget, 1) + len(x.isShown)
	for _, r := range x.rank(most, func(at int, _ *shape) bool { return !x.isNote(at) }) {
		x.show(r.at)
		s := x.shapeOf(x.line(r.at))
		if s.failure == 0 || s.opened == maxOfShape || !x.isShown[r.at] {
			continue
		}
		s.opened++
		for _, at := range x.around(r.at, linesBelow) {
			x.show(at)
		}
	}
}

// showEnd shows up to n lines from one at an end of the text on, while their share of the budget lasts.
func (x *choice) showEnd(at, n, share int, next func(at int) int) {
	for range n {
		if share > 0 {
			share -= x.show(at)
		}
		at = next(at)
	}
}

// ranked is a line with its score.
type ranked struct {
	at    int
	score float64
}

// rank returns the lines that take accepts, the highest score first, and not more than most. The score is the weight of
// a line over the number of lines of its shape: a failing line comes before others unless its shape has over
// failureWeight times as many lines.
func (x *choice) rank(most int, take func(at int, s *shape) bool) []ranked {
	var list []ranked
	shorten := func() { // to the best lines, in their order
		slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), a.at-b.at) })
		list = list[:min(len(list), most)]
	}
	for at := 0; at < len(x.text); at = x.below(at) {
		s := x.shapeOf(x.line(at))
		score := max(s.failure, 1) / float64(s.number)
		isHigh := len(list) < most || score > list[most-1].score
		if !isHigh || !take(at, s) {
			continue
		}
		list = append(list, ranked{at, score})
		if len(list)%most == 0 { // seldom, and from then on the first ones are in order
			shorten()
		}
	}
	shorten()
	return list
}

// mayShow reports whether a line exists, is not shown yet, and is not like a note of epitome.
func (x *choice) mayShow(at int) bool {
	return at >= 0 && at < len(x.text) && !x.isShown[at] && !x.isNote(at)
}

// show shows a line if it may be shown and the budget has room for it, and returns the tokens that this takes.
func (x *choice) show(at int) int {
	if x.budget <= 0 || !x.mayShow(at) {
		return 0
	}
	n := max(x.count(x.line(at)), 1)
	below := x.below(at)
	isWithin := at > 0 && below < len(x.text) && !x.isShown[x.above(at)] && !x.isShown[below]
	if isWithin { // one gap becomes two, with a note each
		n += gapTokens
	}
	if n > x.budget { // a shorter line may still have room
		x.budget-- // so not all lines are counted in vain
		return 0
	}
	x.isShown[at] = true
	x.budget -= n
	return n
}

// around returns lines around a failing line: its heading, then linesAbove lines above it and as many lines below it
// as asked for, nearest first. Some may not exist or be shown already: see mayShow.
func (x *choice) around(at, below int) []int {
	list := []int{x.heading(at)}
	up, down := at, at
	for k := range max(linesAbove, below) {
		up, down = x.above(up), x.below(down)
		if k < linesAbove {
			list = append(list, up)
		}
		if k < below {
			list = append(list, down)
		}
	}
	return list
}

// heading returns the nearest line above a line that is less indented, as a file's name above its errors; the line
// itself if none is.
func (x *choice) heading(at int) int {
	const far = 60 // lines above that are looked at
	depth := indent(x.line(at))
	up := x.above(at)
	for k := 0; k < far && depth > 0 && up >= 0; k++ {
		if l := x.line(up); strings.TrimSpace(l) != "" && indent(l) < depth {
			return up
		}
		up = x.above(up)
	}
	return at
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// join returns the lines that are shown with a note in place of each gap, and how many lines are not shown.
func (x *choice) join(isKept bool) (short string, omitted int) {
	var b strings.Builder
	from, number := 0, 1                                             // of the gap: where it begins, and the number of its first line
	ends := append(slices.Sorted(maps.Keys(x.isShown)), len(x.text)) // behind the last line, a gap ends as well
	for _, at := range ends {
		gap := x.text[from:at]
		lines := CountLines(gap)
		// A gap that takes no more than the note in its place would stays.
		if len(gap) <= 64*gapTokens && !strings.Contains(gap, Mark) && x.count(gap) <= gapTokens {
			b.WriteString(gap)
		} else {
			where := ""
			if isKept && lines > 1 {
				where = fmt.Sprintf(" (%d-%d)", number, number+lines-1)
			} else if isKept {
				where = fmt.Sprintf(" (%d)", number)
			}
			fmt.Fprintf(&b, "%s %s omitted%s]\n", Mark, Amount(lines), where)
			omitted += lines
		}
		b.WriteString(x.line(at))
		from = x.below(at)
		number += lines + 1
	}
	return b.String(), omitted
}

// Failure returns the lines of an output that report its main failure: the failing line with the highest score, its
// heading, and lines near it that say what was expected, what came and where. It is empty if no line speaks of failure.
// failed says that the output is known to be of a failure. Else it may be code or prose, and needs a line like report.
func Failure(text string, failed bool) string {
	const maxLines, maxBytes, longest, below = 6, 720, 400, 12 // longest: bytes per line; below: lines to look at
	x := newChoice(text, 0, nil)                               // without a budget, as show is not called
	ranking := x.rank(1, func(at int, s *shape) bool {
		line := x.line(at)
		return s.failure > 0 && len(line) <= longest && (failed || report.MatchString(line))
	})
	if len(ranking) == 0 {
		return ""
	}
	best := ranking[0].at
	room := maxBytes
	shown := map[string]bool{} // lines without the spaces around them
	for k, at := range append([]int{best}, x.around(best, below)...) {
		if !x.mayShow(at) || len(shown) == maxLines {
			continue
		}
		l := x.line(at)
		said := strings.TrimSpace(l)
		isBestOrHeading := k < 2 // at 1 is the heading
		isAnnounced := at == x.below(best) && strings.HasSuffix(strings.TrimSpace(x.line(best)), ":")
		belongs := isBestOrHeading || isAnnounced || x.shapeOf(l).failure > 0 || detail.MatchString(l)
		hasRoom := len(said) <= min(longest, room) // even the best line may have none
		if belongs && hasRoom && !shown[said] && said != "" {
			x.isShown[at], shown[said] = true, true
			room -= len(said)
		}
	}
	var b strings.Builder
	for _, at := range slices.Sorted(maps.Keys(x.isShown)) {
		b.WriteString(x.line(at))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
