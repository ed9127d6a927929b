// Package deed tells of a call to a tool that is none of files and shells: the values that it was given, and whether it
// only looks, as far as its name says. It is pure.
package deed

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/history/answer"
	"epitome/rewrite/history/verb"
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

// eachArgument gives f each argument of a call that is an object, by its key as it stands there, and reports whether it
// could.
func eachArgument(arguments []byte, f func(key string, v span.Span)) bool {
	const most = 64 << 10 // bytes that are looked at
	start := span.SkipSpace(arguments, 0)
	if start == len(arguments) || len(arguments) > most || arguments[start] != '{' || !span.Valid(arguments) {
		return false
	}
	_, err := span.Entries(arguments, start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(arguments, i)
		if err == nil {
			f(answer.Key(string(key)), span.Span{Start: i, End: end})
		}
		return end, err
	})
	return err == nil
}

// Looks reports whether a call only looks, as its tool's name and its statement say; one that says neither may do
// anything.
func Looks(name string, arguments []byte) bool {
	looks, byStatement := verb.Looks(name)
	return looks && (!byStatement || !mayWrite(arguments))
}

// mayWrite reports whether a statement among the arguments may write, or cannot be read.
func mayWrite(arguments []byte) (may bool) {
	isWriting := func(_, v gjson.Result) bool {
		may = may || verb.Writes(v.Str)
		return !may
	}
	isRead := eachArgument(arguments, func(_ string, v span.Span) {
		if value := gjson.ParseBytes(v.Of(arguments)); value.IsArray() {
			value.ForEach(isWriting)
		} else {
			isWriting(value, value)
		}
	})
	return may || !isRead
}
