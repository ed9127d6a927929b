package recap

import (
	"slices"
	"strings"

	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/recap/errand"
	"epitome/rewrite/recap/step"
	"epitome/rewrite/shorten"
)

// calls is what became of the calls of a span, as the calls behind it show it too.
type calls struct {
	sum      *writer
	terminal errand.Terminal
	open     []*failure                // in their order
	doing    map[string][]*failure     // of them, those that did an errand, by its keys
	fates    map[*history.Result]*fate // of those calls of which anything is known
	runs     []run                     // in their order
}

// fate is what became of one call.
type fate struct {
	end      *history.Result // of a command that went on, the result that tells its end
	heard    *history.Result // of a command that went on, the newest result about it
	isSolved bool            // it succeeded, and the same had failed before
	isMended bool            // it failed, and all that failed in it has succeeded since
	isOpen   bool            // it failed, and that is open
	isAgain  bool            // it failed, and a newer failure of the same tells how it stands
	isTold   bool            // it stands among failures or refused calls
}

// fateOf is what is known of what became of the call that res answers.
func (c *calls) fateOf(res *history.Result) fate {
	if f := c.fates[res]; f != nil {
		return *f
	}
	return fate{}
}

// note is where that is noted.
func (c *calls) note(res *history.Result) *fate {
	if c.fates[res] == nil {
		c.fates[res] = &fate{}
	}
	return c.fates[res]
}

// failure is a call that failed and has not succeeded since.
type failure struct {
	res     *history.Result
	end     *history.Result // that tells how it ended
	errands []errand.Errand // that have not succeeded since
	again   int             // item at which it was called again without a word of how that ended; 0 if it was not
	other   *history.Result // of the newest call of the same with other values that succeeded; nil if there is none
	times   int             // how often it failed in a row
	older   []*failure      // of which it tells how they stand

	isClosed bool // nothing of it is open any more
}

// readCalls follows the calls from the span to the end: what failed in the span may have succeeded behind it.
func (r *writer) readCalls() *calls {
	c := &calls{sum: r, doing: map[string][]*failure{}, fates: map[*history.Result]*fate{}}
	var last *history.Result                         // the newest command that may go on
	pending := map[*history.Result][]errand.Errand{} // those, and what they do
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
			if errands, isPending := pending[begun]; isPending && c.hear(begun, res, errands) {
				delete(pending, begun)
			}
			continue
		}
		errands := c.errandsOf(res)
		if len(errands) > 0 {
			c.take(res, errands)
			c.runs = append(c.runs, run{res, errands})
		}
		if e := r.endingOf(res); res.Action.Kind == action.Shell && !e.Failed() && !e.Succeeded() {
			pending[res], last = errands, res
		}
	}
	c.closeTests()
	c.open = slices.DeleteFunc(c.open, func(f *failure) bool { return f.isClosed })
	for _, f := range c.open {
		c.note(f.res).isOpen = true
	}
	return c
}

// hear takes what a later result says of a command that went on, and reports whether it has ended. That a call could
// not end it says nothing of it.
func (c *calls) hear(begun, res *history.Result, errands []errand.Errand) (hasEnded bool) {
	switch e := c.sum.endingOf(res); {
	case e.Killed:
		hasEnded = true
	case e.Failed() && res.Action.Ends:
		return false
	case res.Action.Kind == action.Shell && (e.Failed() || e.Succeeded()):
		c.note(begun).end, hasEnded = res, true
		c.take(begun, errands)
	}
	c.note(begun).heard = res
	return hasEnded
}

// isContinued reports whether a call only waits for a command that runs, gives it input, or ends it.
func isContinued(res *history.Result) bool {
	return res.Action.Kind == action.Shell && (res.Action.Session != "" || strings.HasPrefix(res.Action.Key, "{"))
}

// endOf is the result that tells how the call ended that res answers: res, or that of a call which waited for it.
func (c *calls) endOf(res *history.Result) *history.Result {
	if end := c.fateOf(res).end; end != nil {
		return end
	}
	return res
}

// take notes what one more call means for those before. Of what a call that was not allowed to begin was to do, nothing
// is known.
func (c *calls) take(res *history.Result, errands []errand.Errand) {
	ending, times := c.sum.endingOf(c.endOf(res)), 1
	var older []*failure
	if ending.Failed() {
		var passed []errand.Errand
		output := func() string { return c.sum.p.TextOf(c.endOf(res).Item) }
		passed, errands = errand.FailedPart(errands, output)
		errand.NoteWaiting(errands, output)
		c.settle(passed)
	}
	if !ending.Refusal.KeptAll() {
		for _, f := range c.concerned(errands) {
			times = max(times, c.hold(f, res, errands))
			if ending.Failed() && f.isClosed {
				older = append(older, f)
			}
		}
	}
	if !ending.Failed() {
		return
	}
	f := &failure{res: res, end: c.endOf(res), errands: errands, times: times, older: older}
	c.open = append(c.open, f)
	for k := range errands {
		for _, key := range errands[k].Keys() {
			c.doing[key] = append(c.doing[key], f)
		}
	}
}

