package shorten

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// What a run of lines must have to be worth a reference: less costs more to look up than it saves.
const (
	minRepeatLines = 5
	minRepeatChars = 400 // of what the lines say, without line breaks
)

// LineIndex remembers the lines of the results that are sent whole, so that a later result that says the same again
// can point there. Two runs say the same if their lines are equal but for white space at their ends. So do two
// numbered runs that are equal but for their numbers: each line of both begins with a line number and the same
// separator, and the number grows by one from line to line. Any other number, of a port or of a match in a search, is
// a part of what the line says. It costs some 30 bytes for each line of results that could be pointed to, 45 if one of
// them is numbered. It is not to be used by several goroutines at once.
type LineIndex struct {
	seed  maphash.Seed
	sums  rolling // empty, with its base
	Held  []HeldResult
	Total uint32 // lines in Held
	// at has the first line of each run, by the run's key. Lines are counted over all of Held. Of several results that
	// have the run it is the latest, and there the first place.
	at   map[uint32]uint32
	of   map[int]int // the place in Held of each item's result
	gone int         // results of Held that were dropped, which at still knows
}

// HeldResult is a result with at least one run worth a reference.
type HeldResult struct {
	item   int
	first  uint32   // how many lines the results before it have
	hashes []uint64 // what each line says; two lines are taken to say the same if these are equal
	Counts []count  // of the same lines; nil if none of them is numbered
	keys   []uint32 // of the smallest run worth a reference that begins at each line, as far as there is one
}

// Repeat is a run of lines that stand already in an earlier result, all of them and in the same order. What may differ
// is told at LineIndex.
type Repeat struct {
	Start, End  int // bytes of the text: whole lines
	First, Last int // numbers of these lines in the text, from 1
	Item        int // that has them
	At          int // number of the first of them there, from 1
	count       int // lines
}

// line is a line of a text.
type line struct {
	start int    // byte of the text
	chars int    // in what it says
	hash  uint64 // of what it says
	bare  int    // characters behind its line number
	count
}

// count is what a line is without its line number.
type count struct {
	// rest is a hash of the separator and what stands behind it. It is 0 if neither neighbour has the number next to
	// its own.
	rest uint64
	on   bool // its number is the next one after that of the line before, with the same separator
}

// NewLineIndex remembers nothing yet. What is found does not depend on the seed, which is different each time.
func NewLineIndex() *LineIndex {
	seed := maphash.MakeSeed()
	return &LineIndex{seed: seed, sums: newRolling(maphash.String(seed, "base")), at: map[uint32]uint32{},
		of: map[int]int{}}
}

// anyNumbered reports whether any of the lines has a line number.
func anyNumbered(all []line) bool {
	return slices.ContainsFunc(all, func(x line) bool { return x.on })
}

// Add remembers the item, a result that is visible whole and is not remembered yet.
func (l *LineIndex) Add(item int, text string) {
	all := l.splitLines(text)
	keys := l.keys(all)
	if len(keys) == 0 {
		return
	}
	hashes := make([]uint64, len(all))
	for i := range all {
		hashes[i] = all[i].hash
	}
	l.hold(HeldResult{item: item, hashes: hashes, Counts: countsOf(all), keys: keys})
}

// countsOf returns the counts of the lines; nil if none is numbered.
func countsOf(all []line) []count {
	if !anyNumbered(all) {
		return nil
	}
	list := make([]count, len(all))
	for i := range all {
		list[i] = all[i].count
	}
	return list
}

func (l *LineIndex) hold(r HeldResult) {
	r.first = l.Total
	l.Total += uint32(len(r.hashes)) //nolint:gosec // so many lines fit into no memory
	l.of[r.item] = len(l.Held)
	l.Held = append(l.Held, r)
	for i, key := range r.keys {
		if known, ok := l.at[key]; !ok || known < r.first {
			l.at[key] = r.first + uint32(i) //nolint:gosec // as above
		}
	}
}

// Drop forgets the item, which is not visible whole any more, and returns what restore needs to take it back. The next
// repeats pays what dropping costs, once.
func (l *LineIndex) Drop(item int) (gone []HeldResult) {
	k, ok := l.of[item]
	if !ok || l.Held[k].hashes == nil {
		return nil
	}
	r := &l.Held[k]
	gone = append(gone, *r)
	r.hashes, r.Counts, r.keys = nil, nil, nil
	l.gone++
	return gone
}

// Restore takes back a result that drop has returned. Between the two no repeats may have been looked for.
func (l *LineIndex) Restore(gone HeldResult) {
	if r := &l.Held[l.of[gone.item]]; r.hashes == nil {
		*r = gone
		l.gone--
	}
}

