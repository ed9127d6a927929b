package rewrite

import (
	"hash/maphash"
	"math/bits"
	"sort"
	"strings"
	"unicode/utf8"
)

// What a run of lines must have to be worth a reference: less costs more to look up than it saves.
const (
	minRepeatLines = 5
	minRepeatChars = 400 // of what the lines say, without line breaks
)

// lineIndex remembers the lines of the results that are sent whole, so that a later result that says the same again can point
// there. A line says what stands in it without a leading line number, as tools print it that read files, and without
// white space at its end. It costs some 30 bytes for each line of results that could be pointed to. It is not to be
// used by several goroutines at once.
type lineIndex struct {
	seed  maphash.Seed
	sums  rolling // empty, with its base
	held  []heldResult
	total uint32            // lines in held
	at    map[uint32]uint32 // key of a run -> its first line, counted over all of held: of the latest result that has it, the first
	gone  int               // results in held that were dropped, which at still knows
}

// heldResult is a result with at least one run worth a reference.
type heldResult struct {
	item   int
	first  uint32   // how many lines the results before it have
	hashes []uint64 // what each line says; two lines are taken to say the same if these are equal
	keys   []uint32 // of the smallest run worth a reference that begins at each line, as far as there is one
}

// repeat is a run of lines that stand already in an earlier result, all of them and in the same order, but for line
// numbers and white space at their ends.
type repeat struct {
	start, end  int // bytes of the text: whole lines
	first, last int // numbers of these lines in the text, from 1
	item        int // that has them
	at          int // number of the first of them there, from 1
	count       int // lines
}

// line is a line of a text.
type line struct {
	start int    // byte of the text
	chars int    // in what it says
	hash  uint64 // of what it says
}

// newLines remembers nothing yet. What is found does not depend on the seed, which is different each time.
func newLines() *lineIndex {
	seed := maphash.MakeSeed()
	return &lineIndex{seed: seed, sums: newRolling(maphash.String(seed, "base")), at: map[uint32]uint32{}}
}

// add remembers the item, a result that is visible whole and is not remembered yet.
func (l *lineIndex) add(item int, text string) {
	all := l.read(text)
	keys := l.keys(all)
	if len(keys) == 0 {
		return
	}
	hashes := make([]uint64, len(all))
	for i := range all {
		hashes[i] = all[i].hash
	}
	l.hold(heldResult{item: item, hashes: hashes, keys: keys})
}

func (l *lineIndex) hold(r heldResult) {
	r.first = l.total
	l.total += uint32(len(r.hashes)) //nolint:gosec // so many lines fit into no memory
	l.held = append(l.held, r)
	for i, key := range r.keys {
		if known, ok := l.at[key]; !ok || known < r.first {
			l.at[key] = r.first + uint32(i) //nolint:gosec // as above
		}
	}
}

// drop forgets the item, which is not visible whole any more, and returns what restore needs to take it back. The next repeats
// pays what dropping costs, once.
func (l *lineIndex) drop(item int) (gone []heldResult) {
	for i := range l.held {
		if r := &l.held[i]; r.item == item && r.hashes != nil {
			gone = append(gone, *r)
			r.hashes, r.keys = nil, nil
			l.gone++
		}
	}
	return gone
}

// restore takes back a result that drop has returned. Between the two no repeats may have been looked for.
func (l *lineIndex) restore(gone heldResult) {
	for i := range l.held {
		if r := &l.held[i]; r.item == gone.item && r.first == gone.first && r.hashes == nil {
			*r = gone
			l.gone--
		}
	}
}

// renew rebuilds the index from the results that are left.
func (l *lineIndex) renew() {
	was := l.held
	l.held, l.total, l.at, l.gone = nil, 0, map[uint32]uint32{}, 0
	for _, r := range was {
		if r.hashes != nil {
			l.hold(r)
		}
	}
}

