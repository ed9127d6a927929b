package shell

import "strings"

// Question is what a command asks that says no by its exit code.
type Question uint8

// The questions. Most commands ask none: their exit code 1 says that they failed.
const (
	NoQuestion Question = iota
	Match               // whether anything matches
	Sameness            // whether things are the same
	Condition           // whether a condition holds
	Rest                // whether anything is left beside what matches
	Activity            // whether a unit of systemd is active
	Drift               // whether a plan has no changes
	Checks              // whether the checks of a pull request are over
)

// Code is the exit code that says no. One above 1 is that of no other failure.
func (q Question) Code() int {
	switch q {
	case Activity:
		return 3
	case Drift:
		return 2
	case Checks:
		return 8
	}
	return 1
}

// questionOf is what a command asks. list are its words.
func questionOf(list []token) Question {
	if len(list) == 0 || !list[0].sure {
		return NoQuestion
	}
	switch name := list[0].text[strings.LastIndexByte(list[0].text, '/')+1:]; name {
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep":
		return searchQuestion(name, list[1:])
	case "diff", "cmp":
		return Sameness
	case "test", "[", "[[":
		return Condition
	case "git":
		return gitQuestion(list[1:])
	case "ssh": // its exit code is that of the command elsewhere; a 1 may be of anybody
		if asked := questionOf(elsewhere(list)); asked.Code() > 1 {
			return asked
		}
	case "systemctl":
		if words := wordsOf(list[1:]); len(words) > 1 && (words[0] == "status" || words[0] == "is-active") {
			return Activity
		}
	case "terraform", "tofu":
		if words := wordsOf(list[1:]); len(words) > 0 && words[0] == "plan" && gives(list[1:], "-detailed-exitcode") {
			return Drift
		}
	case "gh":
		if words := wordsOf(list[1:]); len(words) > 1 && words[0] == "pr" && words[1] == "checks" {
			return Checks
		}
	}
	return NoQuestion
}

// searchQuestion is what a search asks. Versions of one program differ in the exit code where it lists what has no
// match.
func searchQuestion(name string, args []token) Question {
	valued, asked := "efABCmdD", Match // letters behind which a value stands
	if name == "rg" {
		valued += "gtTMrj"
	}
	for i := 0; i < len(args); i++ {
		switch w := args[i].text; {
		case w == "--":
			return asked
		case strings.HasPrefix(w, "--files-without-match"):
			return NoQuestion
		case w == "--invert-match":
			asked = Rest
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--"):
			letters := w
			if at := strings.IndexAny(w, valued); at >= 0 {
				letters = w[:at]
				i += 1 - min(1, len(w)-at-1) // the value is the next word
			}
			if name != "rg" && strings.Contains(letters, "L") {
				return NoQuestion
			}
			if strings.Contains(letters, "v") {
				asked = Rest
			}
		}
	}
	return asked
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
		return searchQuestion(name, args[1:])
	case name == "diff" && (gives(args, "--quiet") || gives(args, "--exit-code")):
		return Sameness
	case name == "merge-base" && gives(args, "--is-ancestor"):
		return Condition
	}
	return NoQuestion
}

// mayEndAll reports whether a command may end all of it, or have it end otherwise than it reads: what comes last may
// not have been done.
func mayEndAll(name string) bool {
	switch name {
	case "set", "shopt", "trap", "exit", "return", "exec", "source", ".", "eval", "alias":
		return true
	}
	return false
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
