package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/recap/deed"
	"epitome/rewrite/recap/git"
	"epitome/rewrite/recap/past"
	"epitome/rewrite/recap/spoken"
	"epitome/rewrite/sentence"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
)

const (
	linesOfResult = 4       // lines that are told of one result
	linesOfAgent  = 6       // of one in which another agent says what it found
	longestLine   = 160     // bytes of one that is told
	mostSearched  = 1 << 20 // bytes of results that are searched for such lines
)

// findings are what the agent read and searched, the newest first: each call with the lines of its result that hold
// names which later calls use and which stand nowhere else. Files that were read, and of which no line is told, are
// listed behind them.
func (w *writer) findings(k *known, tokens int) string {
	f := &found{sum: w, known: k, lines: map[string][]string{}, bare: map[string]int{}, acts: map[string]bool{},
		revised: revisions{}}
	f.room = bytesFor(tokens) - len(fmt.Sprintf(rowOfMore, 10_000))
	w.Backwards(func(res *history.Result) bool {
		hasRoom := f.take(res)
		f.revised.note(w.Span, res)
		k.noteMove(res)
		return hasRoom
	})
	var s, acts strings.Builder
	for _, head := range f.order {
		to := &s
		if f.acts[head] {
			to = &acts
		}
		to.WriteString(head + "\n" + spoken.Quoted(f.lines[head]))
	}
	if files := f.filesRead(); files != "" {
		s.WriteString("files read, of which nothing else is told here:\n" + files)
	}
	if acts.Len() > 0 {
		s.WriteString(groupActs + ":\n" + acts.String())
	}
	if n := f.countMore(); n > 0 && f.room >= 0 && w.IsReadWhole() { // else there are more that were not read
		fmt.Fprintf(&s, rowOfMore, n)
	}
	return s.String()
}

// groupActs stands above what tools answered that are not known to look alone.
const groupActs = "answered by calls that may have changed something"

// found is what the agent read and searched, as far as there is room for it.
type found struct {
	sum      *writer
	known    *known
	room     int                 // bytes; below 0 once something had no room
	searched int                 // bytes of results
	order    []string            // the lines above what was found, the newest first
	lines    map[string][]string // by those
	acts     map[string]bool     // those of them of which the call may have changed something
	revised  revisions           // by newer calls
	bare     map[string]int      // by tool, how many of them have no lines
}

// take takes what one call found, and reports whether there may be room for more.
func (f *found) take(res *history.Result) bool {
	isOther := res.Action.Kind == action.Other
	if !isFinding(res) || isOther && f.sum.isToldByModel() || res.Failed || f.searched > mostSearched {
		return true
	}
	text, _ := shorten.FinalScreen(f.sum.TextOf(res))
	f.searched += len(text)
	head := headOf(f.sum.Span, res)
	_, isTold := f.lines[head]
	most, worth := f.known.worthFound(res, !isTold)
	worth = f.revised.worthStill(res, text, worth)
	chosen := f.known.choose(shorten.Pieces(text, longestLine), most, worth)
	if len(chosen) == 0 && (isOther || !f.known.isNew(head) || !f.mayStandBare(res)) {
		return true
	}
	acts := isOther && !deed.Looks(res.Name, f.sum.ValuesOf(res))
	if !isTold {
		f.room -= len(head) + 1
	}
	if acts && len(f.acts) == 0 {
		f.room -= len(groupActs + ":\n")
	}
	if f.room -= len(spoken.Quoted(chosen)); f.room < 0 {
		return false
	}
	if !isTold {
		f.order = append(f.order, head)
	}
	if acts {
		f.acts[head] = true
	}
	f.known.tell(head)
	f.lines[head] = append(f.lines[head], chosen...)
	f.sum.filesTold = append(f.sum.filesTold, res.Action.Reads...)
	return true
}

// mayStandBare reports whether a call may be told without a line of what it found: few of each tool are, and nothing
// that is gone.
func (f *found) mayStandBare(res *history.Result) bool {
	const most = 8
	if f.isGone(res) {
		return false
	}
	f.bare[res.Name]++
	return f.bare[res.Name] <= most
}

// isGone reports whether a newer call was to delete all files that a result shows, or to move them.
func (f *found) isGone(res *history.Result) bool {
	mayBeThere := func(name string) bool { return !f.sum.Plan.Hist.MayBeGone(name, res) }
	return len(res.Action.Reads) > 0 && !slices.ContainsFunc(res.Action.Reads, mayBeThere)
}

