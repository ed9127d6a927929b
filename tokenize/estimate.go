package tokenize

import "unicode/utf8"

// sampleSize is how many bytes a sample has: longer than a token by far, as each end of one may cut a token.
const sampleSize = 2 << 10

// About returns about how many tokens a text has, by counting samples from all parts of it: no more than most bytes, or
// a little more. It depends on the text, on most and on count alone. A text that is not longer is counted whole.
func About(text []byte, most int, count func(sample []byte) int) int {
	if len(text) <= most {
		return count(text)
	}
	samples := max(1, most/sampleSize)
	size := min(sampleSize, max(most, 1))
	tokens, looked := 0, 0
	for k := range samples {
		from := int(int64(len(text)-size) * int64(2*k+1) / int64(2*samples))
		from, end := runeAt(text, from), runeAt(text, from+size)
		looked += end - from
		tokens += count(text[from:end])
	}
	return min(len(text), int(float64(tokens)*float64(len(text))/float64(max(looked, 1))))
}

// runeAt is the beginning of the character that the byte at i is of, or i where there is none.
func runeAt(text []byte, i int) int {
	for k := i; k > i-utf8.UTFMax && k > 0 && k < len(text); k-- {
		if utf8.RuneStart(text[k]) {
			return k
		}
	}
	return min(i, len(text))
}
