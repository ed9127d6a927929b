// Package fate tells what became of the calls of a span: which failed and have not succeeded since, which went on, and
// how those ended. It follows them to the end of what is decided, as what failed in the span may have succeeded behind
// it. It writes nothing of a summary.
//
// It promises that a failure is closed only by a call that is known to have done the same again, where no command is
// known to have put other work or another target in between, and that each call is held against a bounded number of
// those before it.
package fate

import (
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/recap/errand"
	"epitome/rewrite/recap/past"
)

// Calls is what became of the calls of a span, as the calls behind it show it too.
type Calls struct {
	Open []*Failure // in their order

	span     *past.Span
	terminal errand.Terminal
	doing    map[string][]*Failure     // of what is open, what did an errand, by its keys
	known    map[*history.Result]*Call // calls of which anything is known
	runs     []run                     // in their order
}

// Call is what became of one call.
type Call struct {
	Heard    *history.Result // of a command that went on, the newest result about it
	IsSolved bool            // it succeeded, and the same had failed before
	IsMended bool            // it failed, and all that failed in it has succeeded since
	IsOpen   bool            // it failed, and that is open
	IsAgain  bool            // it failed, and a newer failure of the same tells how it stands

	end   *history.Result // of a command that went on, the result that tells its end
	shown *history.Result // of one, the newest result that shows some of its output
}

// Of is what is known of what became of the call that res answers.
func (c *Calls) Of(res *history.Result) Call {
	if f := c.known[res]; f != nil {
		return *f
	}
	return Call{}
}

// note is where that is noted.
func (c *Calls) note(res *history.Result) *Call {
	if c.known[res] == nil {
		c.known[res] = &Call{}
	}
	return c.known[res]
}

// Failure is a call that failed and has not succeeded since.
type Failure struct {
	Res     *history.Result
	End     *history.Result // that tells how it ended
	Errands []errand.Errand // that have not succeeded since
	Again   int             // item at which it was called again without a word of how that ended; 0 if it was not
	Other   *history.Result // of the newest call of the same with other values that succeeded; nil if there is none
	Beside  *history.Result // of the newest that did it on other work and succeeded; nil if there is none
	Times   int             // how often it failed in a row

	older    []*Failure // of which it tells how they stand
	isClosed bool       // nothing of it is open any more
}

