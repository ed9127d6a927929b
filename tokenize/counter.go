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
	"fmt"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
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
	classes, ranks := knownClasses(), vocabulary()
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
	for _, r := range string(text) {
		if r < utf8.RuneSelf {
			escaped = append(escaped, byte(r))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, unit)
		}
	}
	return Count(escaped)
}

// sampleSize is how many bytes a sample has: far more than a token, as each end may cut one, or a character.
const sampleSize = 2 << 10

// About returns about how many tokens a text has, by counting samples from all parts of it: no more than most bytes, or
// a little more. It depends on the text, on most and on count alone. A text that is not longer is counted whole.
func About(text []byte, most int, count func(sample []byte) int) int {
	if len(text) <= most {
		return count(text)
	}
	samples, size := max(1, most/sampleSize), min(sampleSize, max(most, 1))
	tokens := 0
	for k := range samples {
		from := int(int64(len(text)-size) * int64(2*k+1) / int64(2*samples))
		tokens += count(text[from : from+size])
	}
	return min(len(text), int(float64(tokens)*float64(len(text))/float64(samples*size)))
}
