package offer

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
)

// Words in the names of tools by which an agent may read a file of its machine: those that read, edit, list or search
// files, run commands or code, ask another agent, which may, or bring in more tools.
var readers = []string{
	"read", "file", "files", "filesystem", "fs", "folder", "directory", "dir", "path", "workspace", "repo", "grep",
	"glob", "readfile", "writefile", "cat", "ls", "view", "edit", "editor", "write", "patch", "open", "download",
	"resource", "resources", "artifact", "artifacts", "document", "documents", "bash", "shell", "sh", "zsh",
	"powershell", "terminal", "console", "cmd", "command", "commands", "exec", "execute", "run", "process",
	"script", "sandbox", "python", "code", "notebook", "cell", "jupyter", "repl", "interpreter", "eval",
	"javascript", "computer", "desktop", "task", "agent", "subagent", "delegate", "spawn", "tool", "tools", "mcp",
	"skill", "memory", "recall",
}

// NoReader reports whether the client declares tools, and none of them may read a file of its machine, as far as their
// names say. Of a tool without a name, or of a kind of its provider's, nobody knows.
func NoReader(req *conversation.Request) bool {
	const most, longestName = 256, 256 // tools, bytes
	if req.Tools.Empty() {
		return false
	}
	n, may := 0, false
	gjson.ParseBytes(req.Tools.Of(req.Body)).ForEach(func(_, tool gjson.Result) bool {
		name, kind := tool.Get("name").Str, tool.Get("type").Str
		if name == "" {
			name = tool.Get("function.name").Str
		}
		isOwn := kind == "" || kind == "function" || kind == "custom"
		n++
		may = name == "" || len(name) > longestName || !isOwn && !strings.HasPrefix(kind, "web_") || mayRead(name) || n > most
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
