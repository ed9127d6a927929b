package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/prose"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// calls is what became of the calls of a span, as the calls behind it show it too.
type calls struct {
	sum    *writer
	shell  place
	open   []*failure // in their order
	solved map[*history.Result]bool
	failed map[*history.Result]*failure
	ended  map[*history.Result]*history.Result // of a command that went on, the result that tells its end
	runs   []run                               // in their order
	again  map[*history.Result]bool            // failed, and a newer failure of the same tells how it stands
}

// failure is a call that failed and has not succeeded since.
type failure struct {
	res   *history.Result
	end   *history.Result // that tells how it ended
	tasks []task          // that have not succeeded since
	again int             // item at which it was called again without a word of how that ended; 0 if it was not
	times int             // how often it failed in a row
}

// readCalls follows the calls from the span to the end: what failed in the span may have succeeded behind it.
func (r *writer) readCalls() *calls {
	c := &calls{
		sum: r, solved: map[*history.Result]bool{}, failed: map[*history.Result]*failure{},
		ended: map[*history.Result]*history.Result{}, again: map[*history.Result]bool{},
	}
	var pending *history.Result // a command that may go on
	var pendingTasks []task
	for k := range r.p.Hist.Results {
		res := &r.p.Hist.Results[k]
		if res.Item < r.read || res.Item >= r.p.End {
			continue
		}
		if isContinued(res) {
			if pending != nil && (r.endingOf(res).Failed() || r.endingOf(res).Succeeded()) {
				c.ended[pending] = res
				c.take(pending, pendingTasks)
				pending = nil
			}
			continue
		}
		tasks := c.tasksOf(res)
		if len(tasks) > 0 {
			c.take(res, tasks)
			c.runs = append(c.runs, run{res, tasks})
		}
		if e := r.endingOf(res); res.Action.Kind == history.KindShell && !e.Failed() && !e.Succeeded() {
			pending, pendingTasks = res, tasks
		}
	}
	return c
}

// isContinued reports whether a call only waits for a command that runs, or gives it input.
func isContinued(res *history.Result) bool {
	return res.Action.Kind == history.KindShell && strings.HasPrefix(res.Action.Key, "{")
}

// endOf is the result that tells how the call ended that res answers: res, or that of a call which waited for it.
func (c *calls) endOf(res *history.Result) *history.Result {
	if end := c.ended[res]; end != nil {
		return end
	}
	return res
}

// take notes what one more call means for those before.
func (c *calls) take(res *history.Result, tasks []task) {
	ending := c.sum.endingOf(c.endOf(res))
	failed := ending.Failed()
	times := 1
	kept := c.open[:0]
	for _, f := range c.open {
		left := f.without(tasks, ending, c.sum.endingOf(f.end))
		switch {
		case len(left) == len(f.tasks) && !failed && f.isOneOf(tasks):
			f.again = res.Item
		case len(left) == len(f.tasks), failed && len(left) > 0:
		case failed: // the newer failure tells how it stands
			if len(tasks) == len(f.tasks) {
				times = max(times, f.times+1)
			}
			c.again[f.res] = true
			continue
		default:
			if f.tasks = left; len(left) == 0 {
				c.solved[res] = true
				continue
			}
		}
		kept = append(kept, f)
	}
	c.open = kept
	if failed {
		c.open = append(c.open, &failure{res: res, end: c.endOf(res), tasks: tasks, times: times})
	}
}

// without returns the tasks of the failure that are still open after a call of tasks that ended so. end is how the
// failure ended. After one more failure, those of the very same are told by that.
func (f *failure) without(tasks []task, ending, end *history.Ending) []task {
	return slices.DeleteFunc(slices.Clone(f.tasks), func(t task) bool {
		return slices.ContainsFunc(tasks, func(now task) bool {
			if ending.Failed() {
				return now.place == t.place && slices.Equal(now.words, t.words)
			}
			return now.covers(&t) && now.succeeds(ending, &t, end)
		})
	})
}

// isOneOf reports whether a call of tasks did a part of what failed once more.
func (f *failure) isOneOf(tasks []task) bool {
	return slices.ContainsFunc(f.tasks, func(t task) bool {
		return slices.ContainsFunc(tasks, func(now task) bool { return now.covers(&t) })
	})
}

