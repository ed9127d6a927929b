// Package activity reads what an agent did from the names and arguments of its tool calls, and how the calls
// ended from the client's mark, exit codes and the words and objects that results begin with. It does not interpret
// commands.
package activity

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
)

// Call is one tool call with its result.
type Call struct {
	Item, Result int           // indexes of the items with the call and with its result; -1: it has none; see Output
	Tool         string        // name of the tool
	Arguments    jsonspan.Span // of the conversation.Call
	Output       jsonspan.Span // of a call that the provider ran: Result is Item then, or -1; see ResultText
	Kind         Kind          // what the call does
	About        string        // main argument on one line, at most 250 characters; ↵ is a line break of a command
	Files        []string      // paths that the call reads or writes; empty unless Kind is Read or Write
	Exit         int           // the exit code that the result states; else -1

	// A result is stale if a later call changes or repeats it. These have the item of the first such call's result, or
	// 0.
	Patched  int // the file that it shows was written
	Replaced int // nothing new is in it: the file was read again or written whole, or an equal call has nearly the same

	// Again is the item of the newest earlier result of the same tool that had what this lookup asks for, or 0.
	Again int

	end   ending
	shows bool   // a command that only shows text which others wrote
	part  string // arguments that may choose a part of a file, or an output
}

const maxAbout = 250 // characters

// Of reads all calls of a request in the order of their items. The first r.Reused items were taken over from an earlier
// request: their calls are taken from known, which has the calls of that request (nil if r.Reused is 0). Paths in
// r.Folder are those without it.
func Of(r *conversation.Request, known []Call) []Call {
	if len(known) > 0 && r.Reused == len(r.Items) {
		return known // no call is new, and none has to be changed
	}
	calls := Before(r.Reused, known)
	for i := r.Reused; i < len(r.Items); i++ {
		it := &r.Items[i]
		for _, call := range slices.Concat(it.Calls, it.Hosted) {
			calls = append(calls, readCall(r.Body, &call, i))
		}
	}
	h := &history{
		request: r, sizes: map[int]*Call{}, newest: make(map[[3]string]*Call, len(known)), reads: map[string][]*Call{},
	}
	for i, caller := range r.Callers() {
		if caller < 0 {
			continue
		}
		c := &calls[r.Answered[i]] // the item is its first result
		isNew := i >= r.Reused
		if isNew {
			c.Result = i
			c.readEnd(r.TextOf(&r.Items[i]), r.Items[i].IsError)
		}
		h.add(c, isNew)
	}
	return calls
}

// Before returns a copy of those calls that are before an item, without what they have of it and later ones.
func Before(item int, calls []Call) []Call {
	n, _ := slices.BinarySearchFunc(calls, item, func(c Call, i int) int { return c.Item - i })
	kept := append(make([]Call, 0, n+8), calls[:n]...)
	for k := range kept {
		c := &kept[k]
		if c.Result >= item {
			c.Result = -1
			c.Again = 0
			c.Exit = -1
			c.end = noEnd
		}
		if c.Patched >= item {
			c.Patched = 0
		}
		if c.Replaced >= item {
			c.Replaced = 0
		}
	}
	return kept
}

// readCall reads a call in an item, without a result in a later one. If the tool's name says that it reads or writes,
// but no argument names a file, the call is of kind Other: it may read mail, or create an issue.
func readCall(body []byte, call *conversation.Call, item int) Call {
	c := Call{
		Item: item, Result: -1, Tool: call.Name, Arguments: call.Arguments, Output: call.Output,
		Kind: kindOf(call.Name), Exit: -1, end: noEnd,
	}
	args := readArguments(call.ArgumentsIn(body), call.FreeText)
	if c.Kind == Write && kindOf(args.command) == Read { // an editor that is asked to view a file
		c.Kind = Read
	}
	if c.Kind == Read || c.Kind == Write {
		c.Files = args.files()
		if len(c.Files) == 0 {
			c.Kind = Other
		}
	}
	c.About = excerpt.OneLine(args.mainArgument(c.Files), maxAbout)
	c.part = args.choice
	c.shows = c.Kind == Run && showsFiles(args.command)
	if call.HasRun {
		c.Result = item
		c.readEnd(jsonspan.StringOf(call.Output.Of(body)), call.IsError)
	}
	return c
}

// String returns the tool's name and the main argument on one line.
func (c *Call) String() string {
	name := cmp.Or(excerpt.OneLine(c.Tool, maxAbout), "a result") // such a Call stands in for an unknown one
	if c.About == "" {
		return name
	}
	return name + " `" + c.About + "`"
}

