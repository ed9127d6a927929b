package errand

import (
	"crypto/sha256"
	"path"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/recap/checkout"
	"epitome/rewrite/recap/rerun"
	"epitome/rewrite/recap/step"
	"epitome/rewrite/recap/where"
)

// Terminal is where commands run: each call may begin where the call before ended, or anew.
type Terminal struct {
	lasting, fresh where.Place
	before         string // the folder in which the newest call began, if it began where the call before ended
	entered        string // the folder that is entered before all else which that call does; empty if there is none
	folders        checkout.Folders
	targets        targets
}

// End is how a call ended, as far as that is known.
type End struct {
	Output            func() string // nil if it is not known
	Failed, Succeeded bool
	Kept              bool // somebody kept all of it from being done
}

// Most is how many errands one call does at most that are told apart. Each is held against those that failed.
const Most = 12

// name is equal for equal places of a call of these words. It is short: each thing that a call does has one.
func (p *Terminal) name(words []string) string {
	lasting, fresh := p.lasting, p.fresh
	if rerun.RunsAnywhere(words, lasting.Set, fresh.Set) {
		lasting.Folder, fresh.Folder = "", ""
	}
	sum := sha256.Sum256([]byte(lasting.InWords() + "\x00" + fresh.InWords()))
	return string(sum[:16])
}

// change notes what a command changes for those behind it.
func (p *Terminal) change(words []string) {
	p.lasting.Change(words)
	p.fresh.Change(words)
}

// Run reads what one call does that ended so, without what does nothing by itself.
func (p *Terminal) Run(command, folder string, end End) (list []Errand) {
	p.fresh, p.before, p.entered = where.Place{Folder: folder}, p.lasting.Folder, ""
	if folder != "" { // for this call alone
		before := p.lasting.Folder
		defer func() { p.lasting.Folder = before }()
		p.lasting.Folder = folder
	}
	begin := p.name(nil)
	atOnce := []Errand{{Words: []string{command}, Place: begin, Whole: command, Hidden: true}}
	steps, ok := step.In(command)
	if !ok {
		if strings.Contains(command, "cd ") { // where that leads is not known
			p.lasting.Folder = command[:min(len(command), where.Longest)]
		}
		p.moveIn(command, end)
		if step.DoesSomething(command) {
			atOnce[0].Work = p.folders.Of(p.lasting.Folder)
			return atOnce
		}
		return nil
	}
	p.entered = entered(steps)
	hidden, whole, row, isBehind := step.Hidden(steps), begin+"\x00"+command, 0, false
	for k, s := range steps {
		if s.Before != "&&" {
			row = k
		}
		words := rerun.Essential(step.WithoutCallers(s.Words))
		if len(words) == 0 {
			continue
		}
		p.change(words)
		isBehind = isBehind && s.Before != ";" && s.Before != "&"
		p.move(words, end, &checkout.Said{IsBehind: isBehind, IsLast: k == len(steps)-1, IsHidden: hidden[k],
			IsWritten: s.IsWritten})
		isBehind = isBehind || words[0] != "git" && !step.IsIdle(words[0])
		if step.IsIdle(words[0]) || s.Before == "|" {
			continue
		}
		if len(list) == Most { // the rest is read for where it leads
			list = atOnce
			list[0].Work = p.workOf(words)
		}
		if len(list) == 1 && list[0].Whole == command {
			continue
		}
		t := Errand{Words: words, Place: p.name(words), Folder: p.lasting.Folder, Whole: whole, Work: p.workOf(words)}
		t.Row, t.Hidden, t.Shown, t.Unseen = row, hidden[k], step.ShowsEnd(steps[k:]), s.After == "|" || s.IsWritten
		t.CutAt = step.CutAt(steps[k:])
		if what, _ := rerun.Made(words); what != "" {
			t.Like = t.Place + "\x00" + what
		}
		list = append(list, t)
	}
	return list
}

// move notes what other work, and what other target, one command of a call puts there that ended so.
func (p *Terminal) move(words []string, end End, said *checkout.Said) {
	if end.Kept {
		return
	}
	said.Output, said.Failed, said.Succeeded = end.Output, end.Failed, end.Succeeded
	if line := rerun.ShellLine(words); line != "" {
		p.moveIn(line, end)
	}
	p.folders.Change(words, p.lasting.Folder, said)
	if !said.FailedItself() {
		p.targets.change(words)
	}
}

