package shell

import "strings"

// job is what a command does with the files among its words.
type job uint8

const (
	noFiles   job = iota
	showing       // it shows them
	scripted      // likewise; the first word may be its own program
	removing      // it removes them
	changing      // it writes them
	copying       // it writes the last one
	moving        // likewise, and removes the others
	joining       // it writes them, and shows what it is given
	versions      // git
	patching      // they stand in the here document it is given, or in a word
	going         // it changes the folder
	inviting      // another shell reads its words
	preceding     // another command follows
	windows       // a command of PowerShell that shows files
	windowsTo     // one that writes them
)

// program is a command that is known.
type program struct {
	job    job
	values string // letters of the options that take the next word
	filter bool   // of what it is given, it shows much as it stands
	looks  bool   // it changes nothing
	quiet  bool   // what it shows is not worth keeping
}

// programNamed is what is known of the command of this name: what it does with files, or that it does nothing; ok is
// false if it is none that is known.
func programNamed(name string) (known program, ok bool) {
	switch name {
	case "cat", "less", "more", "tac":
		return program{job: showing, filter: true, looks: true}, true
	case "nl":
		return program{job: showing, values: "bdfhilnsvw", filter: true, looks: true}, true
	case "head":
		return program{job: showing, values: "nc", filter: true, looks: true}, true
	case "tail":
		return program{job: showing, values: "ncs", filter: true, looks: true}, true
	case "bat", "batcat":
		return program{job: showing, values: "rlHm", filter: true, looks: true}, true
	case "sed":
		return program{job: scripted, values: "efl", filter: true, looks: true}, true
	case "awk", "gawk":
		return program{job: scripted, values: "Fvf", filter: true, looks: true}, true
	case "perl":
		return program{job: scripted, values: "eEIMm"}, true
	case "rm", "unlink":
		return program{job: removing}, true
	case "touch":
		return program{job: changing, values: "drt"}, true
	case "truncate":
		return program{job: changing, values: "rs"}, true
	case "cp":
		return program{job: copying, values: "S"}, true
	case "mv":
		return program{job: moving, values: "S"}, true
	case "tee":
		return program{job: joining, filter: true}, true
	case "git":
		return program{job: versions, looks: true}, true
	case "patch", "apply_patch", "applypatch":
		return program{job: patching}, true
	case "cd", "pushd":
		return program{job: going, looks: true, quiet: true}, true
	case "bash", "sh", "zsh", "dash", "ksh", "powershell", "powershell.exe", "pwsh", "cmd", "cmd.exe":
		return program{job: inviting, looks: true}, true
	case "sudo", "time", "nohup", "command", "builtin", "env", "timeout", "nice", "stdbuf":
		return program{job: preceding}, true
	case "type":
		return program{job: windows, looks: true}, true
	case "get-content", "gc":
		return program{job: windows, filter: true, looks: true}, true
	case "set-content", "add-content", "out-file", "remove-item", "del":
		return program{job: windowsTo}, true
	case "select-object", "select-string", "grep", "egrep", "fgrep", "rg", "sort", "uniq", "cut", "tr", "jq",
		"column", "fold":
		return program{filter: true, looks: true}, true
	case "xxd", "ls", "wc", "file", "stat", "du", "df", "tree", "date", "whoami", "hostname", "uname", "ps", "lsof",
		"id", "diff", "cmp", "which", "whereis", "basename", "dirname", "realpath", "readlink", "md5sum",
		"sha256sum", "find", "fd", "ag", "printenv":
		return program{looks: true}, true
	case "pwd", "echo", "printf", "true", ":", "test", "[", "[[", "sleep", "set", "export", "exit":
		return program{looks: true, quiet: true}, true
	}
	return program{}, false
}

// programOf returns what is known of the command that the word w names.
func programOf(w token) program {
	name := w.text
	if !w.sure || len(name) > LongestPath {
		return program{}
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	known, ok := programNamed(name)
	if !ok && strings.IndexByte(name, '-') > 0 { // PowerShell's names are written in any case
		known, _ = programNamed(strings.ToLower(name))
	}
	return known
}

// passes reports whether a command shows what it is given, or some of it. list is the command's words.
func passes(known program, list []token) bool {
	if !known.filter || len(list) == 0 {
		return known.filter
	}
	if name := list[0].text; strings.HasSuffix(name, "grep") || name == "rg" {
		_, o := operands(list[1:], "ABCefm", "")
		return !o.has('c') && !o.has('q') && !o.has('l') && !o.has('L')
	}
	return true
}

// asks reports whether a command only answers yes or no, so that what follows may well not be done.
func asks(list []token) bool {
	switch name := list[0].text; name {
	case "test", "[", "[[":
		return true
	case "grep", "rg":
		return !passes(program{filter: true}, list)
	}
	return false
}

// acts reports whether a search does something to what it finds.
func acts(list []token) bool {
	if list[0].text != "find" && list[0].text != "fd" {
		return false
	}
	for _, w := range list[1:] {
		switch option := w.text; {
		case option == "-delete", option == "-x", option == "-X",
			strings.HasPrefix(option, "-exec"), strings.HasPrefix(option, "-ok"), strings.HasPrefix(option, "-fprint"):
			return true
		}
	}
	return false
}

// TakesCommands reports whether an option says that the next word is a text of commands.
func TakesCommands(option string) bool {
	short := len(option) > 1 && option[0] == '-' && option[1] != '-' && option[len(option)-1] == 'c'
	return short || option == "/c" || strings.EqualFold(option, "-command")
}

// assigns reports whether a word gives a variable its value.
func assigns(w token) bool {
	n := strings.IndexByte(w.text, '=')
	if n <= 0 || '0' <= w.text[0] && w.text[0] <= '9' {
		return false
	}
	for i := range n {
		if c := w.text[i]; c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// withoutCallers drops commands from the front of list that only call another. One with options of its own stays: it
// is as good as unknown.
func withoutCallers(list []token) []token {
	for len(list) > 1 && list[0].sure && programOf(list[0]).job == preceding && !strings.HasPrefix(list[1].text, "-") {
		timed := list[0].text == "timeout"
		list = list[1:]
		for len(list) > 0 && (timed || assigns(list[0])) {
			list, timed = list[1:], false
		}
	}
	return list
}