// hold notes what a later call of errands means for a failure, and returns how often in a row these have failed now.
func (c *calls) hold(f *failure, res *history.Result, errands []errand.Errand) (times int) {
	ending := c.sum.endingOf(c.endOf(res))
	left := f.without(errands, ending, c.sum.endingOf(f.end))
	if len(left) > 0 && f.isLike(errands) && ending.Succeeded() {
		f.other = c.endOf(res)
	}
	switch failed := ending.Failed(); {
	case len(left) == len(f.errands) && !failed && f.isOneOf(errands):
		f.again = res.Item
	case len(left) == len(f.errands), failed && len(left) > 0:
	case failed: // the newer failure tells how it stands
		c.note(f.res).isAgain, f.isClosed = true, true
		if len(errands) == len(f.errands) {
			return f.times + 1
		}
	default:
		if f.errands = left; len(left) == 0 {
			mend(c, f)
			isSame := c.sum.commandLine(f.res) == c.sum.commandLine(res)
			if isSame && !c.sum.endingOf(f.end).Refusal.IsRefused() {
				c.note(res).isSolved = true
			}
		}
	}
	return 1
}

// mend notes that all has succeeded since that failed in a call, and in older ones of which it tells.
func mend(c *calls, f *failure) {
	for all := []*failure{f}; len(all) > 0; {
		f, all = all[len(all)-1], all[:len(all)-1]
		fate := c.note(f.res)
		fate.isMended, fate.isAgain, f.isClosed = true, false, true
		all, f.older = append(all, f.older...), nil
	}
}

// concerned are the open failures of which a call of errands may do something again, in their order: of very many that
// are alike the newest, and of those that do much fewer.
func (c *calls) concerned(errands []errand.Errand) (list []*failure) {
	const most, mostPairs = 128, 256 // failures of a kind, and pairs of errands that are held against one another
	const mostLike = 12              // failures of the same with other values
	const wordsOfPair = 64           // pairs of words that cost as much
	for k := range errands {
		for _, key := range errands[k].Keys() {
			all := slices.DeleteFunc(c.doing[key], func(f *failure) bool { return f.isClosed })
			all = all[max(0, len(all)-most):]
			if key == errands[k].Like {
				all = all[max(0, len(all)-mostLike):]
			}
			c.doing[key], list = all, append(list, all[max(0, len(all)-max(1, most/len(errands))):]...)
		}
	}
	slices.SortStableFunc(list, func(a, b *failure) int { return a.res.Item - b.res.Item })
	list = slices.Compact(list)
	room, words := mostPairs, errand.CountWords(errands)
	for k := len(list) - 2; k >= 0; k-- { // the newest in any case
		f := list[k]
		if room -= max(len(f.errands)*len(errands), errand.CountWords(f.errands)*words/wordsOfPair); room < 0 {
			return list[k+1:]
		}
	}
	return list
}

// errandsOf are what the call does of which a failure would count; none for what only looks.
func (c *calls) errandsOf(res *history.Result) (list []errand.Errand) {
	a := &res.Action
	switch {
	case a.Kind == action.Shell:
		command, folder := a.Key, ""
		if c.sum.callOf(res) != nil {
			command, folder = c.sum.commandOf(res)
		}
		list = c.terminal.Run(command, folder)
		if a.Looks || a.OnlyFiles {
			return nil
		}
	case a.Kind == action.Writing:
		return errand.OfFiles(a.Writes)
	case a.Kind == action.Other, a.Kind == action.Fetching:
		e := errand.OfTool(res.Name, a.Key, deedOf(c.sum, res).Arguments)
		e.Looks = e.Looks || a.Kind == action.Fetching
		return []errand.Errand{e}
	}
	return list
}

// without returns the errands of the failure that are still open after a call of errands that ended so. end is how the
// failure ended. After one more failure, those of the very same are told by that.
func (f *failure) without(errands []errand.Errand, ending, end *ending.Ending) []errand.Errand {
	return slices.DeleteFunc(slices.Clone(f.errands), func(t errand.Errand) bool {
		return slices.ContainsFunc(errands, func(now errand.Errand) bool {
			if ending.Failed() {
				return now.Place == t.Place && slices.Equal(now.Words, t.Words)
			}
			return now.Covers(&t) && now.Succeeds(ending, &t, end)
		})
	})
}

// isLike reports whether a call of errands has the tool and the key of what failed, and other values.
func (f *failure) isLike(errands []errand.Errand) bool {
	return len(errands) == 1 && len(f.errands) == 1 && errands[0].Like != "" && errands[0].Like == f.errands[0].Like &&
		!slices.Equal(errands[0].Words, f.errands[0].Words)
}

// isOneOf reports whether a call of errands did a part of what failed once more.
func (f *failure) isOneOf(errands []errand.Errand) bool {
	return slices.ContainsFunc(f.errands, func(t errand.Errand) bool {
		return slices.ContainsFunc(errands, func(now errand.Errand) bool { return now.Covers(&t) })
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
	if line := step.WholeLine(command); line != "" {
		if clean := shorten.OneLine(line, longest); len(clean) < len(line)*9/10 || clean == "" {
			return clean
		}
		return strings.TrimRight(strings.ToValidUTF8(line, "\ufffd"), " \t\r")
	}
	return res.Action.Key
}
