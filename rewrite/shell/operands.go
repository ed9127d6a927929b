package shell

import (
	"path"
	"strings"
)

// options are the letters of options that a command was given.
type options uint64

func (o options) has(letter byte) bool { return letter >= 'A' && o>>(letter-'A')&1 == 1 }

func (o *options) add(letter byte) {
	if letter >= 'A' && letter <= 'z' {
		*o |= 1 << (letter - 'A')
	}
}

// operands are the words that are no options. The letters of values take the rest of their word, or the next one; those
// of rests take the rest of their word only.
func operands(list []token, values, rests string) (rest []token, given options) {
	for i := 0; i < len(list); i++ {
		w := list[i].text
		switch {
		case w == "--":
			return append(rest, list[i+1:]...), given
		case len(w) < 2 || w[0] != '-':
			rest = append(rest, list[i])
		case w[1] == '-':
			given.add(longOption(w))
		default:
			i += given.cluster(w[1:], values, rests)
		}
	}
	return rest, given
}

// cluster takes the letters of a word, and says how many words more belong to them.
func (o *options) cluster(letters, values, rests string) int {
	for k := range len(letters) {
		o.add(letters[k])
		if strings.IndexByte(rests, letters[k]) >= 0 {
			return 0
		}
		if strings.IndexByte(values, letters[k]) >= 0 {
			if k == len(letters)-1 {
				return 1
			}
			return 0
		}
	}
	return 0
}

// longOption is the letter of a long option that makes a difference here.
func longOption(w string) byte {
	name, _, _ := strings.Cut(w[2:], "=")
	switch name {
	case "in-place":
		return 'i'
	case "expression":
		return 'e'
	case "file":
		return 'f'
	case "quiet", "silent":
		return 'q'
	case "count":
		return 'c'
	case "files-with-matches", "files-without-match":
		return 'l'
	case "target-directory":
		return 't'
	}
	return 0
}

// showsOrEdits is for commands that show files, or with an option change them in place.
func (s *script) showsOrEdits(known program, name string, args []token) {
	s.vague = true
	if known.job == showing {
		rest, _ := operands(args, known.values, "")
		s.showsAll(rest)
		return
	}
	perl, awk := strings.HasSuffix(name, "perl"), strings.HasSuffix(name, "awk")
	rest, o := operands(args, known.values, "i")
	inPlace := o.has('i')
	if inPlace && !perl && len(rest) > 0 && rest[0].text == "" && rest[0].sure {
		rest = rest[1:] // BSD's sed wants an ending for copies
	}
	if given := o.has('f') || o.has('e') || perl && o.has('E'); !given {
		rest = rest[min(1, len(rest)):] // the program
	}
	switch {
	case inPlace && awk:
		s.looks = false
	case inPlace:
		s.saves(rest...)
	case !perl:
		s.showsAll(rest)
	}
}

// showsAll claims files as read if all of them are known.
func (s *script) showsAll(list []token) {
	files := list[:0]
	for _, w := range list {
		if !w.sure {
			return
		}
		if w.text != "" && w.text[0] != '+' && !assigns(w) {
			files = append(files, w)
		}
	}
	s.vague = len(files) == 0
	s.shows(files...)
}

// transfers is for copies and renames: to a name, or into a folder.
func (s *script) transfers(known program, args []token) {
	rest, o := operands(args, known.values, "")
	n := len(rest) - 1
	if n < 1 || o.has('t') {
		return
	}
	target := rest[n]
	into := n > 1 || strings.HasSuffix(target.text, "/") || target.text == "." || target.text == ".."
	for _, w := range rest[:n] {
		if known.job == moving {
			s.saves(w)
		}
		if into {
			s.saves(token{text: path.Join(target.text, path.Base(w.text)), sure: w.sure && target.sure})
		}
	}
	if !into {
		s.saves(target)
	}
}

// git claims what it writes without a doubt: files that are named. A change of branch, a merge or a stash names none.
func (s *script) git(args []token, c *command) {
	dir, away := s.dir, s.away
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		n := 1
		if args[0].text == "-C" || args[0].text == "-c" {
			n = min(2, len(args))
		}
		if args[0].text == "-C" {
			s.goes(args[1:n])
		}
		args = args[n:]
	}
	if len(args) > 0 {
		s.gitCommand(args[0].text, args[1:], c)
	}
	s.dir, s.away = dir, away
}

func (s *script) gitCommand(name string, args []token, c *command) {
	switch name {
	case "status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "grep", "describe", "cat-file", "ls-tree", "merge-base",
		"rev-list", "shortlog", "ls-remote":
		return
	}
	s.looks = false
	rest, o := operands(args, "s", "")
	switch name {
	case "mv":
		s.transfers(program{job: moving}, args)
	case "rm":
		if !gives(args, "--cached") {
			s.saves(rest...)
		}
	case "checkout":
		for i, w := range args {
			if w.text == "--" {
				s.saves(args[i+1:]...)
				break
			}
		}
	case "restore":
		if !o.has('S') && !gives(args, "--staged") || o.has('W') || gives(args, "--worktree") {
			s.saves(rest...)
		}
	case "apply":
		if !gives(args, "--check") && !gives(args, "--cached") && !gives(args, "--stat") {
			s.patches(c.body)
		}
	}
}

// gives reports whether an option is among the words.
func gives(list []token, option string) bool {
	for _, w := range list {
		if w.text == option {
			return true
		}
	}
	return false
}

// windowsFiles are the files among the words of a command of PowerShell.
func windowsFiles(args []token) (rest []token) {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i].text, "-") {
			rest = append(rest, args[i])
			continue
		}
		switch strings.ToLower(args[i].text) {
		case "-path", "-literalpath", "-filepath", "-raw", "-wait", "-force", "-recurse", "-nonewline", "-append", "-passthru":
		default:
			i++
		}
	}
	return rest
}