// Texts returns the values in a call's arguments without their names, a line for each. Text that is not JSON stays, and
// so does JSON that is nested deeply: each level is read again for each level above it.
func Texts(body []byte, call *conversation.Call) string {
	raw := call.ArgumentsIn(body)
	if call.FreeText || !jsonspan.IsFlat(raw, 16) || !jsonspan.Valid(raw) {
		return string(raw)
	}
	var b strings.Builder
	var write func(key, value gjson.Result) bool
	write = func(key, value gjson.Result) bool {
		if value.Type == gjson.JSON { // an object or a list
			value.ForEach(write)
		} else if !strings.HasPrefix(key.Str, "encrypted") { // such as content of what a provider found
			b.WriteString(value.String() + "\n")
		}
		return true
	}
	write(gjson.Result{}, gjson.ParseBytes(raw))
	return b.String()
}

// ResultText returns what came back from a call, as lines.
func (c *Call) ResultText(r *conversation.Request) string {
	if c.Result > c.Item {
		return r.LinesOf(&r.Items[c.Result])
	}
	isText := !c.Output.Empty() && r.Body[c.Output.Start] == '"'
	return Texts(r.Body, &conversation.Call{Arguments: c.Output, FreeText: isText})
}

// arguments are the arguments of one call, sorted by what their names say.
type arguments struct {
	command, query string   // the first argument that is a command, and the first that is a query; empty if none is
	paths, numbers []string // each number with its name, such as "offset 10"
	named          []string // all values, each with its name, except empty ones
	choice         string   // all but commands, paths and descriptions: it may choose a part of a file or an output
	texts          []string // strings that are arguments or in a list that is one, no deeper: any may be a patch
}

// signs removes _ and - from names of arguments: in small letters, file_path, file-path and filePath are one name then.
var signs = strings.NewReplacer("_", "", "-", "")

// readArguments sorts arguments by the names that tools of known agents give them. Free text and invalid JSON count as
// a command: a tool without named arguments takes a script or a patch.
func readArguments(raw []byte, freeText bool) arguments {
	if freeText || !jsonspan.Valid(raw) {
		return arguments{command: string(raw), texts: []string{string(raw)}}
	}
	a := arguments{}
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		if shown := value.String(); shown != "" {
			a.named = append(a.named, key.Str+":"+shown[:min(len(shown), 4*maxAbout)]) // enough for maxAbout characters
		}
		if value.Type == gjson.Number {
			a.numbers = append(a.numbers, key.Str+" "+value.Raw)
		}
		var list []string                    // the strings of a list, or a string alone
		for _, item := range value.Array() { // of a value that is no list, Array makes a list of one
			if item.Type == gjson.String && item.Str != "" {
				list = append(list, item.Str)
			}
		}
		a.texts = append(a.texts, list...)
		text := strings.Join(list, " ")
		switch strings.ToLower(signs.Replace(key.Str)) {
		case "command", "cmd", "commands", "script", "code", "shellcommand":
			a.command = cmp.Or(a.command, strings.TrimPrefix(text, "bash -lc ")) // Codex runs commands with it
		case "pattern", "query", "question", "regex", "queries", "q", "search", "globpattern", "keywords", "url", "urls",
			"uri", "": // of a list, whose values have no names
			a.query = cmp.Or(a.query, text)
			a.choice += key.Str + " " + text[:min(len(text), maxAbout)] + ","
		case "filepath", "path", "absolutepath", "targetfile", "notebookpath", "relativepath", "relativeworkspacepath",
			"file", "filename", "paths", "filepaths", "files", "directory", "dirpath", "source", "destination", "oldpath",
			"newpath":
			a.paths = append(a.paths, list...)
		case "description", "explanation":
		default:
			a.choice += key.Str + " " + value.Raw[:min(len(value.Raw), maxAbout)] + ","
		}
		return true
	})
	return a
}

// patchedFile matches lines that name a file in a patch: in the format of Codex's apply_patch, or in a unified diff.
var patchedFile = regexp.MustCompile(`(?m)^(?:\*\*\* (?:Add|Update|Delete) File|\*\*\* Move to): (.+?)\s*$|` +
	`^\+\+\+ (?:b/)?(\S+)`)

// files returns the paths among the arguments, or else those in a patch, except patterns and folders like / and ..
func (a *arguments) files() (list []string) {
	paths := a.paths
	if len(paths) == 0 {
		for _, m := range patchedFile.FindAllStringSubmatch(strings.Join(a.texts, "\n"), -1) {
			paths = append(paths, m[1]+m[2]) // one of them is empty
		}
	}
	for _, p := range paths { // a diff has /dev/null as the new name of a deleted file
		p = path.Clean(p)
		if strings.Trim(p, "./ ") != "" && !strings.ContainsAny(p, "\n*\x00") && p != "/dev/null" {
			list = append(list, p)
		}
	}
	return slices.Compact(list) // a patch may have several parts for one file
}

