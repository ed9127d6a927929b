package shell

import "strings"

// Question is what a command asks that says no by its exit code 1.
type Question uint8

// The questions. Most commands ask none: their exit code 1 says that they failed.
const (
	NoQuestion Question = iota
	Match               // whether anything matches
	Sameness            // whether things are the same
	Condition           // whether a condition holds
)

// questionOf is what a command asks. list are its words.
func questionOf(list []token) Question {
	if len(list) == 0 || !list[0].sure {
		return NoQuestion
	}
	name := list[0].text
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep":
		return Match
	case "diff", "cmp":
		return Sameness
	case "test", "[", "[[":
		return Condition
	case "git":
		return gitQuestion(list[1:])
	}
	return NoQuestion
}

// gitQuestion is what a command of git asks.
func gitQuestion(args []token) Question {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		n := 1
		if args[0].text == "-C" || args[0].text == "-c" {
			n = min(2, len(args))
		}
		args = args[n:]
	}
	if len(args) == 0 {
		return NoQuestion
	}
	switch name := args[0].text; {
	case name == "grep":
		return Match
	case name == "diff" && (gives(args, "--quiet") || gives(args, "--exit-code")):
		return Sameness
	case name == "merge-base" && gives(args, "--is-ancestor"):
		return Condition
	}
	return NoQuestion
}

// cannotSayNo reports whether a command never ends with exit code 1 unless it says why.
func cannotSayNo(list []token) bool {
	if len(list) == 0 {
		return false
	}
	switch list[0].text {
	case "cd", "pushd", "popd", "echo", "printf", "pwd", "export", "true", ":", "sleep", "clear", "date":
		return true
	}
	return false
}
