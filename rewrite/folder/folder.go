// Package folder finds the folder in which an agent says that it works, in what its conversation begins with.
//
// It promises that what it finds is an absolute path on one line, that it stands in what the system or the user says
// before the model first speaks, and that the same beginning always has the same folder. It knows the few ways in which
// agents write it, and guesses nothing. What an agent quotes behind its own words, from a file or a log, counts for
// nothing where those name a folder.
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
	for _, role := range [...]conversation.Role{conversation.System, conversation.User} {
		for _, find := range [...]func([]byte) string{inElement, inLine} {
			if path := firstOf(r, role, find); path != "" {
				return path
			}
		}
	}
	return ""
}

// firstOf is what is found in the first item of a role in which anything is, before the model first speaks.
func firstOf(r *conversation.Request, role conversation.Role, find func([]byte) string) string {
	items, _ := conversation.OpeningOf(r)
	for i := range r.Items[:r.Head+items] {
		if r.Items[i].Role != role {
			continue
		}
		if path := find(r.Items[i].Of(r.Body)); path != "" {
			return path
		}
	}
	return ""
}

const (
	ending = "irectory: "  // of a label, as most others write it
	before = len(`12. - `) // what may stand before a label on its line
)

// texts are how Codex begins the text in which it names its folder, and elements how it begins that, each in the two
// spellings of JSON. In front of that text may stand what files of the project say.
var (
	texts    = [...]string{`"<environment_context>`, `"\u003cenvironment_context\u003e`}
	elements = [...]string{"<cwd>", `\u003ccwd\u003e`}
)

// labels are what stands before a path on its line, in small letters and without the marks of a list.
var labels = [...]string{
	"working directory: ", "current working directory: ", "primary working directory: ",
	"i'm currently working in the directory: ",
}

// in finds the folder in JSON.
func in(text []byte) string {
	if path := inElement(text); path != "" {
		return path
	}
	return inLine(text)
}

// inElement finds the folder in a string of JSON that is all Codex's own. Within a string no quote stands bare, so
// nothing that is quoted there can begin one.
func inElement(text []byte) string {
	for k, begins := range texts {
		for rest, found := text, true; ; {
			var front []byte
			if front, rest, found = bytes.Cut(rest, []byte(begins)); !found {
				break
			}
			if bytes.HasSuffix(front, []byte(`\`)) {
				continue
			}
			if _, path, found := bytes.Cut(rest[:endOf(rest)], []byte(elements[k])); found {
				return pathAt(path, "<")
			}
		}
	}
	return ""
}

// endOf is where a JSON string ends of which this is the rest.
func endOf(text []byte) int {
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at
		}
	}
	return len(text)
}

// inLine finds the folder behind a label in JSON, in whose strings lines end with \n.
func inLine(text []byte) string {
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
	for _, l := range labels {
		n := len(text) - len(l)
		if n < 0 || !strings.EqualFold(string(text[n:]), l) {
			continue
		}
		front := text[:n]
		front = front[:len(front)-min(before, len(front)-len(bytes.TrimRight(front, " -*0123456789.")))]
		if beginsLine(front) {
			return true
		}
	}
	return false
}

// beginsLine reports whether what comes behind a text in JSON stands at the beginning of a line: behind the quote of a
// string, or an \n that is one.
func beginsLine(front []byte) bool {
	rest, isEnd := bytes.CutSuffix(front, []byte(`n`))
	if !isEnd {
		rest, isEnd = bytes.CutSuffix(front, []byte(`"`))
		return isEnd && !bytes.HasSuffix(rest, []byte(`\`))
	}
	slashes := len(rest) - len(bytes.TrimRight(rest, `\`))
	return slashes%2 == 1
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
