package outline

import (
	"slices"

	"epitome/rewrite/linenumber"
	"epitome/rewrite/outline/definition"
)

// Defined returns names of what a file defines, each once and at most most: classes and other types first, then what
// stands in nothing else, then the rest, each in their order. There are none if the file's name does not say how it is
// read. count counts tokens.
func Defined(text string, h Hint, most int, count func(string) int) (names []string) {
	read, p := definition.ReaderOf(h.File), (*page)(nil)
	if read != nil {
		p = newPage(text, count)
	}
	if p == nil {
		return nil
	}
	n := linenumber.Of(text)
	var holding, others []string
	for _, list := range ranksOf(p, n, read) {
		for _, i := range list {
			name, holds := definition.NameIn(n.Strip(p.bareLine(i)))
			switch {
			case name == "":
			case holds && len(holding) < most && !slices.Contains(holding, name):
				holding = append(holding, name)
			case !holds && len(others) < most && !slices.Contains(others, name):
				others = append(others, name)
			}
		}
	}
	names = append(holding, others...)
	return names[:min(most, len(names))]
}
