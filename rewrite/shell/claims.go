package shell

import (
	"path"
	"slices"
	"strings"
)

// claims are what the commands so far do with files. What is not sure is not among them.
type claims struct {
	reads  []string // files whose content is shown
	writes []string // files that are written, moved or deleted
	gone   []string // of them, those that are not there any more
	folder folder

	only  bool // nothing has been shown but files in reads
	looks bool // nothing has been done that may change anything
	// reports says that nothing has been done but to look, and to ask programs how things stand.
	reports bool
	vague   bool // the last command that shows files shows some that are not known
	full    bool // more files are shown than there is room for
	bare    bool // lines may have been shown without the numbers that they have in their file

	asking

	steps    int // commands that were read, and more where they have very many words
	level    int // of shells that read what another has been given
	muted    int // substitutions around: what is shown goes somewhere else
	branches int // around, that may not be taken
}

// asking is what the exit code of all of it tells.
type asking struct {
	asks   Question // the last command, if the exit code is its own
	strict bool     // what comes before the last command may have ended it all
	ran    bool     // a command has been read that shows what it says
	shared bool     // not that command alone may end so: it is not the only one, is redirected, or another calls it
}

// folder is where relative paths begin.
type folder struct {
	path    string // empty is where the agent is
	unknown bool
}

// enter goes on to a folder as a command names it.
func (f *folder) enter(name string) {
	f.unknown = f.unknown && !rooted(name)
	f.path = under(f.path, name)
	if len(f.path) > LongestPath {
		f.forget()
	}
}

// forget is for when it is not known which folder was entered.
func (f *folder) forget() { *f = folder{unknown: true} }

// knows reports whether it is known which file a word means.
func (f *folder) knows(w token) bool {
	return w.sure && (!f.unknown || rooted(w.text) || strings.HasPrefix(w.text, "~/"))
}

// show claims files as read.
func (c *claims) show(list ...token) {
	if c.muted > 0 {
		return
	}
	for _, w := range list {
		p := under(c.folder.path, w.text)
		if w.text == "-" || strings.HasPrefix(w.text, "/dev/") || !c.folder.knows(w) || !CanBePath(p) {
			c.only = false
			continue
		}
		c.reads = AddFile(c.reads, p)
		c.full = c.full || len(c.reads) > MostFiles
	}
}

// showAll claims the files among the words as read, if all of them are known.
func (c *claims) showAll(list []token) {
	files := list[:0]
	for _, w := range list {
		if !w.sure {
			return
		}
		if w.text != "" && w.text[0] != '+' && !assigns(w) {
			files = append(files, w)
		}
	}
	c.vague = len(files) == 0
	c.show(files...)
}

// save claims files as written, unless it is not sure that they are.
func (c *claims) save(list ...token) {
	for _, w := range list {
		if p := c.claimWritten(w); p != "" {
			c.gone = slices.DeleteFunc(c.gone, func(g string) bool { return g == p })
		}
	}
}

// remove claims files as written, and as not there any more.
func (c *claims) remove(list ...token) {
	for _, w := range list {
		if p := c.claimWritten(w); p != "" && !slices.Contains(c.gone, p) {
			c.gone = append(c.gone, p)
		}
	}
}

// claimWritten claims one file as written and returns its path; empty if it is not sure that it is, or if there is no
// room.
func (c *claims) claimWritten(w token) string {
	if w.text == "/dev/null" || strings.HasPrefix(w.text, "/dev/std") || w.text == "NUL" {
		return ""
	}
	c.looks = false
	if !c.folder.knows(w) || c.muted > 0 || c.branches > 0 || strings.HasPrefix(w.text, "/dev/") {
		return ""
	}
	p := under(c.folder.path, w.text)
	if c.writes = AddWritten(c.writes, p); !slices.Contains(c.writes, p) {
		return ""
	}
	return p
}

// patch claims the files that a patch changes as written.
func (c *claims) patch(text string) {
	if text == "" || c.muted > 0 || c.branches > 0 {
		return
	}
	for _, p := range PatchedFiles(nil, text) {
		c.save(token{text: p, sure: true})
	}
}

// transfer claims the files of a copy or a rename: to a name, or into a folder.
func (c *claims) transfer(known program, args []token) {
	rest, o := operands(args, known.values, "")
	n := len(rest) - 1
	if n < 1 || o.has('t') {
		return
	}
	target := rest[n]
	into := n > 1 || strings.HasSuffix(target.text, "/") || target.text == "." || target.text == ".."
	for _, w := range rest[:n] {
		if known.job == moving {
			c.remove(w)
		}
		if into {
			c.save(token{text: path.Join(target.text, path.Base(w.text)), sure: w.sure && target.sure})
		}
	}
	if !into {
		c.save(target)
	}
}

// enter changes the folder, or forgets it.
func (c *claims) enter(args []token) {
	if c.branches == 0 && len(args) == 1 && args[0].sure && args[0].text != "-" && args[0].text != "" {
		c.folder.enter(args[0].text)
	} else {
		c.folder.forget()
	}
}