// moveIn notes what other work, and what other target, a command line may put there that is not understood.
func (p *Terminal) moveIn(line string, end End) {
	if end.Kept {
		return
	}
	if mayMove(line) {
		p.folders.Lose(p.lasting.Folder)
	}
	p.targets.changeIn(line)
}

// Work names the work that lies where the newest call ended.
func (p *Terminal) Work() string { return p.folders.Of(p.lasting.Folder) }

// workOf names the work that a call of these words finds, and what it is set to work on; empty if what it does does not
// depend on that.
func (p *Terminal) workOf(words []string) string {
	_, own := rerun.Assignments(words)
	work := p.folders.Of(p.lasting.Folder)
	switch {
	case len(own) == 0 || rerun.RunsAnywhere(words, p.lasting.Set, p.fresh.Set):
		work = ""
	case own[0] == "git" && len(own) > 1 && isOfGitAlone(own[1]):
		work = ""
	case slices.Contains([]string{"git", "gh", "glab"}, own[0]):
		work = checkout.WithChanges(work) // it is of the branch
	}
	if target := p.targets.of(own); target != "" {
		return target + "\x00" + work
	}
	return work
}

// isOfGitAlone reports whether a command of git does what it does whatever work lies in the folder.
func isOfGitAlone(command string) bool {
	return slices.Contains([]string{"checkout", "switch", "stash", "fetch", "worktree", "branch", "tag", "remote", "config",
		"clone", "init", "bisect"}, command)
}

// moveForm finds commands of git behind which other work may lie in the folder.
var moveForm = pattern.Of(`\b(?:gh pr|glab mr) checkout |\bgit (?:-[Cc] \S+ |--\S+ )*` +
	`(?:checkout [^-]|checkout -[bBqf]|switch |bisect |stash(?:$|\s*[;&|)\n]| push| save| -))`)

// mayMove reports whether behind a command line that is not understood other work may lie in the folder.
func mayMove(command string) bool {
	isBack := strings.Contains(command, "git stash pop") && !strings.Contains(command, "git checkout") &&
		!strings.Contains(command, "git switch")
	return !isBack && moveForm.MatchString(command)
}

// entered is the folder that a row of steps is to enter first, if all else runs only there; empty if there is none.
func entered(steps []step.Step) string {
	if len(steps) == 0 || len(steps[0].Words) != 2 || steps[0].Words[0] != "cd" {
		return ""
	}
	for _, s := range steps[1:] {
		if s.Before != "&&" && s.Before != "|" {
			return ""
		}
	}
	folder := path.Clean(steps[0].Words[1])
	if folder == "." || strings.HasPrefix(folder, "..") || strings.ContainsAny(folder, "$~*?") {
		return ""
	}
	return folder
}

// lostForm finds a line in which a shell says that it did not enter a folder.
var lostForm = pattern.Of(`(?mi)^(?:.*[ :])?cd:(?:\d+:)? ?(?:.*(?:no such file or directory|not a directory).*|can't cd to .*|` +
	`the directory .* does not exist)`)

// NotEntered notes that the newest call, which failed, did nothing, as its output tells: the shell did not find the
// folder in which all of it was to run, and stands where it stood.
func (p *Terminal) NotEntered(list []Errand, output func() string) {
	const longest = 1_000 // bytes of what a shell says that did nothing
	if p.entered == "" || len(output()) > longest {
		return
	}
	if line := lostForm.FindString(output()); !strings.Contains(line, path.Base(p.entered)) {
		return
	}
	p.lasting.Folder = p.before
	for k := range list {
		list[k].Sought = p.entered
	}
}

// NoteWhole notes of which errands the output of their call shows all: fewer lines than there could be.
func NoteWhole(list []Errand, output func() string) {
	for k := range list {
		if list[k].CutAt > 0 {
			list[k].Shown = strings.Count(output(), "\n")+1 < list[k].CutAt
		}
	}
}
