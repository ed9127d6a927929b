package recap

import (
	"crypto/sha256"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/recap/deed"
	"epitome/rewrite/recap/rerun"
	"epitome/rewrite/recap/step"
	"epitome/rewrite/recap/where"
	"epitome/rewrite/span"
)

// task is one thing that a call does, so that a later call can be known to do it again.
type task struct {
	words  []string // the program, its assignments, options and targets; without where its output goes
	place  string   // the folder and the environment in which it runs
	whole  string   // the whole call
	hidden bool     // the call's exit state is not that of the task
	shown  bool     // what it puts out is the end of what the call does
	unseen bool     // what it puts out goes somewhere else, in part or all of it
	row    int      // equal for those of which each runs only if all before it have succeeded

	like  string // equal for calls of one tool, none of files and shells, with one key, whatever their other values
	looks bool   // such a tool only looks, by its name
}

// covers reports whether a call that did t has done what other is.
func (t *task) covers(other *task) bool {
	return t.place == other.place && (slices.Equal(t.words, other.words) || rerun.Covers(t.words, other.words))
}

// succeeds reports whether a later call which did t and ended so has succeeded in what failed.
func (t *task) succeeds(ending *ending.Ending, failed *task, end *ending.Ending) bool {
	switch {
	case t.looks: // what it shows is its answer
		return !ending.Failed()
	case !ending.Succeeded():
		return !t.hidden && isMarkedWell(ending) && end.Said == conversation.WentWrong
	case !t.hidden:
		return true
	case ending.Claims == excerpt.Succeeded:
		return t.shown || t.whole == failed.whole
	}
	return t.whole == failed.whole && end.Code > 0
}

// isMarkedWell reports whether a client says of a result that it is no error, and nobody says more.
func isMarkedWell(e *ending.Ending) bool {
	return e.TellsNoError() && e.Said == conversation.WentWell
}

// tasksOf are what the call does of which a failure would count; none for what only looks.
func (c *calls) tasksOf(res *history.Result) (list []task) {
	a := &res.Action
	switch {
	case a.Kind == action.Shell:
		command, folder := res.Action.Key, ""
		if c.sum.callOf(res) != nil {
			command, folder = c.sum.commandOf(res)
		}
		list = c.shell.run(command, folder)
		if a.Looks || a.OnlyFiles {
			return nil
		}
	case a.Kind == action.Writing:
		for _, file := range a.Writes {
			list = append(list, task{words: []string{"write", file}})
		}
	case a.Kind == action.Other, a.Kind == action.Fetching:
		return []task{otherTask(c.sum, res)}
	}
	return list
}

// otherTask is what a call does of a tool that is none of files and shells: the same only with the same values, numbers
// and all.
func otherTask(r *writer, res *history.Result) task {
	arguments := deedOf(r, res).Arguments
	t := task{words: []string{res.Name, res.Action.Key}, like: res.Name + "\x00" + res.Action.Key}
	t.looks = res.Action.Kind == action.Fetching || deed.Looks(res.Name, arguments)
	if at := span.SkipSpace(arguments, 0); at < len(arguments) && span.Valid(arguments) {
		if _, sum, err := span.Digest(arguments, at, nil); err == nil {
			t.words[1] = string(sum[:])
		}
	}
	return t
}

// place is where commands run: each call may begin where the call before ended, or anew.
type place struct{ lasting, fresh where.Place }

// mostTasks is how many things one call does at most that are told apart. Each is held against those that failed.
const mostTasks = 12

// name is equal for equal places of a call of these words. It is short: each thing that a call does has one.
func (p *place) name(words []string) string {
	lasting, fresh := p.lasting, p.fresh
	if rerun.RunsAnywhere(words, lasting.Set, fresh.Set) {
		lasting.Folder, fresh.Folder = "", ""
	}
	sum := sha256.Sum256([]byte(lasting.InWords() + "\x00" + fresh.InWords()))
	return string(sum[:16])
}

// change notes what a command changes for those behind it.
func (p *place) change(words []string) {
	p.lasting.Change(words)
	p.fresh.Change(words)
}

// run reads what one call does, without what does nothing by itself.
func (p *place) run(command, folder string) (list []task) {
	p.fresh = where.Place{Folder: folder}
	if folder != "" { // for this call alone
		before := p.lasting.Folder
		defer func() { p.lasting.Folder = before }()
		p.lasting.Folder = folder
	}
	begin := p.name(nil)
	atOnce := []task{{words: []string{command}, place: begin, whole: command, hidden: true}}
	steps, ok := step.In(command)
	if !ok {
		if strings.Contains(command, "cd ") { // where that leads is not known
			p.lasting.Folder = command[:min(len(command), where.Longest)]
		}
		if step.DoesSomething(command) {
			return atOnce
		}
		return nil
	}
	hidden, whole, row := step.Hidden(steps), begin+"\x00"+command, 0
	for k, s := range steps {
		if s.Before != "&&" {
			row = k
		}
		words := rerun.Essential(step.WithoutCallers(s.Words))
		if len(words) == 0 {
			continue
		}
		if p.change(words); step.IsIdle(words[0]) || s.Before == "|" {
			continue
		}
		if len(list) == mostTasks { // the rest is read for where it leads
			list = atOnce
		}
		if len(list) == 1 && list[0].whole == command {
			continue
		}
		t := task{words: words, place: p.name(words), whole: whole}
		t.row, t.hidden, t.shown, t.unseen = row, hidden[k], step.ShowsEnd(steps[k:]), s.After == "|" || s.IsWritten
		list = append(list, t)
	}
	return list
}
