// Package activity tells what an agent did, from its tool calls and their results.
//
// It reads tool names and arguments, the client's error flag and exit codes, and nothing else: it guesses no meaning of
// commands, tools or languages.
package activity

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
)

// Call is one tool call with its result.
type Call struct {
	Item, Result int      // items of the request; Result is -1 while there is none
	ID           string   // of the call
	Tool         string   // its name
	Kind         Kind     //
	About        string   // the main argument on one line, of at most 120 characters
	Command      string   // the first lines of the command that it runs; empty if it runs none
	Files        []string // that it reads or writes
	Cites        []string // words in its arguments that may be names of artifacts
	IsError      bool     // the client marked the result as failed
	Exit         int      // the exit code that the result tells; -1 if it tells none
}

const (
	maxAbout     = 120     // characters
	maxLine      = 300     // bytes of a command's first line
	maxLines     = 200     // bytes of its first lines together, if the first is shorter
	maxArguments = 1 << 20 // bytes of arguments that are read
	maxPath      = 1_000   // bytes
	maxFiles     = 50
)

// Of reads all calls of a request in the order of their items. known are those of the request from which its first
// r.Reused items were taken.
func Of(r *conversation.Request, known []Call) []Call {
	calls := make([]Call, 0, len(known)+8)
	results := map[int][]int{} // items that answer a call of an item
	for i, caller := range r.Callers() {
		if caller >= 0 {
			results[caller] = append(results[caller], i)
		}
	}
	for i := range r.Items {
		for k := range r.Items[i].Calls {
			if n := len(calls); i < r.Reused && known[n].Result >= 0 && known[n].Result < r.Reused {
				calls = append(calls, known[n])
				continue
			}
			call := &r.Items[i].Calls[k]
			c := read(r.Body, call)
			c.Item, c.Result = i, -1
			for _, result := range results[i] {
				if r.Items[result].Answers == call.ID {
					c.addResult(r, result)
				}
			}
			calls = append(calls, c)
		}
	}
	return calls
}

func (c *Call) addResult(r *conversation.Request, i int) {
	it := &r.Items[i]
	c.Result, c.IsError = i, it.IsError
	if c.Kind == Run {
		c.Exit = exitCode(it.Content.Of(r.Body))
	}
}

// read reads a call without its result. Of one with very long arguments only the tool is known.
func read(body []byte, call *conversation.Call) Call {
	c := Call{ID: call.ID, Tool: call.Name, Kind: kindOf(call.Name), Exit: -1}
	if call.Arguments.End-call.Arguments.Start > maxArguments {
		return c
	}
	raw := call.ArgumentsIn(body)
	c.Cites = slices.Collect(excerpt.ArtifactNames(string(raw)))
	args := readArguments(raw, call.FreeText)
	files := args.files(c.Kind)
	if len(files) == 0 && (c.Kind == Read || c.Kind == Write) {
		c.Kind = Other
		if args.texts[address] != "" {
			c.Kind = Fetch
		}
	}
	if c.Kind == Read || c.Kind == Write {
		c.Files = files
	}
	if c.Kind == Run {
		c.Command = firstLines(args.texts[command])
	}
	c.About = excerpt.OneLine(args.about(c.Kind, files), maxAbout)
	return c
}

// firstLines returns the beginning of a command, with … where it is cut.
func firstLines(text string) string {
	text = strings.TrimSpace(text)
	first, _, _ := strings.Cut(text, "\n")
	if most := max(maxLines, min(len(first), maxLine)); len(text) > most {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:most], "")) + "…"
	}
	return text
}

// String names the tool and its main argument, on one line.
func (c *Call) String() string {
	name := c.Tool
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		name = "a tool"
	}
	if c.About == "" {
		return name
	}
	return name + " `" + c.About + "`"
}

// Texts returns all strings and numbers in the arguments of a call, one to a line.
func Texts(body []byte, call *conversation.Call) string {
	raw := call.ArgumentsIn(body)
	if call.FreeText || !jsonspan.Valid(raw) {
		return string(raw)
	}
	var text strings.Builder
	var write func(key, v gjson.Result) bool
	write = func(_, v gjson.Result) bool {
		if v.IsObject() || v.IsArray() {
			v.ForEach(write)
		} else {
			text.WriteString(v.String() + "\n")
		}
		return true
	}
	write(gjson.Result{}, gjson.ParseBytes(raw))
	return text.String()
}

