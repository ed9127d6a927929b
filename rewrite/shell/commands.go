package shell

import (
	"strings"
)

// job is what a command does with the files among its words.
type job uint8

const (
	noFiles   job = iota
	showing       // it shows them
	scripted      // likewise; the first word may be its own program
	removing      // it writes or removes them
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

// programs has the commands of which it is known what they do with files, or that they do nothing.
var programs = map[string]program{
	"cat": {job: showing, filter: true, looks: true}, "nl": {job: showing, values: "bdfhilnsvw", filter: true, looks: true},
	"head": {job: showing, values: "nc", filter: true, looks: true}, "tail": {job: showing, values: "ncs", filter: true, looks: true},
	"less": {job: showing, filter: true, looks: true}, "more": {job: showing, filter: true, looks: true}, "tac": {job: showing, filter: true, looks: true},
	"bat": {job: showing, values: "rlHm", filter: true, looks: true}, "batcat": {job: showing, values: "rlHm", filter: true, looks: true},
	"sed": {job: scripted, values: "efl", filter: true, looks: true}, "awk": {job: scripted, values: "Fvf", filter: true, looks: true},
	"gawk": {job: scripted, values: "Fvf", filter: true, looks: true}, "perl": {job: scripted, values: "eEIMm"},

	"rm": {job: removing}, "unlink": {job: removing}, "touch": {job: removing, values: "drt"}, "truncate": {job: removing, values: "rs"},
	"cp": {job: copying, values: "S"}, "mv": {job: moving, values: "S"}, "tee": {job: joining, filter: true},
	"git": {job: versions, looks: true}, "patch": {job: patching}, "apply_patch": {job: patching}, "applypatch": {job: patching},
	"cd": {job: going, looks: true, quiet: true}, "pushd": {job: going, looks: true, quiet: true},
	"bash": {job: inviting, looks: true}, "sh": {job: inviting, looks: true}, "zsh": {job: inviting, looks: true}, "dash": {job: inviting, looks: true}, "ksh": {job: inviting, looks: true},
	"powershell": {job: inviting, looks: true}, "powershell.exe": {job: inviting, looks: true}, "pwsh": {job: inviting, looks: true}, "cmd": {job: inviting, looks: true}, "cmd.exe": {job: inviting, looks: true},
	"sudo": {job: preceding}, "time": {job: preceding}, "nohup": {job: preceding}, "command": {job: preceding}, "builtin": {job: preceding},
	"env": {job: preceding}, "timeout": {job: preceding}, "nice": {job: preceding}, "stdbuf": {job: preceding},

	"type": {job: windows, looks: true}, "get-content": {job: windows, filter: true, looks: true}, "gc": {job: windows, filter: true, looks: true},
	"set-content": {job: windowsTo}, "add-content": {job: windowsTo}, "out-file": {job: windowsTo}, "remove-item": {job: windowsTo},
	"del": {job: windowsTo}, "select-object": {filter: true, looks: true}, "select-string": {filter: true, looks: true},

	"grep": {filter: true, looks: true}, "egrep": {filter: true, looks: true}, "fgrep": {filter: true, looks: true}, "rg": {filter: true, looks: true},
	"sort": {filter: true, looks: true}, "uniq": {filter: true, looks: true}, "cut": {filter: true, looks: true}, "tr": {filter: true, looks: true},
	"jq": {filter: true, looks: true}, "column": {filter: true, looks: true}, "fold": {filter: true, looks: true}, "xxd": {looks: true},
	"ls": {looks: true}, "wc": {looks: true}, "file": {looks: true}, "stat": {looks: true}, "du": {looks: true}, "df": {looks: true},
	"tree": {looks: true}, "date": {looks: true}, "whoami": {looks: true}, "hostname": {looks: true}, "uname": {looks: true}, "ps": {looks: true},
	"lsof": {looks: true}, "id": {looks: true}, "diff": {looks: true}, "cmp": {looks: true}, "which": {looks: true}, "whereis": {looks: true},
	"basename": {looks: true}, "dirname": {looks: true}, "realpath": {looks: true}, "readlink": {looks: true}, "md5sum": {looks: true},
	"sha256sum": {looks: true}, "find": {looks: true}, "fd": {looks: true}, "ag": {looks: true}, "printenv": {looks: true},
	"pwd": {looks: true, quiet: true}, "echo": {looks: true, quiet: true}, "printf": {looks: true, quiet: true}, "true": {looks: true, quiet: true},
	":": {looks: true, quiet: true}, "test": {looks: true, quiet: true}, "[": {looks: true, quiet: true}, "[[": {looks: true, quiet: true},
	"sleep": {looks: true, quiet: true}, "set": {looks: true, quiet: true}, "export": {looks: true, quiet: true}, "exit": {looks: true, quiet: true},
}

// stage takes a command of a pipeline for what it does. The frames are those of compound commands around it.
func (s *script) stage(p *pipeline, c *command, frames []frame) []frame {
	list := s.words[c.words:]
	list, frames = s.keywords(p, list, frames)
	for len(list) > 0 && assigns(list[0]) {
		list = list[1:]
	}
	list = s.preceded(list)
	known := program{quiet: true, looks: true} // of no words at all
	if len(list) > 0 {
		known = programOf(list[0])
		p.test = asks(list)
	}
	through := p.stages > 0 && passes(known, list)
	if p.stages > 0 && !through {
		s.reads = s.reads[:p.mark]
	}
	held := s.hold(p.unsure)
	if len(list) > 0 {
		s.perform(known, list, c)
	}
	if c.input.sure && known.filter {
		s.shows(c.input)
	}
	for _, w := range s.outs[c.outs:] {
		s.saves(w)
	}
	s.branches = held
	if c.hidden {
		s.reads = s.reads[:p.mark]
	}
	s.looks = s.looks && known.looks
	if unseen := known.quiet || c.hidden || s.muted > 0 || through; !unseen && !s.showsOnly(known) {
		s.only = false
	}
	return frames
}

// hold makes a branch of what may not be done, and says how many there were.
func (s *script) hold(unsure bool) int {
	held := s.branches
	if unsure {
		s.branches++
	}
	return held
}

// keywords takes what begins and ends compound commands from the front.
func (s *script) keywords(p *pipeline, list []token, frames []frame) ([]token, []frame) {
	for len(list) > 0 && list[0].bare {
		switch list[0].text {
		case "if", "while", "until", "{":
			frames = append(frames, frame{mark: p.mark})
		case "for", "select":
			return nil, append(frames, frame{mark: p.mark})
		case "then", "else", "elif":
			if n := len(frames) - 1; n >= 0 && !frames[n].branch {
				frames[n].branch = true
				s.branches++
			}
		case "do", "!":
		case "fi", "done", "}":
			n := len(frames) - 1
			if n < 0 {
				s.lost = true
				return nil, frames
			}
			s.leave(frames[n:])
			p.mark = frames[n].mark
			frames = frames[:n]
		case "case", "function", "esac":
			s.lost = true
			return nil, frames
		default:
			return list, frames
		}
		list = list[1:]
	}
	return list, frames
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

// preceded takes commands from the front that only call another. With options of their own they are as good as unknown.
func (s *script) preceded(list []token) []token {
	for len(list) > 1 && list[0].sure && programOf(list[0]).job == preceding && !strings.HasPrefix(list[1].text, "-") {
		timed := list[0].text == "timeout"
		list = list[1:]
		for len(list) > 0 && (timed || assigns(list[0])) {
			list, timed = list[1:], false
		}
	}
	return list
}

// programOf is what is known of the command that a word names.
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

// passes reports whether a command shows what it is given, or some of it.
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

// showsOnly reports whether what a command shows are files of which all are known.
func (s *script) showsOnly(known program) bool {
	switch known.job {
	case showing, scripted, windows:
		return !s.vague
	case inviting: // what it reads has said so itself
		return true
	}
	return false
}

// perform claims the files of one command.
func (s *script) perform(known program, list []token, c *command) {
	args := list[1:]
	switch known.job {
	case showing, scripted:
		s.showsOrEdits(known, list[0].text, args)
	case removing, joining:
		rest, _ := operands(args, known.values, "")
		s.saves(rest...)
	case copying, moving:
		s.transfers(known, args)
	case versions:
		s.git(args, c)
	case patching:
		for _, w := range args {
			s.patches(w.text)
		}
		s.patches(c.body)
	case going:
		s.goes(args)
	case inviting:
		s.invites(args)
	case windows:
		rest := windowsFiles(args)
		s.vague = len(rest) == 0 || !rest[0].sure || !strings.ContainsAny(rest[0].text, `./\`)
		if !s.vague {
			s.shows(rest[0])
		}
	case windowsTo:
		if rest := windowsFiles(args); len(rest) > 0 {
			s.saves(rest[0])
		}
	case noFiles:
		s.looks = s.looks && !finds(list)
	}
}

// finds reports whether a search does something to what it finds.
func finds(list []token) bool {
	if list[0].text != "find" && list[0].text != "fd" {
		return false
	}
	for _, w := range list[1:] {
		if strings.HasPrefix(w.text, "-exec") || strings.HasPrefix(w.text, "-ok") || w.text == "-delete" || w.text == "-x" || w.text == "-X" ||
			strings.HasPrefix(w.text, "-fprint") {
			return true
		}
	}
	return false
}

// goes changes the folder, or forgets it.
func (s *script) goes(args []token) {
	switch {
	case s.branches == 0 && len(args) == 1 && args[0].sure && args[0].text != "-" && args[0].text != "":
		s.away = s.away && !rooted(args[0].text)
		s.dir = under(s.dir, args[0].text)
	default:
		s.away, s.dir = true, ""
	}
	if len(s.dir) > LongestPath {
		s.away, s.dir = true, ""
	}
}

// invites reads the text that another shell is given.
func (s *script) invites(args []token) {
	if len(args) < 2 || !Invites(args[0].text) || !args[1].sure || s.level == deepestShell {
		s.only, s.looks = false, false
		return
	}
	inner := script{
		reads: s.reads, writes: s.writes, only: true, looks: true,
		dir: s.dir, away: s.away, muted: s.muted, branches: s.branches, level: s.level + 1,
	}
	inner.read(args[1].text)
	s.reads, s.writes = inner.reads, inner.writes
	s.only, s.looks = s.only && inner.only && !inner.lost, s.looks && inner.looks && !inner.lost
	s.full = s.full || inner.full
}

// Invites reports whether an option says that the next word is a text of commands.
func Invites(option string) bool {
	short := len(option) > 1 && option[0] == '-' && option[1] != '-' && option[len(option)-1] == 'c'
	return short || option == "/c" || strings.EqualFold(option, "-command")
}

// shows claims files as read.
func (s *script) shows(list ...token) {
	if s.muted > 0 {
		return
	}
	for _, w := range list {
		p := under(s.dir, w.text)
		if w.text == "-" || strings.HasPrefix(w.text, "/dev/") || !s.placed(w) || !Fit(p) {
			s.only = false
			continue
		}
		s.reads = AddFile(s.reads, p)
		s.full = s.full || len(s.reads) > MostFiles
	}
}

// saves claims files as written, unless it is not sure that they are.
func (s *script) saves(list ...token) {
	for _, w := range list {
		if w.text == "/dev/null" || strings.HasPrefix(w.text, "/dev/std") || w.text == "NUL" {
			continue
		}
		s.looks = false
		if s.placed(w) && s.muted == 0 && s.branches == 0 && !strings.HasPrefix(w.text, "/dev/") {
			s.writes = AddWritten(s.writes, under(s.dir, w.text))
		}
	}
}

// patches claims the files of a patch as written.
func (s *script) patches(text string) {
	if text == "" || s.muted > 0 || s.branches > 0 {
		return
	}
	for _, p := range Patched(nil, text) {
		s.saves(token{text: p, sure: true})
	}
}

// placed reports whether it is known which file a word means.
func (s *script) placed(w token) bool {
	return w.sure && (!s.away || rooted(w.text) || strings.HasPrefix(w.text, "~/"))
}
