// Package tokenize counts the tokens of texts and images.
//
// Counts of texts are those of the official encoder for o200k_base, with special tokens in a text read as plain text,
// but for two things: characters that are newer than Go's Unicode tables count as symbols, and a piece of more than
// 2 KB that the pattern does not cut (one character or one script without end) may be off by a few tokens, either way,
// for each 2 KB. A count is never larger than the text has bytes.
//
// Counting takes time in proportion to the text whatever the text is, allocates nothing once warm, and needs no
// network: the vocabulary is in the program and is read by Load, or when it is first used. Everything may be used from
// any goroutine; each that counts at the same time takes up to 48 KB of scratch space, which is kept for the next until
// memory is collected. The package does no I/O and reads no clock.
package tokenize

import (
	"bytes"
	_ "embed"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/klauspost/compress/zstd"
)

// Vocabulary is the name of the vocabulary that all texts are counted in: that of gpt-4o and everything newer.
const Vocabulary = "o200k_base"

// Load reads what counting needs, so that the first count need not wait for it. One that comes meanwhile waits for the
// same.
func Load() { knownClasses(); vocabulary() }

var mergers = sync.Pool{New: func() any { return new(merger) }}

// Count returns the number of tokens of text.
func Count(text []byte) (n int) {
	if len(text) == 0 {
		return 0
	}
	classes := knownClasses()
	ranks := vocabulary()
	m := mergers.Get().(*merger) //nolint:forcetypeassert // only mergers are put there
	defer mergers.Put(m)
	for i := 0; i < len(text); {
		end := classes.next(text, i)
		if end-i == 1 || ranks.of(text[i:end]) != noRank {
			n++
		} else {
			n += m.count(ranks, text[i:end])
		}
		i = end
	}
	return n
}

// CountString does what Count does, for a string.
func CountString(text string) int {
	return Count(unsafe.Slice(unsafe.StringData(text), len(text))) // Count only reads
}

// CountEscaped returns the number of tokens of a tool result when several calls were made at once: providers were seen
// to write such results with \uXXXX for every character beyond ASCII, which costs up to twelve times as much.
func CountEscaped(text []byte) int {
	if !slices.ContainsFunc(text, func(b byte) bool { return b >= utf8.RuneSelf }) {
		return Count(text)
	}
	var escaped []byte
	for _, unit := range utf16.Encode(bytes.Runes(text)) {
		if unit < utf8.RuneSelf {
			escaped = append(escaped, byte(unit))
		} else {
			escaped = fmt.Appendf(escaped, `\u%04x`, unit)
		}
	}
	return Count(escaped)
}

// sampleSize is how many bytes a sample has: far more than a token, as each end may cut one, or a character.
const sampleSize = 2 << 10

// About returns about how many tokens a text has, by counting samples of most bytes in all, from all parts of it. It
// depends on the text, on most and on count alone. A text that is not longer is counted whole.
func About[T string | []byte](text T, most int, count func(sample T) int) int {
	if len(text) <= most {
		return count(text)
	}
	samples := max(1, most/sampleSize)
	size := min(sampleSize, max(most, 1))
	tokens := 0
	for k := range samples { // at the middle of each of so many equal parts
		from := int(int64(len(text)-size) * int64(2*k+1) / int64(2*samples))
		tokens += count(text[from : from+size])
	}
	return min(len(text), int(float64(tokens)*float64(len(text))/float64(samples*size)))
}

// Memo remembers the counts of texts, so that a conversation that comes again with one more turn costs what that turn
// costs. It is bounded: the counts used least recently are forgotten. Its methods may be called from any goroutine.
type Memo struct {
	seed maphash.Seed
	half int

	// When new has half of all counts it becomes old, and what was old is gone. What is found in old moves to new.
	// A text is known by its hash: nobody can make two texts share one without knowing the seed.
	mu       sync.Mutex
	new, old map[uint64]int
}

// NewMemo makes a memo of at most entries counts, but at least 2. Each takes some 40 bytes.
func NewMemo(entries int) *Memo {
	return &Memo{seed: maphash.MakeSeed(), half: max(1, entries/2), new: map[uint64]int{}}
}

// worthwhile is the length in bytes from which looking a text up is cheaper than counting it.
const worthwhile = 48

// Count returns count(text), from memory if it is there. Each kind of count has a number of its own.
func (m *Memo) Count(kind uint16, text []byte, count func() int) int {
	if len(text) < worthwhile {
		return count()
	}
	k := maphash.Bytes(m.seed, text) + uint64(kind)
	m.mu.Lock()
	n, found := m.new[k]
	if found {
		m.mu.Unlock()
		return n
	}
	n, found = m.old[k]
	m.mu.Unlock()
	if !found {
		n = count()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.new) >= m.half {
		m.old, m.new = m.new, map[uint64]int{}
	}
	m.new[k] = n
	return n
}

// noRank is no token's rank, and larger than any.
const noRank = 1<<31 - 1

