package mark

import "iter"

// nameLength is how many characters of a to z and 2 to 7 an artifact's name has.
const nameLength = 26

// NamesLike gives each word of the text that may be the name of an artifact.
func NamesLike(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '2' && text[i] <= '7') {
				continue
			}
			if i-start == nameLength && !yield(text[start:i]) {
				return
			}
			start = i + 1
		}
	}
}
