package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/prose"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/recap/git"
	"epitome/rewrite/recap/spoken"
	"epitome/rewrite/sentence"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
)

const (
	linesOfResult = 4       // lines that are told of one result
	linesOfReport = 6       // of one in which another agent says what it found
	longestLine   = 160     // bytes of one that is told
	mostSearched  = 1 << 20 // bytes of results that are searched for such lines
)

// findings are what the agent read and searched, the newest first: each call with the lines of its result that hold
// names which later calls use and which stand nowhere else. Files that were read, and of which no line is told, are
// listed behind them.
func (r *writer) findings(k *known, tokens int) string {
	room, searched := bytesFor(tokens)-len(fmt.Sprintf(rowOfMore, 10_000)), 0
	toldByModel := r.p.Ask.Style.Mode == prose.ModeLLM && r.says.Text != ""
	var order []string
	lines, heads := map[string][]string{}, map[string]bool{}
	r.backwards(func(res *history.Result) bool {
		defer k.noteMove(res)
		known := toldByModel && res.Action.Kind == action.Other
		if !isFinding(res) || known || res.Failed || searched > mostSearched {
			return true
		}
		text, _ := shorten.FinalScreen(r.p.TextOf(res.Item))
		searched += len(text)
		head := headOf(r, res)
		most, worth := k.worthFound(res, !heads[head])
		chosen := k.choose(shorten.Pieces(text, longestLine), most, worth)
		if len(chosen) == 0 && (res.Action.Kind == action.Other || !k.isNew(head)) {
			return true
		}
		if !heads[head] {
			room -= len(head) + 1
		}
		if room -= len(spoken.Quoted(chosen)); room < 0 {
			return false
		}
		if !heads[head] {
			heads[head], order = true, append(order, head)
		}
		k.tell(head)
		lines[head] = append(lines[head], chosen...)
		r.filesTold = append(r.filesTold, res.Action.Reads...)
		return true
	})
	var s strings.Builder
	for _, head := range order {
		s.WriteString(head + "\n" + spoken.Quoted(lines[head]))
	}
	var read folders
	r.backwards(func(res *history.Result) bool {
		for _, f := range res.Action.Reads {
			if res.Failed || k.told[f] || r.tellsFile(f) {
				continue
			}
			if room -= len(f) + 2; room < 0 {
				return false
			}
			read.add(f)
			r.filesTold = append(r.filesTold, f)
		}
		return true
	})
	if len(read.order) > 0 {
		s.WriteString("files read, of which nothing else is told here:\n" + read.lines())
	}
	if n := countMore(r, heads); n > 0 && room >= 0 && r.read == r.from { // else there are more that were not read
		fmt.Fprintf(&s, rowOfMore, n)
	}
	return s.String()
}

// worthFound says how many lines of a result are told, and how much one is worth: more than its names where another
// agent says what it found, and, of the newest of git's answers to a question, where the work stands.
func (k *known) worthFound(res *history.Result, isNewest bool) (most int, worth func(line string) int) {
	later := k.worthLater(res.Item)
	switch {
	case isReport(res):
		return linesOfReport, func(line string) int {
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

// isReport reports whether a result is what another agent says that was given a task.
func isReport(res *history.Result) bool {
	switch strings.ReplaceAll(strings.ToLower(res.Name), "_", "") {
	case "task", "agent", "subagent", "spawnagent", "waitagent", "dispatchagent", "runsubagent", "newtask":
		return true
	}
	return false
}

// rowOfMore stands below what was read and searched.
const rowOfMore = "and %d more, not listed here\n"

// countMore counts what was read and searched and has no place here, the same once.
func countMore(r *writer, heads map[string]bool) int {
	more := map[string]bool{}
	r.backwards(func(res *history.Result) bool {
		if !isFinding(res) || res.Failed || res.Action.Kind == action.Other {
			return true
		}
		isHidden := func(file string) bool { return !r.tellsFile(file) }
		head, reads := headOf(r, res), res.Action.Reads
		if !heads[head] && (len(reads) == 0 || slices.ContainsFunc(reads, isHidden)) {
			more[head] = true
		}
		return true
	})
	return len(more)
}

// tellsFile reports whether the summary names the file already.
func (r *writer) tellsFile(name string) bool {
	return slices.ContainsFunc(r.filesTold, func(f string) bool { return shell.SameFile(f, name) })
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
func headOf(r *writer, res *history.Result) string {
	if res.Action.Kind == action.Reading && len(res.Action.Reads) == 1 {
		return res.Action.Reads[0]
	}
	if res.Action.Kind == action.Shell {
		return r.commandLine(res)
	}
	if call := r.callOf(res); call != nil && res.Action.Kind == action.Searching {
		arguments := call.ArgumentsIn(r.p.Req.Body)
		pattern, where := action.SearchOf(call.Name, arguments, call.FreeText)
		if pattern != "" && where != "" {
			return fmt.Sprintf("%s, pattern `%s`, path `%s`", call.Name, pattern, where)
		}
	}
	return res.About()
}
