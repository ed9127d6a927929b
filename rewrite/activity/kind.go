package activity

import (
	"regexp"
	"slices"
	"strings"
)

// Kind is what a tool is for.
type Kind uint8

// The kinds of tools. A tool for reading or writing is of kind Other in a call that names no file.
const (
	Other Kind = iota
	Read
	Write
	Run
	Search
	Fetch
	Todo
	Ask // the user
)

// kinds lists names of tools and words in them by which their kind is known. The first kind that fits counts.
var kinds = []struct {
	kind  Kind
	names []string
}{
	{Ask, strings.Fields("ask question questions request_user_input attempt_completion exit_plan_mode plan_mode_respond")},
	{Todo, strings.Fields("todo todos update_plan")},
	{Run, strings.Fields("write_stdin")},
	{Write, strings.Fields("write edit editor patch create replace insert delete remove rename move save append")},
	{Fetch, strings.Fields("fetch webfetch visit url scrape crawl browse webpage")},
	{Search, strings.Fields("search websearch grep rg glob find finder list ls tree lsp")},
	{Run, strings.Fields("bash sh zsh shell cmd command terminal powershell python exec execute run process")},
	{Read, strings.Fields("read view cat open file")},
}

var word = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// kindOf returns what a tool is for, by the words of its name: "read" and "file" of read_file, read-file and ReadFile.
func kindOf(tool string) Kind {
	words := word.FindAllString(tool, -1)
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	words = append(words, strings.Join(words, "_"))
	for _, k := range kinds {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(k.names, w) }) {
			return k.kind
		}
	}
	return Other
}
