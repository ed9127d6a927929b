package tokenize

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
