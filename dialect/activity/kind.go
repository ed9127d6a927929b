package activity

import (
	"regexp"
	"slices"
	"strings"
)

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
// that fits counts: write_stdin, which feeds a running command, is of kind Run as its entry comes before Write. Of kind
// Ask there are whole names alone, as its results count as the user's words.
var kinds = []struct {
	kind  Kind
	names []string
}{
	{Ask, strings.Fields("ask question ask_user ask_user_question ask_user_questions ask_followup_question " +
		"request_user_input attempt_completion exit_plan_mode plan_mode_respond")},
	{Todo, strings.Fields("todo todos update_plan task_create task_update create_task update_task add_task")},
	{Run, strings.Fields("write_stdin")},
	{Write, strings.Fields("write edit editor patch create replace insert delete remove rename move save append")},
	{Fetch, strings.Fields("fetch webfetch visit url scrape crawl browse webpage")},
	{Search, strings.Fields("search websearch grep rg glob find finder list ls tree lsp")},
	{Run, strings.Fields("bash sh zsh shell cmd command terminal powershell python exec execute run process")},
	{Read, strings.Fields("read view cat open file")},
}

// whole matches names of tools of kind Write that take all of a file's new content.
var whole = regexp.MustCompile(`(?i)write|create|save`)

var word = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// kindOf returns what a tool is for by the words of its name: "read" and "file" in read_file, read-file and ReadFile.
func kindOf(tool string) Kind {
	name := strings.ToLower(strings.Join(word.FindAllString(tool, -1), "_"))
	words := append(strings.Split(name, "_"), name) // the whole name, too, for names of several words in kinds
	for _, k := range kinds {
		if k.kind == Ask && !slices.Contains(k.names, name) {
			continue
		}
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(k.names, w) }) {
			return k.kind
		}
	}
	return Other
}