// In follows the calls from the span to the end of what is decided.
func In(s *past.Span) *Calls {
	c := &Calls{span: s, doing: map[string][]*Failure{}, known: map[*history.Result]*Call{}}
	var last *history.Result                         // the newest command that may go on
	pending := map[*history.Result][]errand.Errand{} // those, and what they do
	for k := range s.Plan.Hist.Results {
		res := &s.Plan.Hist.Results[k]
		if res.Item < s.Read || res.Item >= s.Plan.End {
			continue
		}
		begun := s.Plan.Hist.BegunBy(res)
		if begun == nil && IsContinued(res) && strings.HasPrefix(res.Action.Key, "{") {
			begun = last
		}
		if begun != nil || IsContinued(res) {
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
		if e := s.EndingOf(res); res.Action.Kind == action.Shell && !e.Failed() && !e.Succeeded() {
			pending[res], last = errands, res
		}
	}
	c.closeTests()
	c.Open = slices.DeleteFunc(c.Open, func(f *Failure) bool { return f.isClosed })
	for _, f := range c.Open {
		c.note(f.Res).IsOpen = true
	}
	return c
}

// hear takes what a later result says of a command that went on, and reports whether it has ended. That a call could
// not end it says nothing of it.
func (c *Calls) hear(begun, res *history.Result, errands []errand.Errand) (hasEnded bool) {
	switch e := c.span.EndingOf(res); {
	case e.Killed:
		hasEnded = true
	case e.Failed() && res.Action.Ends:
		return false
	case res.Action.Kind == action.Shell && (e.Failed() || e.Succeeded()):
		c.note(begun).end, hasEnded = res, true
		c.take(begun, errands)
	}
	c.note(begun).Heard = res
	if !res.Action.Ends && ending.ShowsOutput(c.span.TextOf(res)) {
		c.note(begun).shown = res
	}
	return hasEnded
}

// IsContinued reports whether a call only waits for a command that runs, gives it input, or ends it.
func IsContinued(res *history.Result) bool {
	return res.Action.Kind == action.Shell && (res.Action.Session != "" || strings.HasPrefix(res.Action.Key, "{"))
}

// EndOf is the result that tells how the call ended that res answers: res, or that of a call which waited for it.
func (c *Calls) EndOf(res *history.Result) *history.Result {
	if end := c.Of(res).end; end != nil {
		return end
	}
	return res
}

// LastOf is the result with the newest output of the call that res answers: what an older one says may be out of date.
func (c *Calls) LastOf(res *history.Result) *history.Result {
	if of := c.Of(res); of.end == nil && of.shown != nil {
		return of.shown
	}
	return c.EndOf(res)
}

// take notes what one more call means for those before. Of what a call that was not allowed to begin was to do, nothing
// is known.
func (c *Calls) take(res *history.Result, errands []errand.Errand) {
	ending, times := c.span.EndingOf(c.EndOf(res)), 1
	var older []*Failure
	if ending.Failed() {
		var passed []errand.Errand
		output := func() string { return c.span.TextOf(c.EndOf(res)) }
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
	f := &Failure{Res: res, End: c.EndOf(res), Errands: errands, Times: times, older: older}
	c.Open = append(c.Open, f)
	for k := range errands {
		for _, key := range errands[k].Keys() {
			c.doing[key] = append(c.doing[key], f)
		}
	}
}

// hold notes what a later call of errands means for a failure, and returns how often in a row these have failed now.
func (c *Calls) hold(f *Failure, res *history.Result, errands []errand.Errand) (times int) {
	ending := c.span.EndingOf(c.EndOf(res))
	left := f.without(errands, ending, c.span.EndingOf(f.End))
	if len(left) > 0 && f.isLike(errands) && ending.Succeeded() {
		f.Other = c.EndOf(res)
	}
	if len(left) > 0 && !ending.Failed() && passBeside(left, errands, ending, c.span.EndingOf(f.End)) {
		f.Beside = c.EndOf(res)
	}
	switch failed := ending.Failed(); {
	case len(left) == len(f.Errands) && !failed && f.isOneOf(errands):
		f.Again = res.Item
	case len(left) == len(f.Errands), failed && len(left) > 0:
	case failed: // the newer failure tells how it stands
		c.note(f.Res).IsAgain, f.isClosed = true, true
		if len(errands) == len(f.Errands) {
			return f.Times + 1
		}
	default:
		if f.Errands = left; len(left) == 0 {
			mend(c, f)
			isSame := c.span.CommandLine(f.Res) == c.span.CommandLine(res)
			if isSame && !c.span.EndingOf(f.End).Refusal.IsRefused() {
				c.note(res).IsSolved = true
			}
		}
	}
	return 1
}

// mend notes that all has succeeded since that failed in a call, and in older ones of which it tells.
func mend(c *Calls, f *Failure) {
	for all := []*Failure{f}; len(all) > 0; {
		f, all = all[len(all)-1], all[:len(all)-1]
		fate := c.note(f.Res)
		fate.IsMended, fate.IsAgain, f.isClosed = true, false, true
		all, f.older = append(all, f.older...), nil
	}
}

// concerned are the open failures of which a call of errands may do something again, in their order: of very many that
// are alike the newest, and of those that do much fewer.
func (c *Calls) concerned(errands []errand.Errand) (list []*Failure) {
	const most, mostPairs = 128, 256 // failures of a kind, and pairs of errands that are held against one another
	const mostLike = 12              // failures of the same with other values
	const wordsOfPair = 64           // pairs of words that cost as much
	for k := range errands {
		for _, key := range append(errands[k].Keys(), errands[k].KeyAnywhere()) {
			all := slices.DeleteFunc(c.doing[key], func(f *Failure) bool { return f.isClosed })
			all = all[max(0, len(all)-most):]
			if key == errands[k].Like {
				all = all[max(0, len(all)-mostLike):]
			}
			c.doing[key], list = all, append(list, all[max(0, len(all)-max(1, most/len(errands))):]...)
		}
	}
	slices.SortStableFunc(list, func(a, b *Failure) int { return a.Res.Item - b.Res.Item })
	list = slices.Compact(list)
	room, words := mostPairs, errand.CountWords(errands)
	for k := len(list) - 2; k >= 0; k-- { // the newest in any case
		f := list[k]
		if room -= max(len(f.Errands)*len(errands), errand.CountWords(f.Errands)*words/wordsOfPair); room < 0 {
			return list[k+1:]
		}
	}
	return list
}

// errandsOf are what the call does of which a failure would count; none for what only looks.
func (c *Calls) errandsOf(res *history.Result) (list []errand.Errand) {
	a := &res.Action
	switch {
	case a.Kind == action.Shell:
		command, folder := a.Key, ""
		if c.span.CallOf(res) != nil {
			command, folder = c.span.CommandOf(res)
		}
		end := c.EndOf(res)
		output, ending := func() string { return c.span.TextOf(end) }, c.span.EndingOf(end)
		list = c.terminal.Run(command, folder, errand.End{Output: output,
			Failed: ending.Failed(), Succeeded: ending.Succeeded(), Kept: ending.Refusal.KeptAll()})
		if errand.NoteWhole(list, output); ending.Failed() {
			c.terminal.NotEntered(list, output)
		}
		if a.Looks || a.OnlyFiles {
			return nil
		}
	case a.Kind == action.Writing:
		return errand.OfFiles(a.Writes)
	case a.Kind == action.Other, a.Kind == action.Fetching:
		e := errand.OfTool(res.Name, a.Key, c.span.ValuesOf(res))
		e.Looks = e.Looks || a.Kind == action.Fetching
		if checksWork.MatchString(res.Name) {
			e.Work = c.terminal.Work()
		}
		return []errand.Errand{e}
	}
	return list
}

// checksWork finds the name of a tool that checks the work in a folder.
var checksWork = pattern.Of(`(?i)test|build|lint|check|compile|verify|diagnos`)

// without returns the errands of the failure that are still open after a call of errands that ended so. end is how the
// failure ended. After one more failure, those of the very same are told by that.
func (f *Failure) without(errands []errand.Errand, ending, end *ending.Ending) []errand.Errand {
	return slices.DeleteFunc(slices.Clone(f.Errands), func(t errand.Errand) bool {
		return slices.ContainsFunc(errands, func(now errand.Errand) bool {
			if ending.Failed() {
				return now.IsWhere(&t) && slices.Equal(now.Words, t.Words)
			}
			return now.Covers(&t) && now.Succeeds(ending, &t, end)
		})
	})
}

// passBeside reports whether a call of errands that ended so has done well what is left of a failure, but on other
// work.
func passBeside(left, errands []errand.Errand, ending, end *ending.Ending) bool {
	return !slices.ContainsFunc(left, func(t errand.Errand) bool {
		return !slices.ContainsFunc(errands, func(now errand.Errand) bool {
			if now.Work == t.Work {
				return false
			}
			now.Work = t.Work
			return now.Covers(&t) && now.Succeeds(ending, &t, end)
		})
	})
}

// isLike reports whether a call of errands has the tool and the key of what failed, and other values.
func (f *Failure) isLike(errands []errand.Errand) bool {
	return len(errands) == 1 && len(f.Errands) == 1 && errands[0].Like != "" && errands[0].Like == f.Errands[0].Like &&
		!slices.Equal(errands[0].Words, f.Errands[0].Words)
}

// isOneOf reports whether a call of errands did a part of what failed once more.
func (f *Failure) isOneOf(errands []errand.Errand) bool {
	return slices.ContainsFunc(f.Errands, func(t errand.Errand) bool {
		return slices.ContainsFunc(errands, func(now errand.Errand) bool { return now.Covers(&t) })
	})
}