// filesRead lists the files that were read and are not told yet.
func (f *found) filesRead() string {
	var read folders
	f.sum.Backwards(func(res *history.Result) bool {
		for _, name := range res.Action.Reads {
			if res.Failed || f.known.told[name] || f.sum.tellsFile(name) || f.sum.Plan.Hist.MayBeGone(name, res) {
				continue
			}
			if f.room -= len(name) + 2; f.room < 0 {
				return false
			}
			read.add(name)
			f.known.told[name] = true
			f.sum.filesTold = append(f.sum.filesTold, name)
		}
		return true
	})
	return read.lines()
}

// countMore counts what was read and searched and has no place here, the same once.
func (f *found) countMore() int {
	more := map[string]bool{}
	f.sum.Backwards(func(res *history.Result) bool {
		if !isFinding(res) || res.Failed || res.Action.Kind == action.Other || f.isGone(res) {
			return true
		}
		isHidden := func(file string) bool { return !f.sum.tellsFile(file) }
		head, reads := headOf(f.sum.Span, res), res.Action.Reads
		if _, isTold := f.lines[head]; !isTold && (len(reads) == 0 || slices.ContainsFunc(reads, isHidden)) {
			more[head] = true
		}
		return true
	})
	return len(more)
}

// worthFound says how many lines of a result are told, and how much one is worth: more than its names where another
// agent says what it found, and, of the newest of git's answers to a question, where the work stands.
func (k *known) worthFound(res *history.Result, isNewest bool) (most int, worth func(line string) int) {
	later := k.worthLater(res.Item)
	switch {
	case isOfAgent(res):
		return linesOfAgent, func(line string) int {
			n := later(line) + sentence.WorthOf(line)
			if pointForm.MatchString(line) {
				n++
			}
			return n
		}
	case k.moved && strings.Contains(res.Action.Key, "git status"): // it stands otherwise now
		return 0, later
	case isNewest && !k.moved && res.Action.Kind == action.Shell && strings.Contains(res.Action.Key, "git "):
		placed := k.placed // what is newer says on which branch
		return linesOfResult, func(line string) int {
			if commitForm.MatchString(line) || !placed && branchForm.MatchString(line) {
				return later(line) + 1
			}
			return later(line)
		}
	}
	return linesOfResult, later
}

// pointForm finds a point of a list.
var pointForm = pattern.Of(`^\s*(?:[-*•]|\d+[.)])\s`)

// commitForm and branchForm find a line in which git tells a commit by its id alone, and one that tells the branch, or
// what it is ahead of.
var (
	commitForm = pattern.Of(`^[0-9a-f]{7,40}$`)
	branchForm = pattern.Of(`^(?:## \S.*|On branch \S+|Your branch is .*)$`)
)

// noteMove notes that what git told before a result, of where the work stands, may not hold any more, or is told anew.
func (k *known) noteMove(res *history.Result) {
	if res.Action.Kind == action.Shell {
		k.moved = k.moved || git.MovesWork(res.Action.Key)
		k.placed = k.placed || strings.Contains(res.Action.Key, "git status")
	}
}

// isOfAgent reports whether a result is what another agent says that was given a task.
func isOfAgent(res *history.Result) bool {
	switch strings.ReplaceAll(strings.ToLower(res.Name), "_", "") {
	case "task", "agent", "subagent", "spawnagent", "waitagent", "dispatchagent", "runsubagent", "newtask":
		return true
	}
	return false
}

// rowOfMore stands below what was read and searched.
const rowOfMore = "and %d more, not listed here\n"

// tellsFile reports whether the summary names the file already.
func (w *writer) tellsFile(name string) bool {
	return slices.ContainsFunc(w.filesTold, func(f string) bool { return shell.SameFile(f, name) })
}

// isFinding reports whether a call only shows what is there.
func isFinding(res *history.Result) bool {
	switch res.Action.Kind {
	case action.Reading, action.Searching, action.Listing, action.Fetching, action.Other:
		return true
	case action.Shell:
		return res.Action.Looks || res.Action.OnlyFiles
	}
	return false
}

// headOf is the line above what a call found: of a file that was read its path, of a command itself, of a search what
// it looked for and where.
func headOf(s *past.Span, res *history.Result) string {
	if res.Action.Kind == action.Reading && len(res.Action.Reads) == 1 {
		return res.Action.Reads[0]
	}
	if res.Action.Kind == action.Shell {
		return s.CommandLine(res)
	}
	if call := s.CallOf(res); call != nil && res.Action.Kind == action.Searching {
		arguments := s.ArgumentsOf(call)
		pattern, where := action.SearchOf(call.Name, arguments, call.FreeText)
		if pattern != "" && where != "" {
			return fmt.Sprintf("%s, pattern `%s`, path `%s`", call.Name, pattern, where)
		}
	}
	return res.About()
}
