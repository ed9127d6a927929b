package step

import (
	"strings"

	"epitome/rewrite/shorten"
)

// WithoutCallers leaves out words that change nothing of what is run.
func WithoutCallers(words []string) []string {
	for len(words) > 1 {
		switch {
		case words[0] == "time", words[0] == "nice":
			words = words[1:]
		case words[0] == "timeout" && len(words) > 2 && isNumber(words[1]):
			words = words[2:]
		default:
			return words
		}
	}
	return words
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789smh.") == "" }

// DoesSomething reports whether a command that is not understood does more than to look, by its first line.
func DoesSomething(command string) bool {
	line := shorten.FirstLine(command)
	for _, sep := range []string{"&&", "||", ";"} {
		line = strings.ReplaceAll(line, sep, "\x00")
	}
	for part := range strings.SplitSeq(line, "\x00") {
		if words := WithoutCallers(strings.Fields(strings.TrimLeft(part, "({ "))); len(words) > 0 && !IsIdle(words[0]) {
			return true
		}
	}
	return false
}

// IsIdle reports whether a command's failure or success means nothing by itself.
func IsIdle(program string) bool {
	switch program {
	case "cd", "echo", "printf", "export", "set", "unset", "source", ".", "sleep", "true", "false", "pwd", "test", "[", "exit",
		"wait", "kill", "pkill", "ls", "rg", "grep", "egrep", "find", "fd", "cat", "head", "tail", "which", "wc", "diff",
		"cmp", "read", "for", "while", "do", "done", "if", "then", "fi", "#", "pushd", "popd":
		return true
	}
	return strings.HasPrefix(program, "#")
}
