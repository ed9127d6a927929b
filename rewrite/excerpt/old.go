package excerpt

import "strings"

// Outcome is how a run ended by its own words, which nobody reads.
type Outcome int8

// Unknown is the outcome of every text.
const (
	Unknown Outcome = iota
	Succeeded
	Failed
)

// Reading is what the output of a command tells.
type Reading struct {
	Outcome Outcome
	Line    string
}

// Read reads the output of a command.
func Read(text string) Reading {
	line, _, _ := strings.Cut(Failure(text), "\n")
	return Reading{Line: line}
}