// renew rebuilds the index from the results that are left.
func (l *LineIndex) renew() {
	was := l.Held
	l.Held, l.Total, l.at, l.of, l.gone = nil, 0, map[uint32]uint32{}, map[int]int{}, 0
	for _, r := range was {
		if r.hashes != nil {
			l.hold(r)
		}
	}
}

// Repeats finds the runs of the text that stand in remembered results, from its beginning to its end and each as long
// as it goes on there. What it leaves out between them holds no run worth a reference that any one result has. Of
// several results that have the first lines of a run, the latest is named.
func (l *LineIndex) Repeats(text string) []Repeat { return l.RepeatsBeside(text, nil) }

// RepeatsBeside does the same, but for the lines that are kept: they are in no run. Those behind the end of kept are
// not kept.
func (l *LineIndex) RepeatsBeside(text string, kept []bool) []Repeat {
	if l.gone > 0 {
		l.renew()
	}
	if len(l.Held) == 0 || len(text) < minRepeatChars {
		return nil
	}
	all := l.splitLines(text)
	keys := l.keys(all)
	var found []Repeat
	stop := 0 // the first line behind i that is kept
	for i := 0; i < len(keys); {
		for stop = max(stop, i); stop < len(all) && (stop >= len(kept) || !kept[stop]); {
			stop++
		}
		r, at, n := l.longestRepeat(all[i:stop], keys[i])
		if n < minRepeatLines || charsOf(all[i:i+n]) < minRepeatChars {
			if i++; i+n > stop { // all up to there is too little
				i = stop + 1
			}
			continue
		}
		end := len(text)
		if i+n < len(all) {
			end = all[i+n].start
		}
		found = append(found, Repeat{
			Start: all[i].start, End: end,
			First: i + 1, Last: i + n,
			Item: r.item, At: at + 1, count: n,
		})
		i += n
	}
	return found
}

// longestRepeat returns how many of the lines stand in the result that the key leads to, and from which line on there.
func (l *LineIndex) longestRepeat(all []line, key uint32) (r *HeldResult, at, n int) {
	found, ok := l.at[key]
	if !ok {
		return nil, 0, 0
	}
	// The last result that begins at this line or before it.
	i := sort.Search(len(l.Held), func(i int) bool { return l.Held[i].first > found }) - 1
	r = &l.Held[i]
	at = int(found - r.first)
	return r, at, max(equalLines(all, r.hashes[at:]), r.numberedLines(all, at))
}

// equalLines returns how many of the lines say the same as those with the hashes.
func equalLines(all []line, hashes []uint64) (n int) {
	for n < len(all) && n < len(hashes) && all[n].hash == hashes[n] {
		n++
	}
	return n
}

// numberedLines returns how many of the lines are the same as those of the result from line at on, but for line
// numbers that count up in both.
func (r *HeldResult) numberedLines(all []line, at int) (n int) {
	if r.Counts == nil {
		return 0
	}
	there := r.Counts[at:]
	for n < len(all) && n < len(there) && all[n].rest != 0 && all[n].rest == there[n].rest &&
		(n == 0 || all[n].on && there[n].on) {
		n++
	}
	return n
}

// charsOf returns how many characters the lines say: without their numbers if they count up.
func charsOf(all []line) int {
	var w extent
	for i := range all {
		w.add(&all[i], i > 0)
	}
	return w.size()
}

// extent measures a run of lines that grows and shrinks.
type extent struct{ lines, breaks, chars, bare int }

// add takes a line in at the end of the run. inner says that the run has a line already.
func (w *extent) add(x *line, inner bool) {
	w.lines, w.chars, w.bare = w.lines+1, w.chars+x.chars, w.bare+x.bare
	if inner && !x.on {
		w.breaks++
	}
}

// drop takes the first line of the run out. next is the one that is the first then.
func (w *extent) drop(x, next *line) {
	w.lines, w.chars, w.bare = w.lines-1, w.chars-x.chars, w.bare-x.bare
	if w.lines > 0 && !next.on {
		w.breaks--
	}
}

// isNumbered reports whether the lines of the run are numbered one after the other.
func (w *extent) isNumbered() bool { return w.lines > 1 && w.breaks == 0 }

// size returns how many characters the run says.
func (w *extent) size() int {
	if w.isNumbered() {
		return w.bare
	}
	return w.chars
}

// isWorth reports whether the run is worth a reference.
func (w *extent) isWorth() bool { return w.lines >= minRepeatLines && w.size() >= minRepeatChars }