// failures tells the calls of the span that failed and have not succeeded since, the newest first, each with the lines
// of its output that tell why, each line once. Of one that a later run shows in part or not at all, no lines are told.
func (c *calls) failures(tokens int) string {
	const mostLines, fewLines = 12, 3
	const mostHeld = 24 // failures that are held against later runs: each such run is read
	left, lines, held := tokens, mostLines, 0
	var s strings.Builder
	told := map[string]bool{}
	for k := len(c.open) - 1; k >= 0; k-- {
		f := c.open[k]
		if f.end.Item >= c.sum.to {
			continue
		}
		note, isTold := "", false
		if held++; held <= mostHeld {
			note, isTold = c.noteOfLater(f)
		}
		if isTold {
			c.again[f.res] = true
			continue
		}
		list := []string(nil)
		if note == "" {
			list, note = c.sum.newLines(f, lines, told)
		}
		entry := c.sum.failureEntry(f, note, list, left)
		if entry == "" {
			break
		}
		left -= c.sum.p.Count(entry)
		c.failed[f.res] = f
		s.WriteString(entry)
		lines = fewLines
	}
	return s.String()
}

// newLines are so many lines that tell of a failure, without those that are told. note says so if all of them are.
func (r *writer) newLines(f *failure, most int, told map[string]bool) (list []string, note string) {
	all := r.tellingLines(f.end, most)
	for _, l := range all {
		if key := strings.TrimSpace(l); !told[key] {
			told[key], list = true, append(list, l)
		}
	}
	if len(all) > 0 && len(list) == 0 {
		note = "; its lines stand above"
	}
	return list, note
}

// failureEntry tells of one failure with lines of its output, in at most so many tokens; empty if it does not fit.
func (r *writer) failureEntry(f *failure, note string, lines []string, tokens int) string {
	head := fmt.Sprintf("%s, message %d: %s", f.res.About(), plan.NumberOf(r.p, f.end.Item), r.endingOf(f.end).InWords())
	if f.times > 1 {
		head += fmt.Sprintf(", %d times in a row", f.times)
	}
	if f.again > 0 {
		head += fmt.Sprintf("; called again in message %d, which does not tell how that ended", plan.NumberOf(r.p, f.again))
	}
	entry := head + note + "\n"
	left := tokens - r.p.Count(entry)
	if left < 0 {
		return ""
	}
	for _, l := range lines {
		l = "> " + strings.TrimRight(l, " \t\r") + "\n"
		n := r.p.Count(l)
		if n > left {
			break
		}
		left -= n
		entry += l
	}
	return entry
}

// tellingLines are the lines of a result that tell what failed, as they stand there.
func (r *writer) tellingLines(res *history.Result, most int) []string {
	screen, _ := shorten.FinalScreen(r.p.TextOf(res.Item))
	list := excerpt.Failures(screen, most)
	list = slices.DeleteFunc(list, exitLine.MatchString)
	if line := r.endingOf(res).Line; len(list) == 0 && line != "" && !exitLine.MatchString(line) {
		list = []string{line}
	}
	if len(list) == 0 {
		list = lastLines(screen, 2)
	}
	return shorten.WholeLines(screen, list)
}

// exitLine finds a line that says the exit state and nothing else: that is told already.
var exitLine = pattern.Of(`(?i)^\W*(?:process |command )?(?:exit(?:ed)?|return)[ _]?(?:with )?(?:code|status)?\W*\d+\W*$`)

// lastLines are the last lines of a text that say something and are not long.
func lastLines(text string, most int) (list []string) {
	const longest = 300 // bytes
	for text = strings.TrimSpace(text); text != "" && len(list) < most; {
		at := strings.LastIndexByte(text, '\n') + 1
		if l := strings.TrimSpace(text[at:]); l != "" && len(l) <= longest && !exitLine.MatchString(l) {
			list = append(list, l)
		}
		text = strings.TrimRight(text[:at], "\r\n \t")
	}
	slices.Reverse(list)
	return list
}

// commands are the other commands of a span by how they ended, each group the newest first. Some have the line of their
// output that matters most. Those that only look are told elsewhere.
func (c *calls) commands(tokens int) string {
	const linesOf = 8 // newest commands that have one
	all := newRows(tokens)
	groups := map[string][]string{}
	n := 0
	c.sum.backwards(func(res *history.Result) bool {
		if res.Action.Kind != history.KindShell || isFinding(res) || isContinued(res) {
			return true
		}
		row := c.sum.commandLine(res)
		if c.failed[res] != nil { // it stands above
			all.seen[row] = true
		}
		if row == "" || all.seen[row] {
			return true
		}
		if !all.add(row) {
			return false
		}
		group := c.group(res)
		groups[group] = append(groups[group], row)
		if n++; n <= linesOf && group != endedAgain {
			if line := lineOf(c.sum, c.endOf(res)); line != "" && all.add("> "+line) {
				groups[group] = append(groups[group], "> "+line)
			}
		}
		return true
	})
	var s strings.Builder
	if folder := c.sum.folder(); folder != "" && len(all.list) > 0 {
		s.WriteString("the newest ran in:\n" + folder + "\n")
	}
	for _, group := range endings {
		if rows := groups[group]; len(rows) > 0 {
			s.WriteString(group + ":\n" + strings.Join(rows, "\n") + "\n")
		}
	}
	return s.String()
}