// mainArgument returns what describes a call best: files and numbers, the command, the query, paths, or all arguments
// unless they are numbers.
func (a *arguments) mainArgument(files []string) string {
	paths := strings.Join(a.paths, ", ") // of any call, such as the folder of a search
	switch {
	case len(files) > 0:
		return strings.Join(slices.Concat(files, a.numbers), ", ")
	case a.command != "":
		return strings.ReplaceAll(strings.TrimSpace(a.command), "\n", " ↵ ")
	case a.query != "" && paths != "":
		return a.query + " in " + paths
	}
	if len(a.numbers) == len(a.named) {
		return "" // such as how long to wait
	}
	return cmp.Or(a.query, paths, strings.Join(a.named, ", "))
}

// Kind is what a tool is for.
type Kind uint8

// The kinds of tools. A call that names no file is never of kind Read or Write: see readCall.
const (
	Other Kind = iota
	Read
	Write
	Run // commands
	Search
	Fetch // from the web
	Todo  // the agent's task list
	Ask   // the user
)

// Looks reports whether calls of the kind only look something up, so that it matters little how often they were made.
func (k Kind) Looks() bool { return k == Read || k == Search || k == Fetch }

// kinds lists words in names of tools, and whole names of several words, that show what a tool is for. The first entry
// that fits counts: write_stdin, which feeds a running command, is of kind Run as its entry comes before Write.
var kinds = []struct {
	kind  Kind
	names []string
}{
	{Todo, strings.Fields("todo todos update_plan task_create task_update create_task update_task add_task")},
	{Run, strings.Fields("write_stdin")},
	{Other, strings.Fields("upload")}, // of a file, of which it shows nothing
	{Write, strings.Fields("write edit editor patch create replace insert delete remove rename move save append")},
	{Fetch, strings.Fields("fetch webfetch visit url scrape crawl browse webpage")},
	{Search, strings.Fields("search websearch grep rg glob find finder list ls tree lsp")},
	{Run, strings.Fields("bash sh zsh shell cmd command terminal powershell python exec execute run process")},
	{Read, strings.Fields("read view cat open file")},
}

// asking are the whole names of tools of kind Ask. A word does not do: their results are quoted as the user's answers.
var asking = strings.Fields("question ask_user ask_user_question ask_user_questions ask_followup_question " +
	"request_user_input attempt_completion exit_plan_mode plan_mode_respond")

// whole matches names of tools of kind Write that take all of a file's new content.
var whole = regexp.MustCompile(`(?i)write|create|save`)

var word = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// kindOf returns what a tool is for by the words of its name: "read" and "file" in read_file, read-file and ReadFile.
func kindOf(tool string) Kind {
	name := strings.ToLower(strings.Join(word.FindAllString(tool, -1), "_"))
	if slices.Contains(asking, name) {
		return Ask
	}
	words := append(strings.Split(name, "_"), name) // the whole name, too, for names of several words in kinds
	for _, k := range kinds {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(k.names, w) }) {
			return k.kind
		}
	}
	return Other
}

// recallTool matches the name of epitome's own tool recall, before which clients put that of the server
// (mcp__epitome__recall, epitome_recall), and in a declaration of tools the name of its MCP server.
var recallTool = regexp.MustCompile(`epitome[_.:-]{1,3}recall\b|` +
	`"(?:name|server_label|mcp_server_name)"\s*:\s*"(?:mcp[_-]{1,2})?epitome_{0,2}"`)

// HasRecall reports whether epitome's own tool recall is declared before the model's first answer: later requests begin
// in the same way.
func HasRecall(r *conversation.Request) bool {
	return slices.ContainsFunc(r.Before(r.Head), func(span jsonspan.Span) bool {
		text := span.Of(r.Body)
		return bytes.Contains(text, []byte("epitome")) && recallTool.Match(text)
	})
}

// CompactAnswer is what epitome's own tool compact answers. Behind a call of the tool, the next request is compacted.
const CompactAnswer = "epitome compacts this conversation before its next request: a summary takes the place of older " +
	"turns. A conversation that is too short for that stays as it is."

// AsksToCompact reports whether the model's newest answer has called epitome's own tool compact. calls are those of r.
// Its answer tells the tool from others of that name: clients put names of their own for its server before it.
func AsksToCompact(r *conversation.Request, calls []Call) bool {
	newest := len(r.Items) - 1
	for newest > 0 && !r.Items[newest].StartsAnswer {
		newest--
	}
	return slices.ContainsFunc(calls, func(c Call) bool {
		isOurs := c.Item >= newest && strings.HasSuffix(c.Tool, "compact") && c.State() == "ok"
		return isOurs && strings.Contains(c.ResultText(r), CompactAnswer)
	})
}
