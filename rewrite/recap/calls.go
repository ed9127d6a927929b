package recap

import (
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/shorten"
)

// calls is what became of the calls of a span, as the calls behind it show it too.
type calls struct {
	sum    *writer
	shell  place
	open   []*failure               // in their order
	doing  map[string][]*failure    // of them, those that did a task, by its keys
	solved map[*history.Result]bool // succeeded, and the same had failed before
	mended map[*history.Result]bool // failed, and all that failed in it has succeeded since
	failed map[*history.Result]*failure
	ended  map[*history.Result]*history.Result // of a command that went on, the result that tells its end
	runs   []run                               // in their order
	isOpen map[*history.Result]bool            // failed, and is among open
	again  map[*history.Result]bool            // failed, and a newer failure of the same tells how it stands
	heard  map[*history.Result]*history.Result // of a command that went on, the newest result about it
}

// failure is a call that failed and has not succeeded since.
type failure struct {
	res   *history.Result
	end   *history.Result // that tells how it ended
	tasks []task          // that have not succeeded since
	again int             // item at which it was called again without a word of how that ended; 0 if it was not
	other *history.Result // of the newest call of the same with other values that succeeded; nil if there is none
	times int             // how often it failed in a row

	isClosed bool // nothing of it is open any more
}

// readCalls follows the calls from the span to the end: what failed in the span may have succeeded behind it.
func (r *writer) readCalls() *calls {
	c := &calls{
		sum: r, solved: map[*history.Result]bool{}, mended: map[*history.Result]bool{},
		failed: map[*history.Result]*failure{},
		ended:  map[*history.Result]*history.Result{}, again: map[*history.Result]bool{},
		doing: map[string][]*failure{}, heard: map[*history.Result]*history.Result{},
	}
	var last *history.Result                // the newest command that may go on
	pending := map[*history.Result][]task{} // those, and what they do
	for k := range r.p.Hist.Results {
		res := &r.p.Hist.Results[k]
		if res.Item < r.read || res.Item >= r.p.End {
			continue
		}
		begun := r.p.Hist.BegunBy(res)
		if begun == nil && isContinued(res) && strings.HasPrefix(res.Action.Key, "{") {
			begun = last
		}
		if begun != nil || isContinued(res) {
			if tasks, isPending := pending[begun]; isPending && c.hear(begun, res, tasks) {
				delete(pending, begun)
			}
			continue
		}
		tasks := c.tasksOf(res)
		if len(tasks) > 0 {
			c.take(res, tasks)
			c.runs = append(c.runs, run{res, tasks})
		}
		if e := r.endingOf(res); res.Action.Kind == action.Shell && !e.Failed() && !e.Succeeded() {
			pending[res], last = tasks, res
		}
	}
	c.closeTests()
	c.open = slices.DeleteFunc(c.open, func(f *failure) bool { return f.isClosed })
	c.isOpen = make(map[*history.Result]bool, len(c.open))
	for _, f := range c.open {
		c.isOpen[f.res] = true
	}
	return c
}

// hear takes what a later result says of a command that went on, and reports whether it has ended. That a call could
// not end it says nothing of it.
func (c *calls) hear(begun, res *history.Result, tasks []task) (hasEnded bool) {
	switch e := c.sum.endingOf(res); {
	case e.Killed:
		hasEnded = true
	case e.Failed() && res.Action.Ends:
		return false
	case res.Action.Kind == action.Shell && (e.Failed() || e.Succeeded()):
		c.ended[begun], hasEnded = res, true
		c.take(begun, tasks)
	}
	c.heard[begun] = res
	return hasEnded
}

// isContinued reports whether a call only waits for a command that runs, gives it input, or ends it.
func isContinued(res *history.Result) bool {
	return res.Action.Kind == action.Shell && (res.Action.Session != "" || strings.HasPrefix(res.Action.Key, "{"))
}

// endOf is the result that tells how the call ended that res answers: res, or that of a call which waited for it.
func (c *calls) endOf(res *history.Result) *history.Result {
	if end := c.ended[res]; end != nil {
		return end
	}
	return res
}

// take notes what one more call means for those before. Of what a call that was not allowed to begin was to do, nothing
// is known.
func (c *calls) take(res *history.Result, tasks []task) {
	ending, times := c.sum.endingOf(c.endOf(res)), 1
	if ending.Failed() {
		var passed []task
		passed, tasks = c.failedPart(c.endOf(res), tasks)
		c.settle(passed)
	}
	if !ending.Refusal.KeptAll() {
		for _, f := range c.concerned(tasks) {
			times = max(times, c.hold(f, res, tasks))
		}
	}
	if !ending.Failed() {
		return
	}
	f := &failure{res: res, end: c.endOf(res), tasks: tasks, times: times}
	c.open = append(c.open, f)
	for k := range tasks {
		for _, key := range tasks[k].keys() {
			c.doing[key] = append(c.doing[key], f)
		}
	}
}

