package recap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/recap/filing"
	"epitome/rewrite/recap/past"
	"epitome/rewrite/recap/spoken"
	"epitome/rewrite/recap/step"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
)

// folders are files by their folder, in the order in which they came.
type folders struct {
	order []string
	files map[string][]string
}

func (f *folders) add(file string) {
	if f.files == nil {
		f.files = map[string][]string{}
	}
	dir, base := path.Split(strings.TrimRight(file, "/"))
	if f.files[dir] == nil {
		f.order = append(f.order, dir)
	}
	f.files[dir] = append(f.files[dir], base)
}

// lines has a line for each folder.
func (f *folders) lines() string {
	var s strings.Builder
	for _, dir := range f.order {
		if dir != "" {
			s.WriteString(dir + ": ")
		}
		s.WriteString(strings.Join(f.files[dir], ", ") + "\n")
	}
	return s.String()
}

// changed is a file that calls of the span wrote or deleted.
type changed struct {
	base    string // the last name of its path
	path    string
	deleted bool
	inDoubt bool                 // whether it was deleted no result says
	calls   []*conversation.Call // that wrote it, as far as they are known
	lines   []string             // that were put in
	short   [][]string           // what calls put in that put in little
	left    filing.File          // what newer calls left of it
	back    *gitStep             // that took back what is not told, if that is all there was
}

// written are the files that calls wrote and deleted, the newest first, each with lines that were put in.
type written struct {
	sum   *writer
	known *known
	room  int // bytes
	full  bool
	files []*changed
	read  *filing.Call // the call that is taken; nil if it was not read yet
	git   []*gitStep
	gone  map[string][]string // files and folders that newer calls deleted, by their last name
	home  *string             // the common folder, if it was looked for
}

// Lines that are told of a file: of one call, and of all. A call that puts in no more than linesOfShort of them is told
// whole if there is room left, whatever names they have: what it changed is often a number.
const linesOfCall, linesOfFile, linesOfShort = 4, 10, 2

// files are those that calls wrote and deleted, in at most so many tokens.
func (w *writer) files(k *known, tokens int) string {
	all := &written{sum: w, known: k, room: bytesFor(tokens), git: readGit(w.Span)}
	w.Backwards(func(res *history.Result) bool {
		if len(res.Action.Writes) > 0 && !res.Failed && !failedWriting(w.Span, res) {
			all.take(res)
			all.noteGone(res)
		}
		return true
	})
	for _, f := range all.files {
		all.takeShort(f)
	}
	var s, gone, inDoubt, back strings.Builder
	for _, f := range all.files {
		w.filesTold = append(w.filesTold, f.path)
		switch {
		case f.back != nil:
			back.WriteString(all.backRow(f))
		case f.inDoubt:
			inDoubt.WriteString(f.path + "\n")
		case f.deleted:
			gone.WriteString(f.path + "\n")
		default:
			s.WriteString(all.row(f) + "\n" + spoken.Quoted(f.lines))
		}
	}
	if back.Len() > 0 {
		s.WriteString(groupBack + ":\n" + back.String())
	}
	if gone.Len() > 0 {
		s.WriteString("deleted:\n" + gone.String())
	}
	if inDoubt.Len() > 0 {
		s.WriteString(groupInDoubt + ":\n" + inDoubt.String())
	}
	return s.String()
}

// groupInDoubt stands above files that commands were to delete which failed, or of which it is not known.
const groupInDoubt = "deleted or not: the results of the commands that were to do it do not tell"

// failedWriting reports whether a call failed so that nothing may be written: one of a writing tool, or of a shell that
// ran one command alone or none.
func failedWriting(s *past.Span, res *history.Result) bool {
	switch res.Action.Kind {
	case action.Writing:
		return s.EndingOf(res).Failed() || ending.SaysRefusal(s.TextOf(res))
	case action.Shell:
		ending := s.EndingOf(res)
		if ending.Refusal.KeptAll() {
			return true
		}
		if ending.Code > 0 {
			command, _ := s.CommandOf(res)
			steps, ok := step.In(command)
			return ok && len(steps) == 1 && !strings.Contains(command, "<<") // a script may have begun
		}
	}
	return false
}

