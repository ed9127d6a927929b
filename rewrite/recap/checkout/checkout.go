// Package checkout follows what lies in folders of which git has the files: the work of which branch or commit, with
// its changes there or put aside.
//
// It promises that two commands are told to have found the same work only where no command of git between them is known
// to have put other work there, and that a branch which begins where the work stands goes on with it. What it keeps is
// bounded. It is pure.
package checkout

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// What is kept at most.
const (
	mostFolders, mostBranches, mostAside = 32, 64, 8
	longestName                          = 200 // bytes
)

// Folders are the folders in which git was called. The zero value knows of none.
type Folders struct {
	list   []*folder
	made   int  // works so far that are told apart
	isFull bool // some folders are not kept any more
}

// folder is one of them.
type folder struct {
	path    string
	isOwn   bool // it lies in another one, and has work of its own
	stand   stand
	before  *stand          // where it stood before it went to another branch
	bisects *stand          // where it stood before the work was searched for a commit
	left    map[string]work // of each branch that was left, what lay there
	aside   []stash         // what was put aside, the newest last
	isSaved bool            // the changes are in a file, too
}

// stand is what lies in a folder.
type stand struct {
	work   work
	branch string // empty if it is not known
}

// stash is what was put aside.
type stash struct {
	stand
	isBack bool // it lies there again, too
}

// work is the name of what lies in a folder. It ends in as many marks as changes of it were put aside.
type work string

const putAside = "~"

// IsPartOf reports whether what lay in a folder is other work, or what that was before its changes.
func IsPartOf(one, other string) bool {
	rest, is := strings.CutPrefix(one, other)
	return is && strings.Trim(rest, putAside) == ""
}

// WithChanges is a work with all changes of it that were put aside.
func WithChanges(work string) string { return strings.TrimRight(work, putAside) }

// Of names what lies in a folder: equal where that is the same work.
func (f *Folders) Of(name string) string {
	if d := f.find(name); d != nil {
		return string(d.stand.work)
	}
	return ""
}

// find is the folder of a name, or the one in which it lies, or one that lies in it; nil if there is none.
func (f *Folders) find(name string) (best *folder) {
	for _, d := range f.list {
		if isIn(name, d.path) && (best == nil || len(d.path) > len(best.path)) {
			best = d
		}
	}
	for _, d := range f.list {
		if best == nil && !d.isOwn && isIn(d.path, name) {
			best = d
		}
	}
	return best
}

// isIn reports whether a folder lies in another one, as far as that is known.
func isIn(name, other string) bool {
	if other == "" {
		return !strings.HasPrefix(name, "..")
	}
	return name == other || strings.HasPrefix(name, strings.TrimSuffix(other, "/")+"/")
}

// at is the folder of a name, which is kept from now on.
func (f *Folders) at(name string) *folder {
	if d := f.find(name); d != nil {
		if !d.isOwn && isIn(d.path, name) {
			d.path = name
		}
		return d
	}
	return f.add(&folder{path: name})
}

// add keeps a folder.
func (f *Folders) add(d *folder) *folder {
	if len(f.list) == mostFolders {
		f.list, f.isFull = slices.Delete(f.list, 0, 1), true
	}
	if d.left = map[string]work{}; f.isFull || d.isOwn {
		d.stand.work = f.other()
	}
	f.list = append(f.list, d)
	return d
}

// other is a work that lay nowhere yet.
func (f *Folders) other() work {
	f.made++
	return work(strconv.Itoa(f.made))
}

// Change notes what a command changes that ran in a folder, if it is one of git.
func (f *Folders) Change(words []string, in string, said *Said) {
	if words, in = command(words, in); len(words) == 0 {
		return
	}
	s, branch := stepOf(words, said.IsWritten), said.branch(words[0])
	if s.kind == stays && branch == "" {
		return
	}
	d := f.at(in)
	if d.stand.branch == "" {
		d.stand.branch = branch
	}
	switch {
	case s.kind == stays:
	case !said.did(&s):
		if words[0] == "stash" && said.hasNone() {
			d.hasNoneAside()
		}
	case s.kind == stashes, s.kind == takesBack && d.isSaved:
		f.putAside(d)
	case s.kind == adds:
		if s.name = joined(in, s.name); f.find(s.name) == nil || f.find(s.name).path != s.name {
			f.add(&folder{path: s.name, isOwn: true})
		}
	case s.kind == searches:
		if d.bisects == nil {
			was := d.stand
			d.bisects = &was
		}
		d.stand = stand{work: f.other()}
	case s.kind == begins && (s.from == "" || s.from == d.stand.branch) && d.left[s.name] == "":
		delete(d.left, d.stand.branch) // that goes on as other work
		d.stand.branch = s.name
	case s.kind == begins, s.kind == goes:
		f.goTo(d, s.name)
	default:
		d.change(s.kind)
	}
}

