// Package record finds the records of a text: parts of several lines that begin alike and are made of like lines, as
// tools print the items of a list one below another.
//
// It promises that a text has records only where nearly all of it is made of them; that a line is of one record or of
// none; and that its time grows with the text and no faster.
package record

import "strings"

// Line is a line of a text, as it is compared with others. Body is empty where nothing is to be read.
type Line struct {
	Body   string
	Indent int
}

// Records are those of one text.
type Records struct {
	Starts []int   // the line with which each record begins
	of     []int32 // the record of each line; -1 if it is of none
	keys   []uint64
	naming uint64 // the key of the lines that tell records apart; 0 if none does
	names  []int  // the naming line of each record; -1 if it has none
}

// Bounds of what records are.
const (
	fewest     = 8   // records
	leastLines = 3   // of a record, on average
	mostLines  = 400 // of a record, on average
	mostHeads  = 12  // kinds of lines that are tried as the first of records
	headLines  = 60  // among which the first record begins
)

// Of finds the records of a text; ok is false if it has none.
func Of(lines []Line) (r *Records, ok bool) {
	t := &text{lines: lines, keys: make([]uint64, len(lines)), often: map[uint64]int{}}
	for i, l := range lines {
		if l.Body == "" {
			continue
		}
		t.keys[i] = keyOf(l)
		t.often[t.keys[i]]++
		t.n++
	}
	for _, head := range t.heads() {
		if starts := t.startsAt(head); t.areRecords(starts) {
			return t.records(starts), true
		}
	}
	return nil, false
}

// Of returns the record of a line; -1 if it is of none.
func (r *Records) Of(line int) int { return int(r.of[line]) }

// Len returns how many lines a record has.
func (r *Records) Len(k int) int {
	if k+1 < len(r.Starts) {
		return r.Starts[k+1] - r.Starts[k]
	}
	return len(r.of) - r.Starts[k]
}

// Name returns the line that names the record of a line: one that is another in each of them. It returns -1 if there is
// none, or if the line is that one.
func (r *Records) Name(line int) int {
	k := r.of[line]
	if k < 0 || r.names[k] == line {
		return -1
	}
	return r.names[k]
}

// Key is equal for lines of records that begin alike; 0 for others.
func (r *Records) Key(line int) uint64 {
	if r.of[line] < 0 {
		return 0
	}
	return r.keys[line]
}

// text is one that may have records.
type text struct {
	lines []Line
	keys  []uint64       // of each line; 0 where nothing is to be read
	often map[uint64]int // how many lines have a key
	n     int            // lines that say something
}

// heads are the keys of lines that may begin records: those that come often, in the order in which they come.
func (t *text) heads() (list []uint64) {
	met, looked := map[uint64]bool{}, 0
	for _, key := range t.keys {
		if key == 0 {
			continue
		}
		if looked++; looked > headLines || len(list) == mostHeads {
			break
		}
		if !met[key] && t.often[key] >= fewest {
			list = append(list, key)
		}
		met[key] = true
	}
	return list
}

// startsAt are the lines with a key.
func (t *text) startsAt(key uint64) []int {
	starts := make([]int, 0, t.often[key])
	for i, k := range t.keys {
		if k == key {
			starts = append(starts, i)
		}
	}
	return starts
}

// areRecords reports whether what begins at these lines are records: of like sizes and like lines, most of which are in
// each of them, none less deep than the first, and nearly all of the text.
func (t *text) areRecords(starts []int) bool {
	sizes, last := make([]int, len(starts)), map[uint64]int{} // the last record in which a key was met, and one more
	all, alike, met, k := 0, 0, 0, -1
	indent := t.lines[starts[0]].Indent
	for i := starts[0]; i < len(t.lines); i++ {
		if k+1 < len(starts) && starts[k+1] == i {
			k++
		}
		key := t.keys[i]
		if key == 0 {
			continue
		}
		if t.lines[i].Indent < indent && k+1 < len(starts) {
			return false
		}
		sizes[k]++
		if all++; 2*t.often[key] < len(starts) {
			continue
		}
		if alike++; last[key] != k+1 {
			last[key] = k + 1
			met++
		}
	}
	const most, many, much = 85, 75, 100 // hundredths
	return all >= leastLines*len(starts) && all <= mostLines*len(starts) && much*alike >= most*all &&
		much*all >= most*t.n && much*met >= many*len(starts)*len(last) && areLike(sizes)
}

// areLike reports whether most sizes but the last are between half of the mean and twice as much, and the last is not
// much more: what stands behind the records counts as the last of them.
func areLike(sizes []int) bool {
	const most, much, last = 70, 100, 4 // hundredths, hundredths, times the mean
	sum, like, end := 0, 0, sizes[len(sizes)-1]
	sizes = sizes[:len(sizes)-1]
	for _, n := range sizes {
		sum += n
	}
	if end*len(sizes) > last*sum {
		return false
	}
	for _, n := range sizes {
		if 2*n*len(sizes) >= sum && n*len(sizes) <= 2*sum {
			like++
		}
	}
	return much*like >= most*len(sizes)
}