// row names the file, and says how often it was written, if all that was done is read.
func (w *written) row(f *changed) string {
	if len(f.calls) < 2 || !w.sum.IsReadWhole() {
		return f.path
	}
	return fmt.Sprintf("%s, written %d times", f.path, len(f.calls))
}

// take takes in the files of one call. When there is no room for more, it only counts how often those are written that
// are told.
func (w *written) take(res *history.Result) {
	w.read = nil
	for _, name := range res.Action.Writes {
		if isOnlyTakingBack(w.git, res, name) {
			continue
		}
		f, back := w.fileOf(name), takenBack(w.git, res, name)
		if w.isInGone(name) {
			if f != nil {
				f.left.Anew = true
			}
			continue
		}
		if f == nil {
			if f = w.begin(res, name, back); f == nil {
				continue
			}
		}
		if back != nil {
			continue
		}
		if f.back = nil; slices.Contains(res.Action.Deletes, name) {
			f.left.Anew = true
			continue
		}
		if call := w.sum.CallOf(res); call != nil && !slices.Contains(f.calls, call) { // it may name a file twice
			f.calls = append(f.calls, call)
		}
		if !f.deleted && !f.left.Anew && !w.full { // what is chosen passes for told
			w.takeLines(f, res, name)
		}
	}
}

// noteGone notes what a call deleted: what older calls wrote in such a folder is there no more. What was only moved is.
func (w *written) noteGone(res *history.Result) {
	const most = 8 // of one last name
	a := &res.Action
	if len(a.Deletes) == 0 || len(a.Deletes) < len(a.Writes) || w.sum.EndingOf(res).MayHaveFailed() {
		return
	}
	if w.gone == nil {
		w.gone = map[string][]string{}
	}
	for _, name := range a.Deletes {
		if base := path.Base(name); len(w.gone[base]) < most {
			w.gone[base] = append(w.gone[base], name)
		}
	}
}

// isInGone reports whether a newer call deleted a folder in which a file lies.
func (w *written) isInGone(name string) bool {
	const deepest = 32 // folders
	for range deepest {
		if name = path.Dir(name); name == "." || name == "/" || len(w.gone) == 0 {
			return false
		}
		if slices.ContainsFunc(w.gone[path.Base(name)], func(g string) bool { return w.isFolder(g, name) }) {
			return true
		}
	}
	return false
}

// isFolder reports whether two spellings name one folder for sure: many folders have the same last name. A relative one
// is that which lies right in the folder of all the work, or above that.
func (w *written) isFolder(a, b string) bool {
	if !shell.SameFile(a, b) || strings.HasPrefix(a, "/") == strings.HasPrefix(b, "/") {
		return shell.SameFile(a, b)
	}
	if strings.HasPrefix(b, "/") {
		a, b = b, a
	}
	if w.home == nil {
		home := w.commonFolder()
		w.home = &home
	}
	return strings.HasPrefix(*w.home, strings.TrimSuffix(a, path.Clean(b)))
}

// commonFolder is the folder of all files that calls wrote by their whole path, with a slash at its end; empty if there
// is none.
func (w *written) commonFolder() (common string) {
	isFirst := true
	w.sum.Backwards(func(res *history.Result) bool {
		for _, name := range res.Action.Writes {
			if !strings.HasPrefix(name, "/") || slices.Contains(res.Action.Deletes, name) {
				continue
			}
			if isFirst {
				common, isFirst = path.Dir(name)+"/", false
			}
			for common != "" && !strings.HasPrefix(name, common) {
				common = common[:strings.LastIndexByte(common[:len(common)-1], '/')+1]
			}
		}
		return isFirst || common != ""
	})
	return common
}