// argument is what an argument says.
type argument uint8

const (
	nothing argument = iota
	command
	query
	address
	file
	patch
	numArguments
)

// argumentNamed is what an argument of this name says, without signs and capitals.
func argumentNamed(name string) argument {
	switch name {
	case "command", "cmd", "commands", "script", "code", "shellcommand":
		return command
	case "pattern", "query", "question", "regex", "queries", "q", "search", "globpattern", "keywords":
		return query
	case "url", "urls", "uri":
		return address
	case "filepath", "path", "absolutepath", "targetfile", "notebookpath", "relativepath", "relativeworkspacepath", "file",
		"filename", "paths", "filepaths", "files", "directory", "dirpath", "source", "destination", "oldpath", "newpath":
		return file
	case "patch", "input", "diff", "patchtext":
		return patch
	}
	return nothing
}

// arguments are those of a call.
type arguments struct {
	texts [numArguments]string // the first of each kind
	paths []string
	raw   string // all of them, without quotes
	part  string // which part of a file is wanted, in the words of the arguments
}

// partNumbers are arguments that say which lines of a file are wanted.
var partNumbers = []string{"offset", "limit", "viewrange", "startline", "endline", "lines", "insertline"}

func readArguments(raw []byte, freeText bool) (a arguments) {
	a.raw = string(raw)
	if freeText || !gjson.ValidBytes(raw) {
		a.texts[command] = a.raw
		return a
	}
	if len(raw) <= 2*maxPath {
		a.raw = strings.ReplaceAll(strings.Trim(a.raw, "{} \n"), `"`, "")
	}
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key.Str))
		if slices.Contains(partNumbers, name) && v.Type == gjson.Number {
			a.part += ", " + key.Str + " " + v.Raw
		}
		var list []string
		for _, item := range v.Array() {
			if item.Type == gjson.String && item.Str != "" && len(list) < maxFiles {
				list = append(list, item.Str)
			}
		}
		kind := argumentNamed(name)
		if kind == file {
			a.paths = append(a.paths, list...)
		}
		if a.texts[kind] == "" && len(list) > 0 {
			a.texts[kind] = joinWords(list, kind)
		}
		return true
	})
	return a
}

// joinWords joins a list; of a command such as [bash, -lc, script] it keeps the script.
func joinWords(list []string, kind argument) string {
	if kind == command && len(list) > 1 && strings.HasPrefix(list[len(list)-2], "-") {
		return list[len(list)-1]
	}
	return strings.Join(list, " ")
}

// patched finds the files in a patch.
var patched = regexp.MustCompile(`(?m)^(?:\*\*\* (?:Add|Update|Delete) File|\*\*\* Move to): (.+?)\s*$|^\+\+\+ (?:b/)?(\S+)`)

// files returns the paths that a call names, in its arguments or in a patch.
func (a *arguments) files(k Kind) (list []string) {
	if k == Write && len(a.paths) == 0 {
		for _, m := range patched.FindAllStringSubmatch(a.texts[patch]+"\n"+a.texts[command], maxFiles) {
			a.paths = append(a.paths, m[1]+m[2])
		}
	}
	for _, p := range a.paths {
		isPath := len(p) <= maxPath && !strings.ContainsAny(p, "\n*\x00") && strings.Trim(p, "./ ") != ""
		if p = path.Clean(p); isPath && !slices.Contains(list, p) && p != "/dev/null" {
			list = append(list, p)
		}
	}
	return list
}

// about is the main argument of a call with these files.
func (a *arguments) about(k Kind, files []string) string {
	switch {
	case (k == Read || k == Write) && a.part != "":
		return strings.Join(files, ", ") + " (" + a.part[2:] + ")"
	case k == Read || k == Write:
		return strings.Join(files, ", ")
	case k == Run && a.texts[command] != "":
		return excerpt.FirstLine(a.texts[command])
	case k == Search && a.texts[query] != "" && len(a.paths) > 0:
		return a.texts[query] + " in " + strings.Join(a.paths, ", ")
	}
	for _, kind := range [...]argument{query, address, command, file} {
		if a.texts[kind] != "" {
			return excerpt.FirstLine(a.texts[kind])
		}
	}
	return a.raw[:min(len(a.raw), 4*maxAbout)]
}