// folder is where the newest command of the span ran, if its call says that.
func (r *writer) folder() (folder string) {
	r.backwards(func(res *history.Result) bool {
		call := r.callOf(res)
		if call == nil || res.Action.Kind != history.KindShell || isFinding(res) || isContinued(res) {
			return true
		}
		_, folder = history.CommandOf(call.Name, span.TextOf(call.Arguments.Of(r.p.Req.Body)), call.FreeText)
		return false
	})
	return shorten.OneLine(folder, longestFolder)
}

const longestFolder = 200 // characters

// lineOf is the line of a result that matters most, as it stands there, if it is not long. Of a result behind the span
// none is told: it stands there anyway.
func lineOf(r *writer, res *history.Result) string {
	const longest = 160 // bytes
	line := r.endingOf(res).Line
	if res.Item >= r.to || line == "" || len(line) > longest || exitLine.MatchString(line) {
		return ""
	}
	screen, _ := shorten.FinalScreen(r.p.TextOf(res.Item))
	if all := shorten.WholeLines(screen, []string{line}); len(all) > 0 {
		return strings.TrimRight(all[0], " \t\r")
	}
	return ""
}

// commandLine is the first line of a command, or of what a shell is given; the beginning of it if it is very long.
func (r *writer) commandLine(res *history.Result) string {
	const longest = 300 // characters
	call := r.callOf(res)
	if call == nil {
		return res.Action.Key
	}
	command, _ := history.CommandOf(call.Name, span.TextOf(call.Arguments.Of(r.p.Req.Body)), call.FreeText)
	if line := shorten.FirstLine(command); line != "" {
		if clean := shorten.OneLine(line, longest); len(clean) < len(line)*9/10 || clean == "" {
			return clean
		}
		return strings.TrimRight(strings.ToValidUTF8(line, "\ufffd"), " \t\r")
	}
	return res.Action.Key
}

// others are the calls of tools of which it is not known what they are for, by tool: how often each was called, and
// how it was called last.
func (c *calls) others(k *known, tokens int) string {
	if c.sum.p.Ask.Style.Mode == prose.ModeLLM && c.sum.says.Text != "" { // the model tells
		return ""
	}
	const most = 3 // calls of a tool
	var order []string
	count, rows := map[string]int{}, map[string][]string{}
	c.sum.backwards(func(res *history.Result) bool {
		if res.Action.Kind != history.KindOther || len(res.Action.Reads) > 0 {
			return true
		}
		if count[res.Name]++; count[res.Name] == 1 {
			order = append(order, res.Name)
		}
		if row := res.About(); len(rows[res.Name]) < most && !slices.Contains(rows[res.Name], row) {
			rows[res.Name] = append(rows[res.Name], row)
		}
		return true
	})
	all := newRows(tokens)
	for _, name := range order {
		for _, row := range rows[name] {
			if count[name] > most {
				row = fmt.Sprintf("%s, one of %d", row, count[name])
			}
			if !all.add(row) {
				break
			}
			k.tell(row)
		}
	}
	return strings.Join(all.list, "\n")
}

// How commands ended, as a summary groups them.
const (
	endedWell   = "ended with exit code 0"
	endedSolved = "failed before, and succeeded since"
	saidWell    = "no exit code, but the output says that it succeeded"
	endedOpen   = "failed, and has not succeeded since"
	endedAgain  = "failed, and so did a later run"
	endedBadly  = "failed"
	endedSomeOf = "the result does not tell how it ended"
)

var endings = [...]string{endedOpen, endedSolved, endedWell, saidWell, endedAgain, endedBadly, endedSomeOf}

// group is how a command of a shell ended.
func (c *calls) group(res *history.Result) string {
	ending := c.sum.endingOf(c.endOf(res))
	switch {
	case c.solved[res]:
		return endedSolved
	case c.again[res]:
		return endedAgain
	case slices.ContainsFunc(c.open, func(f *failure) bool { return f.res == res }):
		return endedOpen
	case ending.Failed() && !res.Action.Looks:
		return endedBadly
	case ending.Known && ending.Code == 0:
		return endedWell
	case ending.Succeeded():
		return saidWell
	}
	return endedSomeOf
}