// begin is a file that is not told yet; nil if there is no room for it.
func (w *written) begin(res *history.Result, name string, back *gitStep) *changed {
	f := &changed{path: name, base: path.Base(name), deleted: slices.Contains(res.Action.Deletes, name), back: back}
	f.inDoubt = f.deleted && w.sum.EndingOf(res).MayHaveFailed() && !saysDeleted(w.sum.TextOf(res), name)
	need := len(name) + 1
	if back != nil {
		need = len(w.backRow(f)) + 1
	}
	if w.full = w.full || need > w.room; w.full {
		return nil
	}
	w.room -= need
	w.files = append(w.files, f)
	w.known.tell(name)
	return f
}

// saysDeleted reports whether an output names a file as deleted in its beginning, as git and rm do.
func saysDeleted(text, name string) bool {
	const most = 16 << 10 // bytes: one call may delete many files
	for l := range strings.Lines(text[:min(len(text), most)]) {
		switch strings.TrimRight(l, "\r\n") {
		case "rm '" + name + "'", "removed '" + name + "'", "D  " + name, " D " + name, "\tdeleted:    " + name:
			return true
		}
	}
	return false
}

// takeLines takes lines that a call put into a file and that no newer one took out, by the names in them.
func (w *written) takeLines(f *changed, res *history.Result, name string) {
	call := w.sum.CallOf(res)
	if call == nil {
		return
	}
	if w.read == nil {
		w.read = filing.Read(w.sum.ArgumentsOf(call), call.FreeText)
	}
	all, gone, isPatch := w.read.Of(name)
	put := make([]string, 0, len(all))
	for _, l := range all {
		if strings.TrimSpace(l) != "" && (len(l) > longestLine || f.left.Holds(l, isPatch)) { // a long one is not told
			put = append(put, l)
		}
	}
	for _, l := range w.known.choose(put, min(linesOfCall, linesOfFile-len(f.lines)), w.known.worthNow) {
		w.tell(f, l)
	}
	if len(put) <= linesOfShort {
		f.short = append(f.short, put)
	}
	f.left.Change(all, gone, isPatch)
	f.left.Anew = res.Action.Whole && res.Action.Kind == action.Writing && len(gone) == 0
}

// takeShort tells what calls put in that put in little.
func (w *written) takeShort(f *changed) {
	for _, put := range f.short {
		if w.full || len(put) > linesOfFile-len(f.lines) {
			continue
		}
		for _, l := range w.known.choose(put, len(put), worthIfShort) {
			if !slices.Contains(f.lines, l) {
				w.tell(f, l)
			}
		}
	}
}

// worthIfShort is what a line of few is worth, whatever its names are: 1, but 0 if it only says where names come from.
func worthIfShort(line string) int {
	if imports.MatchString(line) {
		return 0
	}
	return 1
}

// tell tells a line of a file, if there is room for it.
func (w *written) tell(f *changed, line string) {
	need := len("> ") + len(line) + len("\n")
	if w.full = w.full || need > w.room; !w.full {
		w.room -= need
		f.lines = append(f.lines, line)
	}
}

// groupBack stands above files of which git took back all that is not told above.
const groupBack = "taken back since, if git had the file"

// backRow says what took back the changes of a file.
func (w *written) backRow(f *changed) string {
	const longest = 120 // characters
	command := shorten.OneLine(w.sum.CommandLine(f.back.res), longest)
	return fmt.Sprintf("%s, message %d: %s\n", f.path, w.sum.NumberOf(f.back.res), command)
}

// fileOf is the file as it is told already; nil if it is not.
func (w *written) fileOf(name string) *changed {
	base := path.Base(name)
	for _, f := range w.files {
		if f.base == base && shell.SameFile(f.path, name) {
			return f
		}
	}
	return nil
}
