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

// programs names the commands that are known: what they do with files, or that they do nothing.
var programs = map[string]program{
	"cat":  {job: showing, filter: true, looks: true},
	"nl":   {job: showing, values: "bdfhilnsvw", filter: true, looks: true},
	"head": {job: showing, values: "nc", filter: true, looks: true},
	"tail": {job: showing, values: "ncs", filter: true, looks: true},
	"less": {job: showing, filter: true, looks: true}, "more": {job: showing, filter: true, looks: true},
	"tac":    {job: showing, filter: true, looks: true},
	"bat":    {job: showing, values: "rlHm", filter: true, looks: true},
	"batcat": {job: showing, values: "rlHm", filter: true, looks: true},
	"sed":    {job: scripted, values: "efl", filter: true, looks: true},
	"awk":    {job: scripted, values: "Fvf", filter: true, looks: true},
	"gawk":   {job: scripted, values: "Fvf", filter: true, looks: true}, "perl": {job: scripted, values: "eEIMm"},

	"rm": {job: removing}, "unlink": {job: removing}, "touch": {job: changing, values: "drt"},
	"truncate": {job: changing, values: "rs"},
	"cp":       {job: copying, values: "S"}, "mv": {job: moving, values: "S"}, "tee": {job: joining, filter: true},
	"git": {job: versions, looks: true}, "patch": {job: patching}, "apply_patch": {job: patching},
	"applypatch": {job: patching},
	"cd":         {job: going, looks: true, quiet: true}, "pushd": {job: going, looks: true, quiet: true},
	"bash": {job: inviting, looks: true}, "sh": {job: inviting, looks: true}, "zsh": {job: inviting, looks: true},
	"dash": {job: inviting, looks: true}, "ksh": {job: inviting, looks: true},
	"powershell": {job: inviting, looks: true}, "powershell.exe": {job: inviting, looks: true},
	"pwsh": {job: inviting, looks: true}, "cmd": {job: inviting, looks: true},
	"cmd.exe": {job: inviting, looks: true},
	"sudo":    {job: preceding}, "time": {job: preceding}, "nohup": {job: preceding}, "command": {job: preceding},
	"builtin": {job: preceding},
	"env":     {job: preceding}, "timeout": {job: preceding}, "nice": {job: preceding}, "stdbuf": {job: preceding},

	"type": {job: windows, looks: true}, "get-content": {job: windows, filter: true, looks: true},
	"gc":          {job: windows, filter: true, looks: true},
	"set-content": {job: windowsTo}, "add-content": {job: windowsTo}, "out-file": {job: windowsTo},
	"remove-item": {job: windowsTo},
	"del":         {job: windowsTo}, "select-object": {filter: true, looks: true},
	"select-string": {filter: true, looks: true},

	"grep": {filter: true, looks: true}, "egrep": {filter: true, looks: true}, "fgrep": {filter: true, looks: true},
	"rg":   {filter: true, looks: true},
	"sort": {filter: true, looks: true}, "uniq": {filter: true, looks: true}, "cut": {filter: true, looks: true},
	"tr": {filter: true, looks: true},
	"jq": {filter: true, looks: true}, "column": {filter: true, looks: true}, "fold": {filter: true, looks: true},
	"xxd": {looks: true},
	"ls":  {looks: true}, "wc": {looks: true}, "file": {looks: true}, "stat": {looks: true}, "du": {looks: true},
	"df":   {looks: true},
	"tree": {looks: true}, "date": {looks: true}, "whoami": {looks: true}, "hostname": {looks: true},
	"uname": {looks: true}, "ps": {looks: true},
	"lsof": {looks: true}, "id": {looks: true}, "diff": {looks: true}, "cmp": {looks: true}, "which": {looks: true},
	"whereis":  {looks: true},
	"basename": {looks: true}, "dirname": {looks: true}, "realpath": {looks: true}, "readlink": {looks: true},
	"md5sum":    {looks: true},
	"sha256sum": {looks: true}, "find": {looks: true}, "fd": {looks: true}, "ag": {looks: true},
	"printenv": {looks: true},
	"pwd":      {looks: true, quiet: true}, "echo": {looks: true, quiet: true}, "printf": {looks: true, quiet: true},
	"true": {looks: true, quiet: true},
	":":    {looks: true, quiet: true}, "test": {looks: true, quiet: true}, "[": {looks: true, quiet: true},
	"[[":    {looks: true, quiet: true},
	"sleep": {looks: true, quiet: true}, "set": {looks: true, quiet: true}, "export": {looks: true, quiet: true},
	"exit": {looks: true, quiet: true},
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
	known, ok := programs[name]
	if !ok && strings.IndexByte(name, '-') > 0 { // PowerShell's names are written in any case
		return programs[strings.ToLower(name)]
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
