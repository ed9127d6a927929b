package recap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
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
	dir, base := path.Split(file)
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
	path    string
	deleted bool
	lines   []string // that were put in
	back    *gitStep // that took back what is not told, if that is all there was
}

// written are the files that calls wrote and deleted, the newest first, each with lines that were put in.
type written struct {
	sum   *writer
	known *known
	room  int // bytes
	files []*changed
	git   []*gitStep
}

// Lines that are told of a file: of one call, and of all.
const linesOfCall, linesOfFile = 4, 10

// files are those that calls wrote and deleted, in at most so many tokens.
func (r *writer) files(k *known, tokens int) string {
	w := &written{sum: r, known: k, room: tokens * 36 / 10, git: readGit(r)}
	r.backwards(func(res *history.Result) bool {
		if len(res.Action.Writes) == 0 || res.Failed || failedWriting(r, res) {
			return true
		}
		return w.take(res)
	})
	var s, gone, back strings.Builder
	for _, f := range w.files {
		r.filesTold = append(r.filesTold, f.path)
		switch {
		case f.back != nil:
			back.WriteString(w.backRow(f))
		case f.deleted:
			gone.WriteString(f.path + "\n")
		default:
			s.WriteString(f.path + "\n" + quoted(f.lines))
		}
	}
	if back.Len() > 0 {
		s.WriteString(groupBack + ":\n" + back.String())
	}
	if gone.Len() > 0 {
		s.WriteString("deleted:\n" + gone.String())
	}
	return s.String()
}

// failedWriting reports whether a call failed so that nothing may be written: one of a writing tool, or of a shell that
// ran one command alone.
func failedWriting(r *writer, res *history.Result) bool {
	switch res.Action.Kind {
	case history.KindWriting:
		return r.endingOf(res).Failed() || history.SaysRefusal(r.p.TextOf(res.Item))
	case history.KindShell:
		if call := r.callOf(res); call != nil && r.endingOf(res).Code > 0 {
			command, _ := history.CommandOf(call.Name, span.TextOf(call.Arguments.Of(r.p.Req.Body)), call.FreeText)
			steps, ok := stepsIn(command)
			return ok && len(steps) == 1
		}
	}
	return false
}

// take takes in the files of one call. It reports whether there is room for more.
func (w *written) take(res *history.Result) bool {
	call := w.sum.callOf(res)
	for _, name := range res.Action.Writes {
		if isOnlyTakingBack(w.git, res, name) {
			continue
		}
		f, back := w.fileOf(name), takenBack(w.git, res, name)
		if f == nil {
			f = &changed{path: name, deleted: slices.Contains(res.Action.Deletes, name), back: back}
			if w.room -= len(name) + 1; back != nil {
				w.room -= len(w.backRow(f)) - len(name)
			}
			if w.room < 0 {
				return false
			}
			w.files = append(w.files, f)
			w.known.tell(name)
		}
		if back != nil {
			continue
		}
		if f.back = nil; f.deleted || call == nil {
			continue
		}
		most := min(linesOfCall, linesOfFile-len(f.lines))
		put := history.LinesPutIn(span.TextOf(call.Arguments.Of(w.sum.p.Req.Body)), call.FreeText, name)
		for _, l := range w.known.choose(put, most, w.known.worthNow) {
			if w.room -= len(l) + 3; w.room < 0 {
				return false
			}
			f.lines = append(f.lines, l)
		}
	}
	return true
}

// groupBack stands above files of which git took back all that is not told above.
const groupBack = "taken back since, if git had the file"

// backRow says what took back the changes of a file.
func (w *written) backRow(f *changed) string {
	const longest = 120 // characters
	command := shorten.OneLine(w.sum.commandLine(f.back.res), longest)
	return fmt.Sprintf("%s, message %d: %s\n", f.path, plan.NumberOf(w.sum.p, f.back.res.Item), command)
}

// fileOf is the file as it is told already; nil if it is not.
func (w *written) fileOf(name string) *changed {
	for _, f := range w.files {
		if path.Base(f.path) == path.Base(name) && shell.SameFile(f.path, name) {
			return f
		}
	}
	return nil
}
