package rewrite

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
)

// reader finds out how the model can read artifacts: with epitome's own tool, if the client offers that, from files, or
// not at all.
func (x *shaping) reader() ladder.Reader {
	recall := x.shaper.deps.Recall
	switch {
	case recall == RecallAll, recall == RecallOfferedTo && offersRecall(x.request):
		return ladder.ReadsByTool
	case offersNoReader(x.request):
		return ladder.ReadsNothing
	}
	return ladder.ReadsFiles
}

// Clients name a server's tool after both (mcp__epitome__recall, epitome_recall), or declare the server that has it.
// Where they only list it, it begins a line of a JSON text; a sentence that speaks of it is no list.
var (
	declaredTool = regexp.MustCompile(`"(?:mcp[_-]{1,2})?epitome(?:[_-]{1,3}|[.:/])recall"|` +
		`"(?:name|server_label|mcp_server_name)"\s*:\s*"(?:mcp[_-]{1,2})?epitome_{0,2}"`)
	listedTool = regexp.MustCompile(`(?:^"|[^\\]"|\\n)(?:- )?(?:mcp[_-]{1,2})` +
		`(?:epitome[_-]{1,3}recall(?:["\\:,<]|$)|epitome_{0,2}(?:["\\:<]|$))`)
)

// offersRecall reports whether the model may call the tool that reads artifacts: it stands among the tools, or is listed
// before the model's first words, which stay the same.
func offersRecall(r *conversation.Request) bool {
	word := []byte("epitome")
	declares := func(text []byte, form *regexp.Regexp) bool { return bytes.Contains(text, word) && form.Match(text) }
	if declares(r.Tools.Of(r.Body), declaredTool) || declares(r.System.Of(r.Body), listedTool) {
		return true
	}
	return slices.ContainsFunc(r.Items[:r.Head], func(it conversation.Item) bool {
		return declares(it.Of(r.Body), listedTool)
	})
}

// readers are words in the names of tools by which an agent may read a file of its machine: those that read, edit, list
// or search files, run commands or code, ask another agent, which may, or bring in more tools.
var readers = []string{
	"read", "file", "files", "filesystem", "fs", "folder", "directory", "dir", "path", "workspace", "repo", "grep",
	"glob", "readfile", "writefile", "cat", "ls", "view", "edit", "editor", "write", "patch", "open", "download",
	"resource", "resources", "artifact", "artifacts", "document", "documents", "bash", "shell", "sh", "zsh",
	"powershell", "terminal", "console", "cmd", "command", "commands", "exec", "execute", "run", "process",
	"script", "sandbox", "python", "code", "notebook", "cell", "jupyter", "repl", "interpreter", "eval",
	"javascript", "computer", "desktop", "task", "agent", "subagent", "delegate", "spawn", "tool", "tools", "mcp",
	"skill", "memory", "recall",
}

// offersNoReader reports whether the client declares tools, and none of them may read a file of its machine, as far as
// their names say. A tool without a name, or of a kind of its provider's, may do anything.
func offersNoReader(r *conversation.Request) bool {
	const maxTools, maxName = 256, 256
	if r.Tools.Empty() {
		return false
	}
	n, may := 0, false
	gjson.ParseBytes(r.Tools.Of(r.Body)).ForEach(func(_, tool gjson.Result) bool {
		name, kind := tool.Get("name").Str, tool.Get("type").Str
		if name == "" {
			name = tool.Get("function.name").Str
		}
		isOwn := kind == "" || kind == "function" || kind == "custom" || strings.HasPrefix(kind, "web_")
		n++
		may = name == "" || len(name) > maxName || !isOwn || mayRead(name) || n > maxTools
		return !may
	})
	return n > 0 && !may
}

// mayRead reports whether a tool of this name may read a file. Whoever runs SQL runs it elsewhere.
func mayRead(name string) bool {
	words := activity.Words(strings.TrimPrefix(name, "mcp__")) // those of its server count
	if slices.Contains(words, "sql") {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(readers, w) }) ||
		slices.Contains(readers, strings.Join(words, "")) || len(words) == 0
}