// hold notes what a later call of tasks means for a failure, and returns how often in a row these have failed now.
func (c *calls) hold(f *failure, res *history.Result, tasks []task) (times int) {
	ending := c.sum.endingOf(c.endOf(res))
	left := f.without(tasks, ending, c.sum.endingOf(f.end))
	if len(left) > 0 && f.isLike(tasks) && ending.Succeeded() {
		f.other = c.endOf(res)
	}
	switch failed := ending.Failed(); {
	case len(left) == len(f.tasks) && !failed && f.isOneOf(tasks):
		f.again = res.Item
	case len(left) == len(f.tasks), failed && len(left) > 0:
	case failed: // the newer failure tells how it stands
		c.again[f.res], f.isClosed = true, true
		if len(tasks) == len(f.tasks) {
			return f.times + 1
		}
	default:
		if f.tasks = left; len(left) == 0 {
			c.mended[f.res], f.isClosed = true, true
			isSame := c.sum.commandLine(f.res) == c.sum.commandLine(res)
			c.solved[res] = c.solved[res] || isSame && !c.sum.endingOf(f.end).Refusal.IsRefused()
		}
	}
	return 1
}

// concerned are the open failures of which a call of tasks may do something again, in their order: of very many that
// are alike the newest, and of those that do much fewer.
func (c *calls) concerned(tasks []task) (list []*failure) {
	const most, mostPairs = 128, 256 // failures of a kind, and pairs of tasks that are held against one another
	const mostLike = 12              // failures of the same with other values
	const wordsOfPair = 64           // pairs of words that cost as much
	for k := range tasks {
		for _, key := range tasks[k].keys() {
			all := slices.DeleteFunc(c.doing[key], func(f *failure) bool { return f.isClosed })
			all = all[max(0, len(all)-most):]
			if key == tasks[k].like {
				all = all[max(0, len(all)-mostLike):]
			}
			c.doing[key], list = all, append(list, all[max(0, len(all)-max(1, most/len(tasks))):]...)
		}
	}
	slices.SortStableFunc(list, func(a, b *failure) int { return a.res.Item - b.res.Item })
	list = slices.Compact(list)
	room, words := mostPairs, wordsIn(tasks)
	for k := len(list) - 2; k >= 0; k-- { // the newest in any case
		if room -= max(len(list[k].tasks)*len(tasks), wordsIn(list[k].tasks)*words/wordsOfPair); room < 0 {
			return list[k+1:]
		}
	}
	return list
}

// wordsIn counts the words of tasks.
func wordsIn(tasks []task) (n int) {
	for k := range tasks {
		n += len(tasks[k].words)
	}
	return n
}

// keys are equal for two tasks of which one may cover the other, or tell of it.
func (t *task) keys() []string {
	keys := []string{t.place + "\x00" + strings.Join(t.words, "\x00")}
	if t.like != "" {
		keys = append(keys, t.like)
	}
	if len(t.words) > 1 && t.words[0] == "go" { // one run may be of all that the other is of
		keys = append(keys, t.place+"\x00go\x00"+t.words[1])
	}
	return keys
}

// without returns the tasks of the failure that are still open after a call of tasks that ended so. end is how the
// failure ended. After one more failure, those of the very same are told by that.
func (f *failure) without(tasks []task, ending, end *ending.Ending) []task {
	return slices.DeleteFunc(slices.Clone(f.tasks), func(t task) bool {
		return slices.ContainsFunc(tasks, func(now task) bool {
			if ending.Failed() {
				return now.place == t.place && slices.Equal(now.words, t.words)
			}
			return now.covers(&t) && now.succeeds(ending, &t, end)
		})
	})
}

// isLike reports whether a call of tasks has the tool and the key of what failed, and other values.
func (f *failure) isLike(tasks []task) bool {
	return len(tasks) == 1 && len(f.tasks) == 1 && tasks[0].like != "" && tasks[0].like == f.tasks[0].like &&
		!slices.Equal(tasks[0].words, f.tasks[0].words)
}

// isOneOf reports whether a call of tasks did a part of what failed once more.
func (f *failure) isOneOf(tasks []task) bool {
	return slices.ContainsFunc(f.tasks, func(t task) bool {
		return slices.ContainsFunc(tasks, func(now task) bool { return now.covers(&t) })
	})
}

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

// commandLine is the first line of a command, or of what a shell is given, with the lines that it goes on with; the
// beginning of it if it is very long.
func (r *writer) commandLine(res *history.Result) string {
	const longest = 300 // characters
	command, _ := r.commandOf(res)
	if line := wholeLine(command); line != "" {
		if clean := shorten.OneLine(line, longest); len(clean) < len(line)*9/10 || clean == "" {
			return clean
		}
		return strings.TrimRight(strings.ToValidUTF8(line, "\ufffd"), " \t\r")
	}
	return res.Action.Key
}

// wholeLine is the first line of a command with what it goes on with: the lines behind one that ends in a backslash,
// and behind the beginning of a message that it is given the first line of that.
func wholeLine(command string) string {
	const most = 8 // lines
	line := shorten.FirstLine(command)
	_, rest, _ := strings.Cut(command, line)
	for range most {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "\r"), "\n")
		isOpen := strings.HasSuffix(line, "\\")
		if !isOpen && !messageBegins.MatchString(line) {
			break
		}
		next := rest
		if at := strings.IndexByte(rest, '\n'); at >= 0 {
			next = rest[:at]
		}
		rest = rest[len(next):]
		if line = strings.TrimRight(strings.TrimSuffix(line, "\\"), " ") + " " + strings.TrimSpace(next); !isOpen {
			break
		}
	}
	return strings.TrimSpace(strings.TrimSuffix(line, "\\"))
}

// messageBegins finds the end of a line behind which the text of a message stands that a command is given.
var messageBegins = pattern.Of(`"\$\(cat <<-?\s*['"]?\w+['"]?$`)
