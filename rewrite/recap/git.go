package recap

import (
	"slices"

	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/recap/git"
	"epitome/rewrite/recap/past"
)

// gitStep is one command of git that changes what became of earlier changes.
type gitStep struct {
	git.Command
	res      *history.Result
	isUndone bool // what it took back is there again
	isAlone  bool // its call does nothing else that could change a file
}

// readGit finds the commands of git in the span and behind it, in their order, the newest of them if there are very
// many: each edit is held against them. Of a call that failed, or in which git refused something, nothing is known.
func readGit(s *past.Span) (list []*gitStep) {
	const most = 500 // commands, and files that these name
	for k := range s.Plan.Hist.Results {
		res := &s.Plan.Hist.Results[k]
		if res.Item < s.From || res.Item >= s.Plan.End || res.Action.Kind != action.Shell {
			continue
		}
		steps := gitSteps(s, res)
		if len(steps) == 0 || s.EndingOf(res).Failed() || git.IsRefused(s.TextOf(res)) {
			continue
		}
		for _, g := range steps {
			if g.Use == git.Restores {
				undoStash(list)
			}
			list = append(list, g)
		}
		if len(list) > 2*most {
			list = list[len(list)-most:]
		}
	}
	return newestGit(list, most)
}

// newestGit are the newest of the commands, which name so many files at most.
func newestGit(list []*gitStep, room int) []*gitStep {
	for k := len(list) - 1; k >= 0; k-- {
		if room -= max(1, len(list[k].Files)); room < 0 {
			return list[k+1:]
		}
	}
	return list
}

// undoStash notes that the last stash is there again.
func undoStash(list []*gitStep) {
	for _, s := range slices.Backward(list) {
		if s.IsStash && !s.isUndone {
			s.isUndone = true
			return
		}
	}
}

// gitSteps are the commands of git in one call.
func gitSteps(s *past.Span, res *history.Result) (list []*gitStep) {
	all, isAlone := git.In(s.CommandOf(res))
	for _, g := range all {
		list = append(list, &gitStep{Command: *g, res: res, isAlone: isAlone})
	}
	return list
}

// isOnlyTakingBack reports whether the call of res writes the file only by taking back changes of it.
func isOnlyTakingBack(list []*gitStep, res *history.Result, file string) bool {
	return res.Action.Kind == action.Shell && slices.ContainsFunc(list, func(g *gitStep) bool {
		return g.res == res && g.Use == git.TakesBack && g.isAlone && g.Reaches(file)
	})
}

// takenBack is the command that took back what the call of res changed in the file; nil if that is not known.
func takenBack(list []*gitStep, res *history.Result, file string) *gitStep {
	staged, commits := false, 0 // since
	var found *gitStep          // what took back the commit: whoever goes to it later has it again
	for _, g := range list {
		if g.res.Item <= res.Item {
			continue
		}
		switch {
		case commits > 0 && (g.Use == git.Moves || g.MayMove):
			return nil
		case found != nil:
		case g.Use == git.Commits && (commits == 0 || !g.Amends):
			commits++
		case g.Use == git.Stages:
			staged = true
		case commits > g.Back:
			commits -= g.Back
		case g.Use == git.TakesBack && !g.isUndone && !(staged && g.FromIndex) && g.Reaches(file):
			if found = g; commits == 0 {
				return g
			}
		}
	}
	return found
}
