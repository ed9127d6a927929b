package activity

import (
	"regexp"
	"slices"
	"strings"

	"epitome/offload/excerpt"
)

// endOfRun reads how a command ended from its last lines: a line reports a failure if no good verdict comes behind it.
// A count of failures outweighs a verdict close behind, as of the tests that passed. Where neither tells, words of
// failure near the ends make it unclear.
func endOfRun(said string) ending {
	const last, close = 1_000, 4 // bytes, lines
	screen, _ := excerpt.Screen(ends(said, last))
	if !mayFail(screen) {
		return noFailure
	}
	tail, _ := excerpt.Screen(said[max(0, len(said)-last):])
	lines := strings.Split(tail, "\n")
	if len(said) > last {
		lines = lines[1:] // the first one is cut
	}
	isWon := func(line string) bool { return good.MatchString(line) || won.MatchString(line) }
	failedAt, countAt := -1, -1
	for i, line := range lines {
		if !mayFail(line) {
			continue
		}
		line = strings.TrimRight(line, "\r")
		isCount := lost.MatchString(line)
		if isCount && !isWon(line) { // one with both is whole
			countAt = i
		}
		if isCount || failing.MatchString(line) && !good.MatchString(line) {
			failedAt = i
		}
	}
	wonAt := len(lines) - 1 // the last good verdict behind the failure
	for wonAt > failedAt && !isWon(lines[wonAt]) {
		wonAt--
	}
	switch {
	case failedAt >= 0 && (wonAt == failedAt || countAt >= 0 && wonAt-countAt <= close):
		return failed
	case wonAt > failedAt:
		return noFailure
	case hasAny(strings.ToLower(screen), foreign) || excerpt.Failure(screen, false) != "":
		return unclear
	}
	return noFailure
}

// mayFail reports whether a text has a word that lines about failures have.
func mayFail(text string) bool {
	text = strings.ToLower(text)
	return excerpt.SpeaksOfFailure(text) || hasAny(text, hints) || hasAny(text, foreign)
}

func hasAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// OnlyShows reports whether a call returns nothing but text that others wrote: of a file, a search, a page or a log. The
// name of the tool tells, or the last part of a command.
func (c *Call) OnlyShows() bool { return c.Kind.Looks() || c.shows }

// showsFiles reports whether a command only shows text that others wrote: its last part, but for parts like echo,
// begins with a program that does.
func showsFiles(command string) bool {
	command = quoted.ReplaceAllString(command, "''") // a pattern may have a separator
	for _, part := range slices.Backward(separator.Split(command, -1)) {
		if part != "" && !isNeutral.MatchString(part) {
			return showsText.MatchString(part)
		}
	}
	return false
}

var (
	separator = regexp.MustCompile(`\s*(?:&&|\|\||[;\n])\s*`)
	quoted    = regexp.MustCompile(`'[^'\n]*'|"(?:[^"\\\n]|\\.)*"`)
)
