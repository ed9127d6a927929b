package verb

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// beginsWriting reports whether a statement of SQL, or one of GraphQL, that begins with a word writes.
func beginsWriting(word string) bool {
	switch word {
	case "insert", "update", "delete", "merge", "replace", "drop", "alter", "create", "truncate", "grant",
		"revoke", "call", "do", "set", "begin", "commit", "mutation", "exec", "execute", "copy", "load", "rename",
		"vacuum", "refresh", "rollback", "start", "lock", "attach", "detach", "import", "comment", "reindex":
		return true
	}
	return false
}

// Writes reports whether one of the statements of a text writes: by the word with which it begins, behind its comments;
// behind WITH or EXPLAIN by any; and a SELECT by the table that it names for what it selects. It reads the text once.
func Writes(text string) bool {
	first, before := "", "" // words of the statement
	for i := 0; i < len(text); {
		if first == "" {
			i += len(blank(text[i:]))
		}
		word := wordAt(text[i:])
		switch {
		case i == len(text):
			return false
		case word == "" && text[i] == ';':
			first, before = "", ""
			fallthrough
		case word == "":
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		i += len(word)
		if word = strings.ToLower(word); first == "" {
			first = word
		}
		if first == word && before == "" && beginsWriting(word) || goesOnWriting(first, before, word) {
			return true
		}
		before = word
	}
	return false
}

// goesOnWriting reports whether a word behind another one makes a statement write that begins so.
func goesOnWriting(first, before, word string) bool {
	switch first {
	case "select":
		return word == "into"
	case "with", "explain":
		return word == "update" || word == "into" && (before == "insert" || before == "merge") ||
			word == "from" && before == "delete"
	}
	return false
}

// blank is the white space, the comments and the brackets with which a text begins.
func blank(text string) string {
	rest := text
	for {
		rest = strings.TrimLeft(rest, " \t\r\n(\ufeff\u00a0")
		end := ""
		switch {
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "#"):
			end = "\n"
		case strings.HasPrefix(rest, "/*"):
			end = "*/"
		default:
			return text[:len(text)-len(rest)]
		}
		_, rest, _ = strings.Cut(rest, end)
	}
}

// wordAt is the word with which a text begins; empty if it begins with none.
func wordAt(text string) string {
	if end := strings.IndexFunc(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) }); end >= 0 {
		return text[:end]
	}
	return text
}
