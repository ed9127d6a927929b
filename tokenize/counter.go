// Package tokenize counts the tokens of a text.
//
// Counts are those of the official encoders for o200k_base, with special tokens in a text read as
// plain text, but for two things: characters that are newer than Go's Unicode tables count as symbols, and a piece
// of more than 8 KB that the pattern does not cut (one character or one script without end) may be off by a few
// tokens, either way, for each 8 KB. A count is never larger than the text has bytes.
//
// Counting takes time in proportion to the text whatever the text is, allocates nothing once warm, and needs no
// network: the vocabularies are in the program and are read when they are first used. Everything may be used from any
// goroutine; each that counts at the same time takes some 70 KB of scratch space, which is kept for the next until
// memory is collected. The package does no I/O and reads no clock.
package tokenize

import (
	"sync"
	"unsafe"
)

// Vocabulary names a way to cut text into tokens.
type Vocabulary uint8

// The vocabularies.
const (
	O200k Vocabulary = iota // gpt-4o and everything newer
)

func (v Vocabulary) String() string {
	return [...]string{"o200k_base"}[v]
}

// Counter counts in one vocabulary.
type Counter struct {
	vocabulary Vocabulary
	classes    *classes
	ranks      *ranks
	mergers    sync.Pool // of *merger
}

// Counters has one counter of each vocabulary, made when it is first asked for. The zero value is ready.
type Counters struct{}

// For returns the counter of a vocabulary. An error means that the program was built without its file.
func (*Counters) For(v Vocabulary) (*Counter, error) { return counters[v]() }

// counters are the same whoever counts: the vocabularies are in the program and do not change.
var counters = [...]func() (*Counter, error){
	O200k: sync.OnceValues(func() (*Counter, error) { return newCounter(O200k, 199_998) }),
}

var knownClasses = sync.OnceValue(newClasses)

// newCounter returns the counter of a vocabulary with so many tokens.
func newCounter(v Vocabulary, tokens int) (*Counter, error) {
	r, err := loadRanks(v.String()+".tiktoken", tokens)
	if err != nil {
		return nil, err
	}
	return &Counter{vocabulary: v, classes: knownClasses(), ranks: r,
		mergers: sync.Pool{New: func() any { return new(merger) }}}, nil
}

// Vocabulary returns the vocabulary that the counter counts in.
func (c *Counter) Vocabulary() Vocabulary { return c.vocabulary }

// Count returns the number of tokens of text.
func (c *Counter) Count(text []byte) (n int) {
	if len(text) == 0 {
		return 0
	}
	m := c.mergers.Get().(*merger) //nolint:forcetypeassert // only mergers are put there
	for i := 0; i < len(text); {
		end := c.classes.next(text, i)
		n += c.piece(m, text, i, end)
		i = end
	}
	c.mergers.Put(m)
	return n
}

// CountString does what Count does, for a string.
func (c *Counter) CountString(text string) int {
	return c.Count(unsafe.Slice(unsafe.StringData(text), len(text))) // Count only reads
}

// piece returns the number of tokens of the piece text[i:end].
func (c *Counter) piece(m *merger, text []byte, i, end int) int {
	if end-i == 1 || c.ranks.of(text[i:end]) != noRank {
		return 1
	}
	return m.count(c.ranks, text[i:end])
}