// records cuts the text into records.
func (t *text) records(starts []int) *Records {
	r := &Records{Starts: starts, of: make([]int32, len(t.lines)), keys: t.keys}
	isDeep := t.areDeep(starts)
	k, ended := -1, false
	for i := range t.lines {
		if k+1 < len(starts) && starts[k+1] == i {
			k, ended = k+1, false
		} else if isDeep && t.keys[i] != 0 && t.lines[i].Indent <= t.lines[starts[0]].Indent &&
			2*t.often[t.keys[i]] < len(starts) {
			ended = true // another thing begins that is none of them
		}
		r.of[i] = int32(k) //nolint:gosec // bounded by the lines of a text
		if ended {
			r.of[i] = -1
		}
	}
	for i := len(t.lines) - 1; i > starts[len(starts)-1] && 2*t.often[t.keys[i]] < len(starts); i-- {
		r.of[i] = -1 // it stands behind the last one, and may be of all
	}
	r.findNames(t)
	return r
}

// areDeep reports whether nearly all lines of records are deeper than the first ones.
func (t *text) areDeep(starts []int) bool {
	const most, much = 90, 100 // hundredths
	all, deep := 0, 0
	for i := starts[0]; i < len(t.lines); i++ {
		if t.keys[i] == 0 || t.keys[i] == t.keys[starts[0]] {
			continue
		}
		all++
		if t.lines[i].Indent > t.lines[starts[0]].Indent {
			deep++
		}
	}
	return much*deep >= most*all
}

// findNames finds the line of each record that names it, of those at its beginning of which the text is another in
// nearly each record: the very first, or the one that says name, or else any. A line that is drawn comes last.
func (r *Records) findNames(t *text) {
	const near, much, most = 10, 100, 90 // lines, hundredths
	r.names = make([]int, len(r.Starts))
	best, sample := 0, min(1, len(r.Starts)-1)
	for i, seen := r.Starts[sample], 0; i < len(t.lines) && seen < near; i++ {
		key := t.keys[i]
		if seen > 0 && key == t.keys[r.Starts[0]] {
			break
		}
		if key == 0 {
			continue
		}
		seen++
		worth := worthOfName(t.lines[i].Body)
		if seen == 1 && worth > 1 {
			worth = 4
		}
		if worth > best && much*len(t.texts(key)) >= most*len(r.Starts) {
			best, r.naming = worth, key
		}
	}
	for k := range r.names {
		r.names[k] = -1
	}
	if r.naming == 0 {
		return
	}
	texts := t.texts(r.naming)
	for i := len(t.lines) - 1; i >= 0; i-- {
		if k := r.of[i]; k >= 0 && t.keys[i] == r.naming && 2*texts[t.lines[i].Body] < len(r.Starts) {
			r.names[k] = i
		}
	}
}

// worthOfName says how well a line may name a record, by what it begins with.
func worthOfName(body string) int {
	const longest = 40 // bytes of a field
	field := body[:min(len(body), longest)]
	if end := strings.IndexAny(field, ":=|"); end >= 0 {
		field = field[:end]
	}
	field = strings.ToLower(strings.TrimSpace(field))
	switch {
	case isDrawn(body):
		return 1
	case strings.HasSuffix(field, "name"):
		return 3
	}
	return 2
}

// texts returns how many lines with a key say what.
func (t *text) texts(key uint64) map[string]int {
	n := map[string]int{}
	for i, k := range t.keys {
		if k == key {
			n[t.lines[i].Body]++
		}
	}
	return n
}

// isDrawn reports whether a line is a rule with a few words in it.
func isDrawn(body string) bool {
	const least = 4 // signs
	n := 0
	for n < len(body) && n < least && body[n] == body[len(body)-1-n] && !isLetter(body[n]) {
		n++
	}
	return n == least || len(body) > least && body[len(body)-1] == '-' && body[len(body)-least] == '-'
}

// isLetter reports whether a byte is of a word.
func isLetter(c byte) bool { return c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' }

// keyOf is equal for lines of one depth that begin with one word, in which one number is like another. Signs and
// numbers before the word are of it.
func keyOf(l Line) uint64 {
	const start, prime, longest = 14695981039346656037, 1099511628211, 48 // bytes
	h := (uint64(start) ^ uint64(l.Indent)) * prime
	hasWord, inNumber := false, false
	for i := range min(len(l.Body), longest) {
		c := l.Body[i]
		switch {
		case c == ' ' || c == '\t':
			if hasWord {
				return h | 1
			}
			continue
		case c >= '0' && c <= '9':
			if inNumber {
				continue
			}
			inNumber, c = true, '0'
		default:
			inNumber = false
			hasWord = hasWord || isLetter(c)
		}
		h = (h ^ uint64(c)) * prime
		if hasWord && (c == ':' || c == '=' || c == '|') {
			break
		}
	}
	return h | 1
}
