package checkout

import (
	"slices"
	"strings"

	"epitome/pattern"
)

// Said is what is known of a call, and of the command of git in it.
type Said struct {
	Output    func() string
	Failed    bool
	Succeeded bool
	IsBehind  bool // something else stands before the command in the call, which may have failed
	IsLast    bool // nothing stands behind the command in the call
	IsHidden  bool // the call's exit state is not that of the command
	IsWritten bool // what the command puts out goes to a file
}

// FailedItself reports whether the call failed for sure because the command did.
func (s *Said) FailedItself() bool { return s.Failed && s.IsLast && !s.IsBehind && !s.IsHidden }

// What git says of what it did, and of what it did not do.
var (
	wentForm    = pattern.Of(`(?m)^(?:Switched to |Already on |HEAD is now at |Note: (?:switching to|checking out) )`)
	filesForm   = pattern.Of(`(?m)^Updated \d+ paths? from `)
	asideForm   = pattern.Of(`(?m)^Saved working directory `)
	nothingForm = pattern.Of(`(?m)^No local changes to save|^No stash entries found`)
	noneForm    = pattern.Of(`(?m)^No stash entries found`)
	branchForm  = pattern.Of(`(?m)^(?:Switched to (?:a new )?branch|Already on) '([^'\n]+)'`)
	backForm    = pattern.Of(`(?m)^Dropped (?:refs/)?stash|^CONFLICT \(`)
	refusedForm = pattern.Of(`(?m)^(?:error: (?:pathspec |[Yy]our local changes|[Tt]he following untracked|you need to |unable to |` +
		`cannot |could not (?:detach|lock|write|restore))|fatal: |Aborting)`)
)

// text is the beginning of the output.
func (s *Said) text() string {
	const longest = 8 << 10 // bytes
	if s.Output == nil {
		return ""
	}
	text := s.Output()
	return text[:min(len(text), longest)]
}

// did reports whether git did what it was told, as far as the call tells: that ends badly where something else in it
// does, too. Of a branch that was there already it notes that it does not begin.
func (s *Said) did(what *step) bool {
	text, says := s.text(), false
	switch what.kind {
	case goes, begins:
		if what.kind == begins && strings.Contains(text, "Switched to branch '"+what.name+"'") {
			what.kind = goes
		}
		if says = wentForm.MatchString(text); !says && filesForm.MatchString(text) || says && !isOf(what, text) {
			return false
		}
	case stashes:
		says = asideForm.MatchString(text)
	case restores, applies:
		if says = backForm.MatchString(text); strings.Contains(text, "\nCONFLICT (") || strings.HasPrefix(text, "CONFLICT (") {
			what.kind = applies
		}
	}
	switch {
	case says:
		return true
	case what.kind.isOfStash() && nothingForm.MatchString(text), s.Failed && s.IsBehind, s.FailedItself():
		return false
	}
	return s.Succeeded && !s.IsHidden || !refusedForm.MatchString(text)
}

// hasNone reports whether git says that nothing is put aside.
func (s *Said) hasNone() bool { return noneForm.MatchString(s.text()) }

// isOf reports whether what git says of a switch may be said of this one: it names no other branches alone. One that is
// not called by the name of its branch gets that.
func isOf(what *step, text string) bool {
	const most = 8 // branches
	var named []string
	for _, at := range branchForm.FindAllStringSubmatchIndex(text, most) {
		named = append(named, text[at[2]:at[3]])
	}
	isSame := func(branch string) bool { return branch == what.name || strings.HasSuffix(what.name, "/"+branch) }
	isCalled := what.name == "-" || strings.Contains(what.name, " ")
	switch {
	case len(named) == 0, slices.Contains(named, what.name):
		return true
	case !isCalled && !slices.ContainsFunc(named, isSame):
		return strings.Contains(text, "HEAD is now at ")
	case len(named) == 1 && what.name != "-" && len(named[0]) <= longestName:
		what.name = named[0]
	}
	return true
}

// What commands of git say of the branch on which the work stands.
var (
	statusForm = pattern.Of(`(?m)^(?:On branch |## )(\S+?)(?:\.\.\.|\s|$)`)
	commitForm = pattern.Of(`(?m)^\[(\S+) (?:\(root-commit\) )?[0-9a-f]{7,}\] `)
	listForm   = pattern.Of(`(?m)^\* (\S+)$|\A(\S+)\s*\z`)
	stashForm  = pattern.Of(`(?m)^Saved working directory and index state (?:WIP on|On) ([^\s:]+):`)
	stayedForm = pattern.Of(`(?m)^Already on '([^\s']+)'`)
)

// branchFormOf finds the branch in what a command of git says; nil if none is in it.
func branchFormOf(command string) *pattern.Pattern {
	switch command {
	case "status":
		return statusForm
	case "commit":
		return commitForm
	case "branch":
		return listForm
	case "stash":
		return stashForm
	case "checkout", "switch":
		return stayedForm
	}
	return nil
}

// branch is the branch on which the work stands, as the output of a command tells; empty if it does not.
func (s *Said) branch(command string) string {
	form := branchFormOf(command)
	if form == nil {
		return ""
	}
	for k, name := range form.FindStringSubmatch(s.text()) {
		if k > 0 && name != "" && len(name) <= longestName {
			return name
		}
	}
	return ""
}
