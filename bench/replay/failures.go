package replay

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"
)

// Nothing that is measured knows the rules in rules.toml: which lines of an output tell what went wrong, and which
// calls only read.
//
//go:embed rules.toml
var rulesText []byte

// rules has the lists of rules by their names.
var rules = sync.OnceValue(func() (lists map[string][]string) {
	err := toml.Unmarshal(rulesText, &lists)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return lists
})

// matching returns an expression that matches where one in a list does. It is compiled when it is first needed: no
// other command should wait for it.
func matching(list string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(rules()[list], "|")) })
}

var (
	success       = matching("success")
	failure       = matching("failure")
	failureWithin = matching("failureWithin")
	harmless      = matching("harmless")
	source        = matching("source")
)

// isListed reports whether a word stands in a list.
func isListed(list, word string) bool {
	return slices.Contains(strings.Fields(strings.Join(rules()[list], " ")), word)
}

// failuresIn returns the distinct lines of an output that tell what went wrong, as they are shown.
func failuresIn(text string) (lines []string) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		line = shown(line)
		if !seen[line] && isFailure(line) {
			lines = append(lines, line)
		}
		seen[line] = true
	}
	return lines
}

// isFailure reports whether a line tells what went wrong. Lines of more than 1000 bytes, such as data, never do.
func isFailure(line string) bool {
	switch {
	case len(line) > 1000 || success().MatchString(line):
		return false
	case failure().MatchString(line):
		return true
	case source().MatchString(line):
		return false
	}
	return failureWithin().MatchString(harmless().ReplaceAllString(line, " "))
}

var (
	quoted    = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"`)
	separator = regexp.MustCompile(`\|\||&&|[|;&\n]|\$\(`)
	redirect  = regexp.MustCompile(`\d?>>?\s*(?:&\d|\S+)|<\s*\S+`)
	prefix    = regexp.MustCompile(`^(?:|\w+=.*|sudo|env|do|then)$`) // a word before the name of a program
)

// isReading reports whether a call reads or searches, by its tool or, for a shell, by all its commands.
func isReading(tool string, arguments []byte) bool {
	tool = strings.ToLower(tool[strings.LastIndex(tool, "__")+1:])
	if isListed("readers", strings.Trim(tool, "_")) {
		return true
	}
	reads := false
	for _, words := range commandsIn(shellText(arguments)) {
		name := path.Base(words[0])
		isGitReader := func(word string) bool { return isListed("gitReaders", word) }
		isReader := isListed("readers", name) || name == "git" && slices.ContainsFunc(words, isGitReader)
		if !isReader && !isListed("silent", name) {
			return false
		}
		reads = reads || isReader
	}
	return reads
}

// shellText returns what the arguments of a call have a shell do; empty if the call is none of a shell.
func shellText(arguments []byte) (command string) {
	for _, key := range []string{"script", "cmd", "command"} {
		words := gjson.GetBytes(arguments, key).Array()
		if len(words) > 0 {
			command = words[len(words)-1].String() // as in ["bash", "-c", "make test"]
		}
	}
	return command
}

// commandsIn returns the words of each command in a line of a shell, the first of them its program.
func commandsIn(line string) (commands [][]string) {
	for _, part := range separator.Split(quoted.ReplaceAllString(line, "''"), -1) {
		words := strings.Fields(redirect.ReplaceAllString(part, " "))
		for i := range words {
			words[i] = strings.Trim(words[i], "(){}!`")
		}
		for len(words) > 0 && prefix.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 {
			commands = append(commands, words)
		}
	}
	return commands
}
