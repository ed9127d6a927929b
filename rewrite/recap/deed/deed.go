// Package deed tells of a call to a tool that is none of files and shells: the values that it was given, and whether it
// only looks, as far as its name says. It is pure.
package deed

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/rewrite/history/answer"
	"epitome/rewrite/span"
)

// Values returns the arguments of a call as "key: value" with commas between them, on one line, in at most room bytes:
// the first ones that fit, each with its whole value but for long strings, and how many are left out.
func Values(arguments []byte, room int) string {
	const longestText, roomOfMore = 120, 16 // characters, bytes
	room -= roomOfMore
	var list []string
	left := 0
	eachArgument(arguments, func(key string, v span.Span) {
		value := span.InOneLine(arguments, v)
		if arguments[v.Start] == '"' {
			value = answer.Cut(gjson.ParseBytes(v.Of(arguments)), longestText)
		}
		if n := len(key) + len(": ") + len(value) + len(", "); n <= room {
			room -= n
			list = append(list, key+": "+value)
			return
		}
		left++
	})
	if left > 0 {
		list = append(list, fmt.Sprintf("… %d more", left))
	}
	return strings.Join(list, ", ")
}

// eachArgument gives f each argument of a call that is an object.
func eachArgument(arguments []byte, f func(key string, v span.Span)) {
	const most = 64 << 10 // bytes that are looked at
	start := span.SkipSpace(arguments, 0)
	if start == len(arguments) || len(arguments) > most || arguments[start] != '{' || !span.Valid(arguments) {
		return
	}
	// has been found valid
	_, _ = span.Members(arguments, start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(arguments, i)
		if err == nil {
			f(string(key), span.Span{Start: i, End: end})
		}
		return end, err
	})
}

// looking and acting are the verbs in names of tools. One of the second kind counts wherever it stands.
var (
	looking = []string{"get", "list", "search", "find", "read", "fetch", "query", "lookup", "describe", "show", "view",
		"calculate", "calc", "think", "count", "retrieve", "snapshot", "screenshot", "inspect", "browse", "explore", "wait",
		"hover", "scroll", "load"}
	acting = []string{"create", "update", "delete", "remove", "add", "set", "send", "book", "cancel", "modify", "change",
		"edit", "write", "insert", "upsert", "move", "assign", "transfer", "refund", "charge", "pay", "submit", "post", "put",
		"patch", "approve", "reject", "close", "reopen", "archive", "upload", "publish", "click", "type", "fill", "select",
		"press", "drag", "exchange", "return", "issue", "apply", "grant", "revoke", "merge", "comment", "schedule"}
)

// writing finds a statement of SQL that writes, at its beginning or, behind WITH, in it.
var writing = pattern.Of(`(?i)^\s*(?:(?:with\b|explain analyze\b)[\s\S]*\b(?:insert into|update|delete from|merge into)\b|` +
	`(?:insert|update|delete|merge|replace|drop|alter|create|truncate|grant|revoke|call|do|set|begin|commit)\b)`)

// Looks reports whether a call only looks, as its tool's name or its statement says; one that says neither may do
// anything.
func Looks(name string, arguments []byte) bool {
	words := wordsOf(name)
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(acting, w) }) {
		return false
	}
	for _, word := range words {
		switch {
		case word == "sql" || word == "query":
			return !writes(arguments)
		case slices.Contains(looking, word):
			return true
		}
	}
	return false
}

// writes reports whether a statement among the arguments may write.
func writes(arguments []byte) (found bool) {
	eachArgument(arguments, func(key string, v span.Span) {
		switch strings.ToLower(key) {
		case "query", "sql", "statement":
			found = found || writing.MatchString(gjson.ParseBytes(v.Of(arguments)).Str)
		}
	})
	return found
}

// wordsOf are the words of a tool's name, small, without the name of its server.
func wordsOf(name string) []string {
	name = name[strings.LastIndexAny(name, "./:")+1:]
	if at := strings.LastIndex(name, "__"); at >= 0 {
		name = name[at+2:]
	}
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
