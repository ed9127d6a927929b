package recap

import (
	"slices"
	"strings"

	"epitome/rewrite/history"
)

// task is one thing that a call does, so that a later call can be known to do it again.
type task struct {
	program string   // with the words that say what it does: go test, npm run lint
	targets []string // what it does it to
	filter  string   // which part of that; empty if all
}

// covers reports whether a call that did t has done what other is: the same to all of the same targets.
func (t task) covers(other task) bool {
	if t.program != other.program || t.filter != "" && t.filter != other.filter {
		return false
	}
	if len(t.targets) == 0 || slices.ContainsFunc(t.targets, isWide) {
		return true
	}
	for _, target := range other.targets {
		if !slices.Contains(t.targets, target) {
			return false
		}
	}
	return len(other.targets) > 0
}

// isWide reports whether a target is all that there is.
func isWide(target string) bool {
	return target == "./..." || target == "." || target == "./" || target == "..."
}

// tasksOf are what the call does of which a failure would count; none for what only looks.
func tasksOf(r *writer, res *history.Result) (list []task) {
	a := &res.Action
	switch {
	case a.Kind == history.KindShell && !a.Looks && !a.OnlyFiles:
		return tasksIn(r.commandLine(res))
	case a.Kind == history.KindWriting:
		for _, file := range a.Writes {
			list = append(list, task{program: "write " + file})
		}
	case a.Kind == history.KindOther:
		return []task{{program: res.Name}}
	}
	return list
}

// tasksIn are the commands in a command line, without those that do nothing by themselves.
func tasksIn(line string) (list []task) {
	for _, sep := range []string{"&&", "||", ";", "\n"} {
		line = strings.ReplaceAll(line, sep, "\x00")
	}
	for part := range strings.SplitSeq(line, "\x00") {
		part, _, _ = strings.Cut(part, "|")
		if t := taskOf(strings.Fields(part)); t.program != "" {
			list = append(list, t)
		}
	}
	return list
}

// taskOf is the task of one command.
func taskOf(words []string) (t task) {
	for len(words) > 0 && (isCaller(words[0]) || isAssignment(words[0]) || isNumber(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || isIdle(words[0]) {
		return t
	}
	t.program = words[0]
	words = words[1:]
	for len(words) > 0 && saysWhat(t.program) && isWord(words[0]) {
		t.program += " " + words[0]
		words = words[1:]
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.ContainsAny(w, "<>"):
			if strings.HasSuffix(w, ">") || strings.HasSuffix(w, "<") {
				i++
			}
		case isFilter(w) && i+1 < len(words) && !strings.Contains(w, "="):
			t.filter += w + " " + words[i+1]
			i++
		case isFilter(w):
			t.filter += w
		case !strings.HasPrefix(w, "-") && !isNumber(w):
			t.targets = append(t.targets, strings.Trim(w, `"'`))
		}
	}
	return t
}

// isCaller reports whether a word only calls the command behind it.
func isCaller(word string) bool {
	switch word {
	case "sudo", "time", "timeout", "env", "nice", "exec", "command", "npx", "bunx", "…", "(", "{":
		return true
	}
	return false
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789smh.") == "" }

// isIdle reports whether a command's failure or success means nothing by itself.
func isIdle(program string) bool {
	switch program {
	case "cd", "echo", "printf", "export", "set", "unset", "source", ".", "sleep", "true", "false", "pwd", "test", "[", "exit",
		"wait", "kill", "pkill", "ls", "rg", "grep", "egrep", "find", "fd", "cat", "head", "tail", "which", "wc", "diff",
		"cmp", "read", "for", "while", "do", "done", "if", "then", "fi", "#":
		return true
	}
	return strings.HasPrefix(program, "#")
}

// saysWhat reports whether the word behind says what the program does.
func saysWhat(program string) bool {
	switch program {
	case "go", "cargo", "npm", "pnpm", "yarn", "bun", "git", "docker", "kubectl", "make", "uv", "poetry", "pip", "dotnet",
		"mvn", "gradle", "terraform", "npm run", "pnpm run", "yarn run", "bun run", "uv run", "poetry run", "docker compose",
		"go mod", "python -m", "deno", "just", "task":
		return true
	}
	return false
}

// isWord reports whether a word is a plain one: no option, path or pattern.
func isWord(word string) bool { return !strings.ContainsAny(word[:1], "-./\"'$<>*") }

// isFilter reports whether an option picks a part of what is there.
func isFilter(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	switch name {
	case "-run", "--run", "-k", "-t", "-m", "--filter", "--grep", "-g", "--testNamePattern", "--test", "-p", "--package", "-D":
		return true
	}
	return false
}
