// Package answer reads what a tool answers without a shell: a JSON object by its fields, and the lines in which a
// browser says where it stands. It knows nothing of calls, and what it says is in the words and values of the answer.
// It is pure, and linear in what it reads.
package answer

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// longest is how many bytes an answer may have that is read.
const longest = 64 << 10

// objectOf is the JSON object that a text is; nil if it is none, or if it is too long.
func objectOf(text string) []byte {
	text = strings.Trim(text, " \t\r\n")
	if len(text) > longest || !strings.HasPrefix(text, "{") || !span.Valid([]byte(text)) {
		return nil
	}
	return []byte(text)
}

// beside are the keys, folded, that may stand beside a list of errors without anything having been done. A list beside
// anything else may be what was asked for: a linter's findings, or the rows that could not be read.
var beside = map[string]bool{"data": true, "result": true, "status": true, "statuscode": true, "code": true,
	"message": true, "error": true, "errors": true, "errormessages": true, "requestid": true, "traceid": true,
	"timestamp": true, "path": true, "url": true, "type": true, "title": true, "detail": true, "meta": true,
	"extensions": true, "id": true, "jsonrpc": true}

// Failed reports whether an answer is a JSON object that says, in one of the forms of services and notebooks, that
// nothing came of the call: an error with a message of its own ({"error": {"code": …, "message": …}}), a list of them
// and nothing else (GraphQL, JSON:API, Jira, Rails), or a cell that raised an exception (Jupyter).
func Failed(text string) bool {
	body := objectOf(text)
	if body == nil {
		return false
	}
	root := gjson.ParseBytes(body)
	for _, name := range [...]string{"success", "ok", "succeeded"} {
		if v := root.Get(name); v.Type == gjson.True || v.Type == gjson.False {
			return v.Type == gjson.False
		}
	}
	return holdsError(root) || listsErrors(root) || raised(root.Get("outputs"))
}

// holdsError reports whether an answer has an error in words, and nothing that came of the call.
func holdsError(root gjson.Result) bool {
	e := root.Get("error")
	return (e.Str != "" || e.IsObject() && hasMessage(e)) && isEmpty(root.Get("data")) && isEmpty(root.Get("result")) &&
		isEmpty(root.Get("results"))
}

// hasMessage reports whether an object has a message in words.
func hasMessage(v gjson.Result) bool {
	return slices.ContainsFunc([]string{"message", "detail", "description", "reason"}, func(name string) bool {
		return v.Get(name).Str != ""
	})
}

// listsErrors reports whether an answer is a list of errors, and nothing came of the call.
func listsErrors(root gjson.Result) bool {
	isAlone, listed := true, false
	root.ForEach(func(key, v gjson.Result) bool {
		name := strings.ToLower(strings.ReplaceAll(key.Str, "_", ""))
		switch {
		case name == "errors", name == "errormessages":
			listed = listed || saysErrors(v)
		case name == "data", name == "result":
			isAlone = isAlone && isEmpty(v)
		default:
			isAlone = isAlone && beside[name]
		}
		return isAlone
	})
	return isAlone && listed
}

// saysErrors reports whether a list holds messages, and no places in a text: then it would be what was looked for.
func saysErrors(v gjson.Result) (says bool) {
	if !v.IsArray() {
		return false
	}
	v.ForEach(func(_, e gjson.Result) bool {
		isPlace := slices.ContainsFunc([]string{"line", "row", "column", "file", "filename", "rule", "ruleId"},
			func(name string) bool { return e.IsObject() && e.Get(name).Exists() })
		says = !isPlace && (e.Str != "" || e.IsObject() && hasMessage(e))
		return false
	})
	return says
}

// raised reports whether the outputs of a notebook's cell have an exception.
func raised(outputs gjson.Result) (found bool) {
	if !outputs.IsArray() {
		return false
	}
	outputs.ForEach(func(_, v gjson.Result) bool {
		found = v.Get("output_type").Str == "error" && v.Get("ename").Str != ""
		return !found
	})
	return found
}

// isEmpty reports whether a value says nothing.
func isEmpty(v gjson.Result) bool {
	switch {
	case v.IsObject(), v.IsArray():
		return strings.Trim(v.Raw, "{}[] \t\r\n") == ""
	}
	return v.Type == gjson.Null || v.Type == gjson.String && v.Str == ""
}
