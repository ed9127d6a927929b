package wording

const hashStart, hashPrime = 14695981039346656037, 1099511628211

// number stands for each number, and for what has digits in it or is a path: such words name things.
const number uint64 = 1

// read appends the words of a text, neighbours that are numbers as one; ok is false if they are too many.
func read(text []byte, words []uint64) (all []uint64, ok bool) {
	for start, end := nextWord(text, 0); start < end; start, end = nextWord(text, end) {
		w := wordOf(text[start:end])
		if n := len(words); n > 0 && w == number && words[n-1] == number {
			continue
		}
		if len(words) == mostWords {
			return nil, false
		}
		words = append(words, w)
	}
	return words, true
}

// nextWord is where the next word of a text begins and ends, from a place on; both are one place if there is none.
func nextWord(text []byte, at int) (start, end int) {
	for at < len(text) && isBetween(text[at]) {
		at++
	}
	for start = at; at < len(text) && !isBetween(text[at]); {
		at++
	}
	return start, at
}

// isBetween reports whether a sign stands between words.
func isBetween(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '=', ':', ',', ';', '(', ')', '[', ']', '<', '>', '|', '"', '\\':
		return true
	}
	return false
}

// wordOf returns what a word is compared by.
func wordOf(word []byte) uint64 {
	const shortestHex = 6
	h, hex := uint64(hashStart), len(word) >= shortestHex
	for i := range len(word) {
		c := word[i]
		if c >= '0' && c <= '9' || c == '/' {
			return number
		}
		hex = hex && (c|0x20 >= 'a' && c|0x20 <= 'f')
		h = (h ^ uint64(c)) * hashPrime
	}
	if hex {
		return number
	}
	return h
}
