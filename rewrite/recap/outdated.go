package recap

import (
	"path"
	"slices"

	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/linenumber"
	"epitome/rewrite/recap/filing"
	"epitome/rewrite/recap/past"
	"epitome/rewrite/shell"
)

// revisions are what newer calls have left of files that older ones read, by the files' last names.
type revisions map[string][]*revision

// revision is one file.
type revision struct {
	path string
	left filing.File
}

// mostRevised is how many files of one last name are followed: the newest.
const mostRevised = 64

// of is the revision of a file; nil if no newer call wrote it.
func (r revisions) of(name string) *revision {
	for _, v := range r[path.Base(name)] {
		if shell.SameFile(v.path, name) {
			return v
		}
	}
	return nil
}

// note notes what one more call did to files. What a shell did to them is not known line by line.
func (r revisions) note(s *past.Span, res *history.Result) {
	call := s.CallOf(res)
	if res.Action.Kind != action.Writing || call == nil || res.Failed || failedWriting(s, res) {
		return
	}
	changes := filing.Read(s.ArgumentsOf(call), call.FreeText)
	for _, name := range res.Action.Writes {
		v, base := r.of(name), path.Base(name)
		if v == nil {
			if len(r[base]) == mostRevised {
				continue
			}
			v = &revision{path: name}
			r[base] = append(r[base], v)
		}
		put, gone, isPatch := changes.Of(name)
		if isWhole := res.Action.Whole && len(gone) == 0; isWhole || slices.Contains(res.Action.Deletes, name) {
			v.left.Anew = true
			continue
		}
		v.left.Change(put, gone, isPatch)
	}
}

// worthStill is what lines of a result are worth that shows one file, nothing where newer calls took them out.
func (r revisions) worthStill(res *history.Result, text string, worth func(line string) int) func(line string) int {
	if len(res.Action.Reads) != 1 || res.Action.Kind != action.Reading && !res.Action.OnlyFiles {
		return worth
	}
	v := r.of(res.Action.Reads[0])
	if v == nil {
		return worth
	}
	numbers := linenumber.Of(text)
	return func(line string) int {
		if !v.left.Holds(numbers.Strip(line), false) {
			return 0
		}
		return worth(line)
	}
}