// change notes what is done to changes of the work.
func (d *folder) change(what kind) {
	switch {
	case what == saves:
		d.isSaved = true
	case what == commits:
		d.isSaved = false
	case what == patches && d.isSaved, what == restores, what == applies:
		d.restore(what == applies)
	case what == drops:
		d.drop()
	case what == clears:
		for len(d.aside) > 0 {
			d.drop()
		}
	case what == found && d.bisects != nil:
		d.stand, d.bisects = *d.bisects, nil
	}
}

// Lose notes that other work may lie in a folder, of which nothing is known.
func (f *Folders) Lose(in string) { f.at(in).stand = stand{work: f.other()} }

// goTo notes that the work of another branch or commit lies in the folder.
func (f *Folders) goTo(d *folder, name string) {
	was := d.stand
	switch left, isKnown := d.left[name]; {
	case name == "-" && d.before != nil:
		d.stand = *d.before
	case name == d.stand.branch, name == "HEAD", name == "@":
		return
	case isKnown:
		d.stand = stand{left, name}
	default:
		d.stand = stand{f.other(), name}
	}
	if delete(d.left, was.branch); was.branch != "" && len(d.left) < mostBranches {
		d.left[was.branch] = was.work
	}
	d.before = &was
}

// putAside notes that the changes of the work do not lie there any more. Of very many it is not told which are there.
func (f *Folders) putAside(d *folder) {
	if len(d.aside) == mostAside {
		d.aside = slices.Delete(d.aside, 0, 1)
	}
	d.aside = append(d.aside, stash{stand: d.stand})
	if d.stand.work += putAside; len(d.stand.work)-len(WithChanges(string(d.stand.work))) > mostAside {
		d.stand.work = f.other()
	}
}

// restore notes that the newest changes that were put aside lie in the folder: on the same work, or on that of another
// branch, which goes on with them. Some stay aside, too.
func (d *folder) restore(stays bool) {
	n := len(d.aside) - 1
	if n < 0 {
		return
	}
	was := d.aside[n]
	isElsewhere := was.branch != "" && d.stand.branch != "" && was.branch != d.stand.branch
	if !was.isBack && (d.stand.work == was.work+putAside || !isElsewhere) {
		d.stand.work = was.work
	}
	if d.aside[n].isBack = true; !stays {
		d.aside = d.aside[:n]
	}
	d.isSaved = false
}

// drop notes that the newest changes that were put aside are gone: the work goes on without them, if they do not lie
// there.
func (d *folder) drop() {
	n := len(d.aside) - 1
	if n < 0 {
		return
	}
	if was := d.aside[n]; !was.isBack && d.stand.work == was.work+putAside {
		d.stand.work = was.work
	}
	d.aside = d.aside[:n]
}

// hasNoneAside notes that nothing is put aside: there was nothing to put there.
func (d *folder) hasNoneAside() {
	if !d.isSaved {
		d.stand.work, d.aside = work(WithChanges(string(d.stand.work))), nil
	}
}

// joined is a folder as it is called from another one.
func joined(folder, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(folder, name)
}

// callers are programs that call the one behind them.
var callers = []string{"sudo", "doas", "env", "command", "exec", "nohup"}

// command is a command of git, or of what checks out for it, from its own first word on, and the folder in which it
// runs; nothing if it is none.
func command(words []string, in string) (own []string, folder string) {
	isBefore := func(w string) bool { return strings.Contains(w, "=") || slices.Contains(callers, w) }
	for len(words) > 0 && isBefore(words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || !slices.Contains([]string{"git", "gh", "glab"}, path.Base(words[0])) {
		return nil, in
	}
	if path.Base(words[0]) != "git" {
		return words, in
	}
	words = words[1:]
	for len(words) > 1 && strings.HasPrefix(words[0], "-") {
		if words[0] == "-C" {
			in = joined(in, words[1])
		}
		if words[0] == "-C" || words[0] == "-c" {
			words = words[1:]
		}
		words = words[1:]
	}
	return words, in
}
