// Package answer reads what a tool answers without a shell: a JSON object by its fields, and the lines in which a
// browser says where it stands. It knows nothing of calls, and what it says is in the words and values of the answer.
// It is pure, and linear in what it reads.
package answer

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/pattern"
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

// mayStandBeside reports whether a key, folded, may stand beside an error without anything having been done. A list of
// errors beside anything else may be what was asked for: a linter's findings, or the rows that could not be read.
func mayStandBeside(key string) bool {
	switch key {
	case "data", "result", "status", "statuscode", "code", "message", "error", "errors", "errormessages",
		"requestid", "traceid", "timestamp", "path", "url", "type", "title", "detail", "meta", "extensions", "id",
		"jsonrpc":
		return true
	}
	return false
}

// isOfNoRecord reports whether a key, folded, is one that no record has, in an answer to who asked for one. Those that
// may stand beside an error are others.
func isOfNoRecord(key string) bool {
	switch key {
	case "success", "ok", "succeeded", "results", "reason", "description", "details", "hint", "note", "retryafter",
		"documentationurl":
		return true
	}
	return false
}

// Ask is what a call asked for, as far as its tool says.
type Ask uint8

// What may be asked for.
const (
	Deed    Ask = iota // anything
	Record             // what stands somewhere: an error in it may be one that was recorded
	Finding            // what is wrong with something
)

// signs are parts of keys of which one stands in each answer that says so.
var signs = []string{"rror", "RROR", `"ok"`, `"succe`, `"outputs"`}

// flags are the keys with which an object says whether the call succeeded. Whatever else it says does not count then.
var flags = [...]string{"success", "ok", "succeeded"}

// Failed reports whether an answer is a JSON object that says, in one of the forms of services and notebooks, that
// nothing came of the call: an error with a message of its own ({"error": {"code": …, "message": …}}), a list of them
// and nothing else (GraphQL, JSON:API, Jira, Rails), or a cell that raised an exception (Jupyter).
func Failed(text string, ask Ask) bool {
	if !slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) }) {
		return false
	}
	body := objectOf(text)
	if body == nil {
		return false
	}
	root := gjson.ParseBytes(body)
	if ask != Deed && !isBare(root) {
		return raised(root.Get("outputs"))
	}
	for _, name := range flags {
		if v := root.Get(name); v.Type == gjson.True || v.Type == gjson.False {
			return v.Type == gjson.False
		}
	}
	return holdsError(root) || ask != Finding && listsErrors(root) || raised(root.Get("outputs"))
}

// IsRecord reports whether an answer is a JSON object that tells more than what went wrong, or not even that.
func IsRecord(text string) bool {
	body := objectOf(text)
	return body != nil && !isBare(gjson.ParseBytes(body))
}

// FailsByField reports whether an answer is an object of which one field says that the call failed, whatever stands
// beside it. It is for tools that act: what these answer is of the call, while an object that was asked for may tell of
// somebody else's error, which Failed tells apart.
func FailsByField(object []byte) bool {
	if len(object) == 0 || object[0] != '{' || !span.Valid(object) {
		return false
	}
	root := gjson.ParseBytes(object)
	for _, name := range flags {
		if v := root.Get(name); v.Exists() {
			return v.Type == gjson.False
		}
	}
	if root.Get("isError").Type == gjson.True {
		return true
	}
	for _, name := range [...]string{"status", "code", "result"} {
		switch strings.ToLower(root.Get(name).Str) {
		case "error", "failed", "failure":
			return true
		}
	}
	v := root.Get("error")
	return v.Str != "" && !saysNone(v.Str)
}

// isBare reports whether an object has words of what went wrong, and nothing else.
func isBare(root gjson.Result) bool {
	isAlone, says := true, false
	root.ForEach(func(key, v gjson.Result) bool {
		name := folded(key.Str)
		switch name {
		case "error", "errors", "errormessages", "message", "reason", "detail", "description", "details", "note":
			says = says || !isEmpty(v)
		case "data", "result", "results":
			isAlone = isEmpty(v) || v.Type == gjson.String
		case "id": // a record has one, too
			isAlone = root.Get("jsonrpc").Exists()
		default:
			isAlone = mayStandBeside(name) || isOfNoRecord(name)
		}
		return isAlone
	})
	return isAlone && says
}

// folded is a key in small letters, and without what parts its words.
func folded(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }

// holdsError reports whether an answer has an error in words, and nothing that came of the call.
func holdsError(root gjson.Result) bool {
	e := root.Get("error")
	return (e.Str != "" && !saysNone(e.Str) || e.IsObject() && hasMessage(e)) && isEmpty(root.Get("data")) &&
		isEmpty(root.Get("result")) && isEmpty(root.Get("results"))
}

// saysNone reports whether a word says that there is no error.
func saysNone(word string) bool {
	return slices.Contains([]string{"none", "null", "nil", "no", "false", "0", "ok", "no error", "success", "-"},
		strings.ToLower(strings.TrimSpace(word)))
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
		switch name := folded(key.Str); {
		case name == "errors", name == "errormessages":
			listed = listed || saysErrors(v)
		case name == "data", name == "result":
			isAlone = isAlone && isEmpty(v)
		default:
			isAlone = isAlone && mayStandBeside(name)
		}
		return isAlone
	})
	return isAlone && listed
}

// places are keys of objects that say where in a text something was found, or how bad it is.
var places = []string{"line", "row", "column", "file", "filename", "rule", "ruleId", "severity", "location", "loc", "range",
	"start", "lineNumber", "startLine", "span"}

// lineForm finds where in a file something was found.
var lineForm = pattern.Of(`^\S+[:(]\d+`)

// saysErrors reports whether a list holds messages, and no places in a text: then it would be what was looked for.
func saysErrors(v gjson.Result) (says bool) {
	if !v.IsArray() {
		return false
	}
	v.ForEach(func(_, e gjson.Result) bool {
		isPlace := lineForm.MatchString(e.Str) || slices.ContainsFunc(places,
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