// ranks says which byte strings are tokens, and in which order they are merged. It does not change once made.
//
// A token is known by its keyed hash of 64 bits alone: that other bytes have the hash of a token, and are taken for it,
// is less likely than an error of the memory. Nearly all time of a count is spent waiting for memory here, so a lookup
// touches one place: a map takes half as long again.
//
// The lower bits of a token's hash say in which slot it stands, or behind which. The slot has the upper bits, and in
// the place of the lower ones its rank plus one; an empty slot has 0.
type ranks struct {
	seed  maphash.Seed
	slots [1 << slotBits]uint64
	pairs [1 << 16]int32 // ranks of two bytes, by their value as a number
	most  int            // bytes of the longest token
}

const (
	rankBits = 18 // for 200,000 tokens
	slotBits = 19 // more than half of the slots are empty
)

// packed has the tokens of the vocabulary that OpenAI publishes, in the order of their ranks, with separator between
// them, by zstd -19. A test compares them with those of tiktoken-go.
//
//go:embed o200k_base.zst
var packed []byte

// separator is in no token but the one that is this byte alone, which packed has as an empty one.
var separator = []byte{0xff}

// vocabulary returns the published vocabulary.
var vocabulary = sync.OnceValue(func() *ranks {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(fmt.Sprintf("BUG: cannot read zstd: %v", err))
	}
	defer d.Close()
	tokens, err := d.DecodeAll(packed, nil)
	if err != nil {
		panic(fmt.Sprintf("BUG: cannot read the vocabulary: %v", err))
	}
	r := &ranks{seed: maphash.MakeSeed()}
	for i := range r.pairs {
		r.pairs[i] = noRank
	}
	rank := uint64(0)
	for token := range bytes.SplitSeq(tokens, separator) {
		if len(token) == 0 {
			token = separator
		}
		r.most = max(r.most, len(token))
		if len(token) == 2 {
			r.pairs[int(token[0])<<8|int(token[1])] = int32(rank)
		}
		h := r.hash(token)
		*r.slot(h) = h>>rankBits<<rankBits | (rank + 1)
		rank++
	}
	return r
})

func (r *ranks) hash(b []byte) uint64 { return maphash.Bytes(r.seed, b) }

// slot returns the slot of the token with a hash, or the empty one where it would stand.
func (r *ranks) slot(hash uint64) *uint64 {
	for i := hash; ; i++ {
		s := &r.slots[i%uint64(len(r.slots))]
		if *s == 0 || *s>>rankBits == hash>>rankBits {
			return s
		}
	}
}

// of returns the rank of a token, noRank for any other bytes.
func (r *ranks) of(b []byte) int32 {
	if len(b) > r.most {
		return noRank
	}
	s := *r.slot(r.hash(b))
	if s == 0 {
		return noRank
	}
	return int32(s&(1<<rankBits-1)) - 1
}

// longest is the most bytes that are merged at once, as the memory that this takes is kept. Longer pieces, which are
// one character or one script without end, are cut between characters: the count may then be off by a few tokens for
// each cut.
const longest = 2 << 10

// merger is the scratch space for merging. One goroutine uses it at a time.
type merger struct {
	next, last [longest + 1]int // by index of a part's first byte, those of the parts behind it and before it
	lowest     [2 * longest]int64
}

// count returns the number of tokens of a piece that is no token itself.
func (m *merger) count(r *ranks, piece []byte) (tokens int) {
	for len(piece) > longest {
		cut := longest
		for cut > longest-4 && piece[cut]&0xc0 == 0x80 { // within a character
			cut--
		}
		tokens += m.merge(r, piece[:cut])
		piece = piece[cut:]
	}
	return tokens + m.merge(r, piece)
}

// merge returns the number of tokens of a piece of at most longest bytes. As byte-pair encoding says, of all neighbours
// that together are a token, those of the lowest rank become one, the leftmost first, until none are left.
//
// lowest[n+i] is the rank of the part at byte i together with the next one, above i itself. The lower of lowest[2*k]
// and lowest[2*k+1] stands in lowest[k], so the lowest of all in lowest[1], and a change takes log n steps.
func (m *merger) merge(r *ranks, piece []byte) (tokens int) {
	n := len(piece)
	next, last, lowest := &m.next, &m.last, &m.lowest
	for i := range n - 1 { // every byte is a part
		next[i], last[i+1] = i+1, i
		lowest[n+i] = int64(r.pairs[int(piece[i])<<8|int(piece[i+1])])<<32 | int64(i)
	}
	next[n-1] = n
	lowest[2*n-1] = noRank << 32
	for k := n - 1; k > 0; k-- {
		lowest[k] = min(lowest[2*k], lowest[2*k+1])
	}
	find := func(start int) {
		rank := int64(noRank)
		if next[start] < n {
			rank = int64(r.of(piece[start:next[next[start]]]))
		}
		k := n + start
		for lowest[k] = rank<<32 | int64(start); k > 1; k /= 2 {
			lowest[k/2] = min(lowest[k], lowest[k^1])
		}
	}
	for tokens = n; lowest[1] < noRank<<32; tokens-- {
		start := int(int32(lowest[1]))
		gone := next[start]
		next[start], last[next[gone]] = next[gone], start
		next[gone] = n
		find(gone)
		find(start)
		if start > 0 {
			find(last[start])
		}
	}
	return tokens
}