// repeats finds the runs of the text that stand in remembered results, from its beginning to its end and each as long as
// it goes on there. What it leaves out between them holds no run worth a reference that any one result has. Of several
// results that have the first lines of a run, the latest is named.
func (l *lineIndex) repeats(text string) []repeat {
	if l.gone > 0 {
		l.renew()
	}
	if len(l.held) == 0 || len(text) < minRepeatChars {
		return nil
	}
	all := l.read(text)
	keys := l.keys(all)
	var found []repeat
	for i := 0; i < len(keys); {
		r, at, n := l.longest(all[i:], keys[i])
		if n < minRepeatLines || charsOf(all[i:i+n]) < minRepeatChars {
			i++
			continue
		}
		end := len(text)
		if i+n < len(all) {
			end = all[i+n].start
		}
		found = append(found, repeat{
			start: all[i].start, end: end,
			first: i + 1, last: i + n,
			item: r.item, at: at + 1, count: n,
		})
		i += n
	}
	return found
}

// longest is how many of the lines stand in the result that the key leads to, and from which line on there.
func (l *lineIndex) longest(all []line, key uint32) (r *heldResult, at, n int) {
	found, ok := l.at[key]
	if !ok {
		return nil, 0, 0
	}
	// The last result that begins at this line or before it.
	i := sort.Search(len(l.held), func(i int) bool { return l.held[i].first > found }) - 1
	r = &l.held[i]
	at = int(found - r.first)
	for n < len(all) && at+n < len(r.hashes) && all[n].hash == r.hashes[at+n] {
		n++
	}
	return r, at, n
}

func charsOf(all []line) (chars int) {
	for i := range all {
		chars += all[i].chars
	}
	return chars
}

// read takes a text apart. What follows its last line break is a line if there is anything.
//
// A number counts as a line number only if the line before has the number before it, or the line behind the number
// behind it: any other one, of a port or of a match in a search, is a part of what the line says.
func (l *lineIndex) read(text string) []line {
	all := make([]line, 0, strings.Count(text, "\n")+1)
	before, number, size := -1, -1, 0
	if text != "" {
		number, size = lineNumber(text)
	}
	for start := 0; start < len(text); {
		end, next := len(text), len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end, next = start+i, start+i+1
		}
		behind, behindSize := lineNumber(text[next:])
		says := strings.TrimRight(text[start:end], " \t\r\v\f")
		if number >= 0 && (before >= 0 && number == before+1 || behind == number+1) {
			says = says[min(size, len(says)):]
		}
		all = append(all, line{start, utf8.RuneCountInString(says), maphash.String(l.seed, says)})
		before, number, size = number, behind, behindSize
		start = next
	}
	return all
}

// lineNumber is the number at the beginning of s, if it is followed by what may end a line number, and how many bytes
// it takes with that. Without one it is -1 and 0.
func lineNumber(s string) (number, size int) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	digits := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' && i < digits+9 {
		number = 10*number + int(s[i]-'0')
		i++
	}
	if i == digits {
		return -1, 0
	}
	for _, sign := range [...]string{"\t", "→", ": ", ":", ". ", "|"} {
		if strings.HasPrefix(s[i:], sign) {
			return number, i + len(sign)
		}
	}
	return -1, 0
}

// keys gives for each line the key of the smallest run worth a reference that begins there; the last lines have none.
func (l *lineIndex) keys(all []line) []uint32 {
	starts, chars := len(all), 0
	for starts > 0 && (len(all)-starts < minRepeatLines || chars < minRepeatChars) {
		starts--
		chars += all[starts].chars
	}
	if len(all)-starts < minRepeatLines || chars < minRepeatChars {
		return nil
	}
	keys := make([]uint32, starts+1)
	sum := l.sums
	end := 0
	chars = 0
	for i := range keys {
		for end-i < minRepeatLines || chars < minRepeatChars {
			sum.push(all[end].hash)
			chars += all[end].chars
			end++
		}
		keys[i] = uint32(sum.value) //nolint:gosec // its low half
		sum.pop(all[i].hash)
		chars -= all[i].chars
	}
	return keys
}

// rolling is a sum over a run of hashes that can grow at its end and shrink at its beginning: a polynomial modulo 2^61-1 at
// a secret base. It only leads to places where equal lines may stand; whether they do is looked up there.
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

// times is a × b modulo prime; both are less than it.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	sum := lo&prime + (hi<<3 | lo>>61)
	if sum >= prime {
		sum -= prime
	}
	return sum
}
