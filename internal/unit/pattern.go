package unit

import "strings"

// Match reports whether name fits the pattern, in which * stands for any run of characters and ? for one byte. Case
// does not matter.
func Match(pattern, name string) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	star, mark := -1, 0 // where the last * stands, and how far of name it has taken
	i, j := 0, 0
	for i < len(name) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, mark, j = j, i, j+1
		case j < len(pattern) && (pattern[j] == '?' || pattern[j] == name[i]):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[j:], "*") == ""
}
