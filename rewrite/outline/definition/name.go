package definition

import "strings"

// NameIn returns what a line of a program defines by a word for it, such as class or func; empty if that is not told.
// holds says that other definitions may stand in it.
func NameIn(line string) (name string, holds bool) {
	rest := strings.TrimSpace(line)
	for {
		word, after, _ := strings.Cut(rest, " ")
		if !isModifier(word) {
			break
		}
		rest = strings.TrimLeft(after, " ")
	}
	word := leadingWord(rest)
	if !isDefiner(word) || !isDefinition(rest, word) {
		return "", false
	}
	rest = strings.TrimLeft(rest[len(word):], " ")
	if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "<") { // a receiver, or types that it takes
		end := strings.IndexAny(rest, ")>")
		rest = strings.TrimLeft(rest[end+1:], " ")
	}
	n := 0
	for n < len(rest) && isWordByte(rest[n]) {
		n++
	}
	switch word {
	case "func", "function", "function*", "fn", "def", "fun", "defp", "sub", "proc", "procedure", "rpc", "macro_rules!":
		return rest[:n], false
	}
	return rest[:n], true
}
