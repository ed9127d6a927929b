package recap

import "strings"

// eachName gives f each name in a text: a path, words joined by dots or underscores, a word with a capital inside, or a
// number of six digits and more.
func eachName(text string, f func(name string)) {
	const shortest, longest = 4, 80
	for start, i := 0, 0; i <= len(text); i++ {
		if i < len(text) && inName(text[i]) {
			continue
		}
		if word := strings.Trim(text[start:i], ".-/:@+~$"); len(word) >= shortest && len(word) <= longest && isName(word) {
			f(word)
		}
		start = i + 1
	}
}

func inName(c byte) bool {
	return isWordByte(c) || strings.IndexByte("./-:@+~$", c) >= 0
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isName(word string) bool {
	digits, letters := 0, false
	for i := range len(word) {
		c := word[i]
		switch isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'; {
		case c >= '0' && c <= '9':
			digits++
		case i > 0 && isLetter && c <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z':
			return true
		case i > 0 && letters && (c == '_' || (c == '.' || c == '/') && isWordByte(word[i-1]) && isWordByte(word[i+1])):
			return true
		default:
			letters = letters || isLetter
		}
	}
	return digits >= 6 && digits == len(word)
}
