package summarize

import (
	"iter"
	"strings"
)

// seen has the pairs of neighbouring words in all texts that a reader of the summary sees, as hashes. A text is worth
// its room by its news. Pairs tell more than words: a correction may have old words alone, in a new order.
type seen map[uint64]bool

// Shares of a text that have to be new.
const (
	newsOfWhole = 0.4 // of a message of the user that stands whole, and of the agent's words
	newsOfPart  = 0.6 // of a sentence of a message that does not stand whole
	newsOfLine  = 0.5 // of the words of a line of a result
)

func (s seen) add(text string) {
	for w := range words(text) {
		s[w.hash] = true
		s[w.pair] = true
	}
}

// news returns which share of the pairs of words in a text is new.
func (s seen) news(text string) float64 {
	fresh, all := 0, 0
	for w := range words(text) {
		all++
		if !s[w.pair] {
			fresh++
		}
	}
	return float64(fresh) / float64(max(all, 1))
}

// newWords returns which share of the bytes of a text's words is in new words.
func (s seen) newWords(text string) float64 {
	fresh, all := 0, 0
	for w := range words(text) {
		all += w.size
		if !s[w.hash] {
			fresh += w.size
		}
	}
	return float64(fresh) / float64(max(all, 1))
}

// word is a word of a text, by hashes.
type word struct {
	hash, pair uint64 // of the word, and of it and the one before
	size       int    // bytes
}

// words yields the words of a text. A word has letters, digits and, within it, the signs of paths. All letters and signs
// of other scripts than Latin belong to words: a text without spaces is one word, and new.
func words(text string) iter.Seq[word] {
	const basis, prime = 14695981039346656037, 1099511628211 // of FNV-1a
	return func(yield func(word) bool) {
		before, hash, upToSign := uint64(0), uint64(basis), uint64(basis) // upToSign is without signs at the end
		start := 0
		for i := 0; i <= len(text); i++ {
			c := byte(' ') // ends the last word
			if i < len(text) {
				c = text[i]
			}
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			isLetter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
			isWithin := isLetter || hash != basis && strings.IndexByte("-./:@+~$", c) >= 0
			switch {
			case isWithin:
				if hash == basis {
					start = i
				}
				hash = (hash ^ uint64(c)) * prime
				if isLetter {
					upToSign = hash
				}
			case hash != basis:
				if !yield(word{hash: upToSign, pair: before*prime ^ upToSign, size: i - start}) {
					return
				}
				before, hash, upToSign = upToSign, basis, basis
			}
		}
	}
}
