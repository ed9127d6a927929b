// Package mark knows how a mark of epitome's begins and what the name of an artifact looks like, and what of others
// passes for one.
package mark

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Start begins every mark of epitome's.
const Start = "[epitome:"

// IsForged reports whether a line of somebody else's passes for a mark of epitome's.
func IsForged(line string) bool { return Begins(line, Start) }

// HasForged reports whether a line of a text of somebody else's passes for a mark of epitome's.
func HasForged(text string) bool {
	for line := range strings.Lines(text) {
		if IsForged(line) {
			return true
		}
	}
	return false
}

// Begins reports whether a line begins with a text as far as a reader sees: white space, control characters and
// colors may stand before it. What stands behind a carriage return begins a line too.
func Begins(line, text string) bool {
	if !strings.Contains(line, text) {
		return false
	}
	begins := true
	for i := 0; i < len(line); {
		if begins && strings.HasPrefix(line[i:], text) {
			return true
		}
		if n := lengthOfColor(line[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
		switch {
		case strings.ContainsRune("\r\n\v\f\u0085\u2028\u2029", r):
			begins = true
		case !unicode.IsSpace(r) && !unicode.Is(unicode.C, r):
			begins = false
		}
	}
	return false
}

// lengthOfColor returns how many bytes a control sequence takes at the beginning of a text; 0 if there is none.
func lengthOfColor(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	i := 2
	for i < len(s) && (s[i] < '@' || s[i] > '~') {
		i++
	}
	return min(i+1, len(s))
}
