// Package folder finds the folder in which an agent says that it works, in what its conversation begins with.
//
// It promises that what it finds is an absolute path on one line, that it stands in what the system or the user says
// before the model first speaks, and that the same beginning always has the same folder. It knows the few ways in which
// agents write it, and guesses nothing.
package folder

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// mostLetters is how long a path is at most, in characters.
const mostLetters = 200

// Of is the folder that the conversation names first; empty if it names none.
func Of(r *conversation.Request) string {
	if path := in(r.Instructions.Of(r.Body)); path != "" {
		return path
	}
	items, _ := conversation.OpeningOf(r)
	for i := range r.Items[:r.Head+items] {
		it := &r.Items[i]
		if it.Role != conversation.System && it.Role != conversation.User {
			continue
		}
		if path := in(it.Of(r.Body)); path != "" {
			return path
		}
	}
	return ""
}

const (
	ending = "irectory: "  // of a label, as most others write it
	before = len(`\n12. `) // what may stand before a label on its line
)

// elements are how Codex begins it, in the two spellings of JSON.
var elements = [...]string{"<cwd>", `\u003ccwd\u003e`}

// labels are what stands before a path on its line, in small letters and without the marks of a list.
var labels = [...]string{
	"working directory: ", "current working directory: ", "primary working directory: ",
	"i'm currently working in the directory: ",
}

// in finds the folder in JSON, in whose strings lines end with \n.
func in(text []byte) string {
	for _, tag := range elements {
		if _, rest, found := bytes.Cut(text, []byte(tag)); found {
			if path := pathAt(rest, "<"); path != "" {
				return path
			}
		}
	}
	for at := 0; ; {
		n := bytes.Index(text[at:], []byte(ending))
		if n < 0 {
			return ""
		}
		at += n + len(ending)
		if isLabelled(text[:at]) {
			if path := pathAt(text[at:], "\n"); path != "" {
				return path
			}
		}
	}
}

// isLabelled reports whether a text ends with a line that is nothing but a label.
func isLabelled(text []byte) bool {
	most := before
	for _, l := range labels {
		most = max(most, before+len(l))
	}
	tail := strings.ToLower(string(text[max(0, len(text)-most):]))
	if n := strings.LastIndex(tail, `\n`); n >= 0 {
		tail = tail[n+len(`\n`):]
	} else if n := strings.LastIndexByte(tail, '"'); n >= 0 {
		tail = tail[n+1:]
	}
	tail = strings.TrimLeft(tail, " -*0123456789.")
	for _, l := range labels {
		if tail == l {
			return true
		}
	}
	return false
}

// pathAt is the path at the beginning of a JSON string's rest, up to the end of its line, and to stop. It is empty if
// no absolute path stands there.
func pathAt(text []byte, stop string) string {
	end := 0
	for end < len(text) && text[end] != '"' {
		if text[end] != '\\' {
			end++
			continue
		}
		if end+1 == len(text) || strings.IndexByte("nr", text[end+1]) >= 0 {
			break
		}
		end += 2
	}
	quoted := append(append([]byte{'"'}, text[:min(end, len(text))]...), '"')
	said, err := span.Unquote(quoted)
	if err != nil {
		return ""
	}
	path, _, _ := strings.Cut(said, stop)
	if path = strings.TrimSpace(path); len(path) > 1 {
		path = strings.TrimRight(path, "/")
	}
	odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
	if isAbsolute(path) && utf8.RuneCountInString(path) <= mostLetters && !strings.ContainsFunc(path, odd) {
		return path
	}
	return ""
}

// isAbsolute reports whether a path begins at a root, at home, or at a drive.
func isAbsolute(path string) bool {
	drive := len(path) > 2 && unicode.IsLetter(rune(path[0])) && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~/") || drive
}
