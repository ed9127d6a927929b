// Package activity tells what an agent did, from its tool calls and their results.
//
// It reads tool names and arguments, the client's error flag and exit codes, and nothing else: it guesses no meaning of
// commands, tools or languages.
package activity

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
)

// Call is one tool call with its result.
type Call struct {
	Item, Result int      // items of the request; Result is -1 while there is none
	Tool         string   // its name
	Kind         Kind     //
	About        string   // the main argument on one line, of at most 250 characters, with ↵ for each end of a line
	Files        []string // that it reads or writes
	Cites        []string // words in its arguments that may be names of artifacts
	IsError      bool     // the client marked the result as failed
	Exit         int      // the exit code that the result tells; -1 if it tells none
}

const maxAbout = 250 // characters

// Of reads all calls of a request in the order of their items. known are those of the request from which its first
// r.Reused items were taken.
func Of(r *conversation.Request, known []Call) []Call {
	byItem := func(c Call, item int) int { return c.Item - item }
	n, _ := slices.BinarySearchFunc(known, r.Reused, byItem)
	calls := append(make([]Call, 0, n+8), known[:n]...)
	for k := range calls {
		if c := &calls[k]; c.Result >= r.Reused {
			c.Result, c.IsError, c.Exit = -1, false, -1
		}
	}
	for i := r.Reused; i < len(r.Items); i++ {
		it, caller := &r.Items[i], r.Callers()[i]
		for k := range it.Calls {
			c := read(r.Body, &it.Calls[k])
			c.Item, c.Result, c.Exit = i, -1, -1
			calls = append(calls, c)
		}
		if caller < 0 {
			continue
		}
		first, _ := slices.BinarySearchFunc(calls, caller, byItem)
		isAnswered := func(c conversation.Call) bool { return c.ID == it.Answers }
		if c := &calls[first+slices.IndexFunc(r.Items[caller].Calls, isAnswered)]; c.Result < 0 {
			c.Result, c.IsError = i, it.IsError
			if c.Kind == Run {
				c.Exit = exitCode(r.TextOf(it))
			}
		}
	}
	return calls
}

// read reads a call without its result.
func read(body []byte, call *conversation.Call) Call {
	c := Call{Tool: call.Name, Kind: kindOf(call.Name)}
	raw := call.ArgumentsIn(body)
	c.Cites = slices.Collect(excerpt.ArtifactNames(string(raw)))
	args := readArguments(raw, call.FreeText)
	if c.Kind == Read || c.Kind == Write {
		if c.Files = args.files(); len(c.Files) == 0 {
			c.Kind = Other
		}
	}
	c.About = excerpt.OneLine(args.mainArgument(c.Files), maxAbout)
	return c
}

// String names the tool and its main argument, on one line.
func (c *Call) String() string {
	name := cmp.Or(excerpt.OneLine(c.Tool, maxAbout), "a result")
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
	var b strings.Builder
	var write func(_, v gjson.Result) bool
	write = func(_, v gjson.Result) bool {
		if v.Type == gjson.JSON {
			v.ForEach(write)
		} else {
			b.WriteString(v.String() + "\n")
		}
		return true
	}
	write(gjson.Result{}, gjson.ParseBytes(raw))
	return b.String()
}

// arguments are those of a call.
type arguments struct {
	command, query        string   // the first of each
	paths, numbers, texts []string // numbers with their names, such as "offset 10"; texts are all that are strings
	raw                   []byte
}

// signs are left out of the names of arguments.
var signs = strings.NewReplacer("_", "", "-", "")

func readArguments(raw []byte, freeText bool) arguments {
	if freeText || !gjson.ValidBytes(raw) {
		return arguments{command: string(raw), texts: []string{string(raw)}}
	}
	a := arguments{raw: raw}
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		if v.Type == gjson.Number {
			a.numbers = append(a.numbers, key.Str+" "+v.Raw)
		}
		var list []string
		for _, item := range v.Array() {
			if item.Type == gjson.String && item.Str != "" {
				list = append(list, item.Str)
			}
		}
		a.texts = append(a.texts, list...)
		text := strings.Join(list, " ")
		switch strings.ToLower(signs.Replace(key.Str)) {
		case "command", "cmd", "commands", "script", "code", "shellcommand":
			a.command = cmp.Or(a.command, strings.TrimPrefix(text, "bash -lc "))
		case "pattern", "query", "question", "regex", "queries", "q", "search", "globpattern", "keywords", "url", "urls", "uri":
			a.query = cmp.Or(a.query, text)
		case "filepath", "path", "absolutepath", "targetfile", "notebookpath", "relativepath", "relativeworkspacepath",
			"file", "filename", "paths", "filepaths", "files", "directory", "dirpath", "source", "destination", "oldpath",
			"newpath":
			a.paths = append(a.paths, list...)
		}
		return true
	})
	return a
}

// patched matches the files in a patch.
var patched = regexp.MustCompile(`(?m)^(?:\*\*\* (?:Add|Update|Delete) File|\*\*\* Move to): (.+?)\s*$|^\+\+\+ (?:b/)?(\S+)`)

// files returns the paths that a call names in its arguments, or else in a patch.
func (a *arguments) files() (list []string) {
	paths := a.paths
	if len(paths) == 0 {
		for _, m := range patched.FindAllStringSubmatch(strings.Join(a.texts, "\n"), -1) {
			paths = append(paths, m[1]+m[2])
		}
	}
	for _, p := range paths {
		if p = path.Clean(p); strings.Trim(p, "./ ") != "" && !strings.ContainsAny(p, "\n*\x00") && p != "/dev/null" {
			list = append(list, p)
		}
	}
	return slices.Compact(list)
}

// mainArgument returns what tells most of a call: its files, its command, its query, or else all arguments.
func (a *arguments) mainArgument(files []string) string {
	paths := strings.Join(a.paths, ", ")
	switch {
	case len(files) > 0:
		return strings.Join(slices.Concat(files, a.numbers), ", ")
	case a.command != "":
		return strings.ReplaceAll(strings.TrimSpace(a.command), "\n", " ↵ ")
	case a.query != "" && paths != "":
		return a.query + " in " + paths
	}
	all := strings.Trim(string(a.raw[:min(len(a.raw), 4*maxAbout)]), "{} \n")
	return cmp.Or(a.query, paths, strings.ReplaceAll(all, `"`, ""))
}