// splitLines takes a text apart. What follows its last line break is a line if there is anything.
func (l *LineIndex) splitLines(text string) []line {
	all := make([]line, 0, strings.Count(text, "\n")+1)
	var before numeral
	here := numeralOf(text)
	for start := 0; start < len(text); {
		end, next := len(text), len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end, next = start+i, start+i+1
		}
		behind := numeralOf(text[next:])
		says := strings.TrimRight(text[start:end], " \t\r\v\f")
		x := line{start: start, chars: utf8.RuneCountInString(says), hash: maphash.String(l.seed, says)}
		if x.bare = x.chars; here.follows(before) || behind.follows(here) {
			from := min(here.digits, len(says)) // the separator is a part of what is compared
			x.rest, x.on = maphash.String(l.seed, says[from:])|1, here.follows(before)
			x.bare = utf8.RuneCountInString(says[min(here.size, len(says)):])
		}
		all = append(all, x)
		before, here = here, behind
		start = next
	}
	return all
}

// numeral is what may be a line number, at the beginning of a line.
type numeral struct {
	number       int
	sign         string // that parts it from the text; empty if there is no number
	digits, size int    // where the number ends and where the sign ends, in bytes of the line
}

// follows reports whether the number is the next one after that of a line before, written in the same way.
func (n numeral) follows(before numeral) bool {
	return n.sign != "" && n.sign == before.sign && n.number == before.number+1
}

// numeralOf returns the number at the beginning of s, if it is followed by what may end a line number. A time of day is
// none.
func numeralOf(s string) (n numeral) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	from := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' && i < from+9 {
		n.number = 10*n.number + int(s[i]-'0')
		i++
	}
	if i == from {
		return numeral{}
	}
	for _, sign := range [...]string{"\t", "→", ":", ". ", "|"} {
		if strings.HasPrefix(s[i:], sign) {
			if end := i + len(sign); sign == ":" && end < len(s) && s[end] >= '0' && s[end] <= '9' {
				return numeral{}
			}
			n.sign, n.digits, n.size = sign, i, i+len(sign)
			return n
		}
	}
	return numeral{}
}

// keys gives for each line the key of the smallest run worth a reference that begins there; the last lines have none.
// The key of a run depends on nothing but its lines: of a numbered one it is made of what stands behind the numbers.
func (l *LineIndex) keys(all []line) (keys []uint32) {
	if len(all) < minRepeatLines {
		return nil
	}
	keys = make([]uint32, 0, len(all)-minRepeatLines+1)
	var w extent
	says, rest, end := l.sums, l.sums, 0
	numbered := anyNumbered(all) // else the sum of what stands behind numbers is never looked at
	for i := range all {
		for ; !w.isWorth(); end++ {
			if end == len(all) {
				return keys
			}
			w.add(&all[end], w.lines > 0)
			says.push(all[end].hash)
			if numbered {
				rest.push(all[end].rest)
			}
		}
		if w.isNumbered() {
			keys = append(keys, uint32(rest.value>>1)) //nolint:gosec // a part of it
		} else {
			keys = append(keys, uint32(says.value)) //nolint:gosec // its low half
		}
		says.pop(all[i].hash)
		if numbered {
			rest.pop(all[i].rest)
		}
		w.drop(&all[i], &all[min(i+1, len(all)-1)])
	}
	return keys
}

// rolling is a sum over a run of hashes that can grow at its end and shrink at its beginning: a polynomial modulo
// 2^61-1 at a secret base. It only leads to places where equal lines may stand; whether they do is looked up there.
type rolling struct {
	value         uint64
	top           uint64 // base to the number of hashes in the sum
	base, inverse uint64
}

const prime = 1<<61 - 1

func newRolling(secret uint64) rolling {
	base := 2 + secret%(prime-2)
	inverse := uint64(1)
	for e, square := uint64(prime-2), base; e > 0; e >>= 1 { // by Fermat
		if e&1 == 1 {
			inverse = times(inverse, square)
		}
		square = times(square, square)
	}
	return rolling{top: 1, base: base, inverse: inverse}
}

func (r *rolling) push(hash uint64) {
	r.value = (times(r.value, r.base) + hash%prime) % prime
	r.top = times(r.top, r.base)
}

func (r *rolling) pop(hash uint64) {
	r.top = times(r.top, r.inverse)
	r.value = (r.value + prime - times(hash%prime, r.top)) % prime
}

// times returns a × b modulo prime; both are less than it.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	sum := lo&prime + (hi<<3 | lo>>61)
	if sum >= prime {
		sum -= prime
	}
	return sum
}
