// Package verb reads what a tool does from the words of its name, and of the statement that it is given. It is pure.
package verb

import (
	"slices"
	"strings"
	"unicode"
)

// The words in names of tools. An acting one counts wherever it stands, but for a thing behind the first word if that
// is one for looking (get_issue).
var (
	looking = []string{"get", "list", "search", "find", "read", "fetch", "query", "lookup", "describe", "show", "view",
		"calculate", "calc", "think", "count", "retrieve", "snapshot", "screenshot", "inspect", "browse", "explore", "wait",
		"hover", "scroll", "load", "sql", "logs"}
	acting = []string{"create", "update", "delete", "remove", "add", "set", "send", "book", "cancel", "modify", "change",
		"edit", "write", "insert", "upsert", "move", "assign", "transfer", "refund", "charge", "pay", "submit", "post", "put",
		"patch", "approve", "reject", "close", "reopen", "archive", "upload", "publish", "click", "type", "fill", "select",
		"press", "drag", "exchange", "return", "issue", "apply", "grant", "revoke", "merge", "comment", "schedule",
		"replace", "register", "enable", "disable", "start", "stop", "restart", "kill", "clear", "reset", "rename", "drop",
		"save", "buy", "purchase", "reserve", "lock", "unlock", "ack", "acknowledge", "increment", "decrement",
		"subscribe", "unsubscribe", "restore", "install", "uninstall", "deploy", "trigger", "pop", "dequeue",
		"purge", "flush", "confirm", "accept", "decline", "rotate", "import"}
	things   = []string{"issue", "comment", "post", "patch", "exchange", "schedule"}
	checking = []string{"check", "verify", "validate", "lint", "test", "audit", "diagnose", "health", "status", "analyze",
		"is", "has"}
)

// longestName is how many bytes of a tool's name are read: the last ones, where it stands behind that of its server.
const longestName = 200

// Looks reports whether a tool only looks, as its name says, and whether that depends on the statement that it is
// given; one whose name says nothing may do anything.
func Looks(name string) (looks, asByStatement bool) {
	words := wordsOf(name)
	if len(words) > 1 && slices.Contains(looking, words[0]) && slices.Contains(things, words[1]) {
		words = append([]string{words[0]}, words[2:]...)
	}
	if has(words, acting) {
		return false, false
	}
	for _, word := range words {
		if slices.Contains(looking, word) {
			return true, word == "sql" || word == "query"
		}
	}
	return false, false
}

// Asks reports whether a tool is asked for something that it may answer with somebody else's errors: a record, or what
// it was to find out; isCheck whether it is the latter.
func Asks(name string) (asks, isCheck bool) {
	looks, _ := Looks(name)
	isCheck = has(wordsOf(name), checking)
	return looks || isCheck, isCheck
}

func has(words, list []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
}

// wordsOf are the words of a tool's name, small, without the name of its server.
func wordsOf(name string) []string {
	name = name[max(0, len(name)-longestName):]
	name = name[strings.LastIndexAny(name, "./:")+1:]
	if at := strings.LastIndex(name, "__"); at >= 0 {
		name = name[at+2:]
	}
	return Words(name)
}

// Words are the words of a name, small: what signs, digits and capitals part.
func Words(name string) []string {
	var split strings.Builder
	isSmall := false
	for _, c := range name {
		if isSmall && unicode.IsUpper(c) {
			split.WriteByte('_')
		}
		isSmall = unicode.IsLower(c)
		split.WriteRune(unicode.ToLower(c))
	}
	return strings.FieldsFunc(split.String(), func(c rune) bool { return !unicode.IsLetter(c) })
}
