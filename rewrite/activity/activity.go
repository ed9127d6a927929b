// Package activity says what an agent did, by the names of its tools, their arguments, the client's error flag and exit
// codes.
//
// It guesses no meaning of commands, languages or outputs. What it says of a call depends on the call and its result
// alone.
package activity

import (
	"crypto/sha256"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/mark"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Call is what a call does.
type Call struct {
	Tool  string
	Kind  Kind
	About string   // its main argument on one line of at most longestAbout characters
	Files []string // that it reads or writes
	Part  bool     // it reads or changes a part of them
	Cites []string // what in its arguments looks like an artifact's name
	Said  conversation.Verdict
	ask   string // equal for calls that ask the very same
}

const (
	longestAbout     = 120     // characters
	longestArguments = 1 << 20 // bytes of arguments that are read
	longestPath      = 1_000   // bytes
	mostFiles        = 50
)

// Of reads a call, as it stands in a body. Of one with very long arguments the tool alone is known.
func Of(body []byte, call *conversation.Call) Call {
	c := Call{Tool: call.Name, Kind: kindOf(call.Name)}
	if call.Arguments.End-call.Arguments.Start > longestArguments {
		return c
	}
	tool, arguments, freeText := call.Name, call.ArgumentsIn(body), call.FreeText
	c.Cites = slices.Collect(mark.NamesLike(string(arguments)))
	args := readArguments(arguments, freeText)
	c.Files, c.Part = args.files(c.Kind), args.isPart
	if len(c.Files) == 0 && (c.Kind == Read || c.Kind == Write) {
		c.Kind = Other
		if args.texts[address] != "" {
			c.Kind = Fetch
		}
	}
	if c.Kind != Read && c.Kind != Write {
		c.Files = nil
	}
	c.About = shorten.OneLine(args.about(c.Kind, c.Files), longestAbout)
	if c.Kind == Read || c.Kind == Search || c.Kind == Fetch {
		sum := sha256.Sum256(append([]byte(tool+"\n"), arguments...))
		c.ask = string(sum[:])
	}
	return c
}

// Command is the first line of the command that a call runs; empty if it runs none.
func Command(body []byte, call *conversation.Call) string {
	if kindOf(call.Name) != Run || call.Arguments.End-call.Arguments.Start > longestArguments {
		return ""
	}
	args := readArguments(call.ArgumentsIn(body), call.FreeText)
	return strings.TrimRight(shorten.FirstLine(args.texts[command]), " \t\r")
}

// Texts is what the arguments of a call say: the texts and numbers in them, one to a line.
func Texts(body []byte, call *conversation.Call) string {
	raw := call.ArgumentsIn(body)
	if call.FreeText || !span.Valid(raw) {
		return string(raw)
	}
	var s strings.Builder
	span.Leaves(raw, span.SkipSpace(raw, 0), func(v span.Span) {
		s.Write(span.TextOf(v.Of(raw)))
		s.WriteByte('\n')
	})
	return s.String()
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

// Question is equal for two calls that ask for the very same; empty for those that may do more than look.
func (c *Call) Question() string { return c.ask }

// argument is what an argument says.
type argument uint8

const (
	nothing argument = iota
	command
	query
	address
	file
	patch
	arguments // how many there are
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

// ofPart are names of arguments that say which part of a file is wanted, or changed.
var ofPart = []string{"offset", "limit", "viewrange", "startline", "endline", "lines", "oldstring", "oldstr", "oldtext",
	"insertline", "edits", "replacements", "diff", "patch", "search"}

// read are the arguments of a call.
type read struct {
	texts  [arguments]string // the first of each kind
	paths  []string
	raw    string // all of them, without quotes
	part   string // which part of a file is wanted, in the words of the arguments
	isPart bool
}

func readArguments(raw []byte, freeText bool) (r read) {
	r.raw = string(raw)
	if freeText || !gjson.ValidBytes(raw) {
		r.texts[command], r.isPart = r.raw, true
		return r
	}
	if len(raw) <= 2*longestPath {
		r.raw = strings.ReplaceAll(strings.Trim(r.raw, "{} \n"), `"`, "")
	}
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key.Str))
		a := argumentNamed(name)
		if slices.Contains(ofPart, name) {
			if r.isPart = true; v.Type == gjson.Number {
				r.part += ", " + key.Str + " " + v.Raw
			}
		}
		var list []string
		for _, item := range v.Array() {
			if item.Type == gjson.String && item.Str != "" && len(list) < mostFiles {
				list = append(list, item.Str)
			}
		}
		if a == file {
			r.paths = append(r.paths, list...)
		}
		if r.texts[a] == "" && len(list) > 0 {
			if r.texts[a] = list[len(list)-1]; a != command || len(list) > 1 && !strings.HasPrefix(list[min(1, len(list)-1)], "-") {
				r.texts[a] = strings.Join(list, " ")
			}
		}
		return true
	})
	return r
}

// patched finds the files in a patch.
var patched = regexp.MustCompile(`(?m)^(?:\*\*\* (?:Add|Update|Delete) File|\*\*\* Move to): (.+?)\s*$|^\+\+\+ (?:b/)?(\S+)`)

// files are the paths that a call names: those of a patch, or in its arguments.
func (r *read) files(k Kind) (list []string) {
	if all := r.texts[patch] + "\n" + r.texts[command]; k == Write && len(r.paths) == 0 {
		for _, m := range patched.FindAllStringSubmatch(all, mostFiles) {
			r.paths = append(r.paths, m[1]+m[2])
		}
	}
	for _, p := range r.paths {
		isPath := len(p) <= longestPath && !strings.ContainsAny(p, "\n*\x00") && strings.Trim(p, "./ ") != ""
		if p = path.Clean(p); isPath && !slices.Contains(list, p) && p != "/dev/null" {
			list = append(list, p)
		}
	}
	return list
}

// about is the main argument of a call with these files.
func (r *read) about(k Kind, files []string) string {
	switch {
	case (k == Read || k == Write) && r.part != "":
		return strings.Join(files, ", ") + " (" + r.part[2:] + ")"
	case k == Read || k == Write:
		return strings.Join(files, ", ")
	case k == Run && r.texts[command] != "":
		return shorten.FirstLine(r.texts[command])
	case k == Search && r.texts[query] != "" && len(r.paths) > 0:
		return r.texts[query] + " in " + strings.Join(r.paths, ", ")
	}
	for _, a := range [...]argument{query, address, command, file} {
		if r.texts[a] != "" {
			return shorten.FirstLine(r.texts[a])
		}
	}
	return r.raw[:min(len(r.raw), 4*longestAbout)]
}
