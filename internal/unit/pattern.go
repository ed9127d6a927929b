package unit

import (
	"strings"

	"github.com/tidwall/match"
)

// Match reports whether name fits the pattern, in which * stands for any run of characters and ? for one. Case does not
// matter.
func Match(pattern, name string) bool {
	return match.Match(strings.ToLower(name), strings.ToLower(pattern))
}
