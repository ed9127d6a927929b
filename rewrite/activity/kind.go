package activity

import (
	"slices"
	"strings"
	"unicode"
)

// Kind is what a tool is for.
type Kind uint8

// The kinds of tools. A tool that reads or writes no file which its arguments name is another one.
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

// named are tools whose names' words do not say what they are for.
var named = map[string]Kind{
	"cat": Read, "open": Read, "bash_output": Run, "exec": Run, "execute": Run, "run": Run, "sh": Run, "zsh": Run, "cmd": Run,
	"ls": Search, "rg": Search, "lsp": Search, "tree": Search, "finder": Search,
	"str_replace_based_edit_tool": Write, "text_editor": Write, "editor": Write, "multi_edit": Write,
	"update_plan": Todo, "write_stdin": Run,
	"question": Ask, "attempt_completion": Ask, "exit_plan_mode": Ask, "plan_mode_respond": Ask,
	"request_user_input": Ask, "ask_followup_question": Ask, "visit": Fetch,
}

// words are those in names of tools by which their kind is known; the first that stands in a name counts.
var words = []struct {
	kind Kind
	any  []string
}{
	{Todo, []string{"todo", "todos"}},
	{Write, []string{"write", "edit", "patch", "create", "replace", "insert", "delete", "remove", "rename", "move", "save",
		"append", "overwrite"}},
	{Fetch, []string{"fetch", "url", "scrape", "crawl", "browse", "webpage"}},
	{Search, []string{"search", "grep", "glob", "find", "list"}},
	{Run, []string{"bash", "shell", "terminal", "command", "powershell", "python", "exec", "execute", "process"}},
	{Read, []string{"read", "view", "file"}},
}

// kindOf is what a tool is for, by its own name.
func kindOf(tool string) Kind {
	own := tool[strings.LastIndexAny(tool, "./:")+1:]
	if i := strings.LastIndex(own, "__"); i >= 0 {
		own = own[i+2:]
	}
	parts := Words(own)
	if k, ok := named[strings.Join(parts, "_")]; ok {
		return k
	}
	if len(parts) > 1 && (parts[0] == "ask" || parts[len(parts)-1] == "questions") {
		return Ask
	}
	for _, w := range words {
		if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(w.any, p) }) {
			return w.kind
		}
	}
	return Other
}

// Words are those of a tool's name in small letters: of read_file, read-file and ReadFile read and file.
func Words(name string) []string {
	var b strings.Builder
	last := ' '
	for _, r := range name[:min(len(name), 200)] {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		if last = r; unicode.IsLetter(r) {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}
