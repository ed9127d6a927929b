package recap

import (
	"path"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/history"
	"epitome/rewrite/recap/step"
	"epitome/rewrite/shell"
	"epitome/rewrite/span"
)

// gitUse is what a command of git means for changes that were made before.
type gitUse int8

const (
	takesBack gitUse = iota // files come back as they were
	stages                  // changes are noted: what takes back from there does not reach them
	commits                 // changes are kept
	restores                // what the last stash took back is there again
)

// gitStep is one command of git that changes what became of earlier changes.
type gitStep struct {
	use       gitUse
	res       *history.Result
	files     []string // that it names, and folders; none if it means all
	folder    string   // in which it runs; empty if that is not known
	fromIndex bool     // it takes back only what is not staged
	isStash   bool
	isUndone  bool // what it took back is there again
	isAlone   bool // its call does nothing else that could change a file
}

// gitRefusal finds a line in which git says that it did not do what it was told.
var gitRefusal = pattern.Of(`(?m)^(?:error|fatal): |^No local changes to save|^Aborting`)

// readGit finds the commands of git in the span and behind it, in their order, the newest of them if there are very
// many: each edit is held against them. Of a call that failed, or in which git refused something, nothing is known.
func readGit(r *writer) (list []*gitStep) {
	const longest = 8 << 10 // bytes of a result that are looked at
	const most = 500        // commands, and files that these name
	for k := range r.p.Hist.Results {
		res := &r.p.Hist.Results[k]
		if res.Item < r.from || res.Item >= r.p.End || res.Action.Kind != history.KindShell {
			continue
		}
		steps := gitSteps(r, res)
		if len(steps) == 0 || r.endingOf(res).Failed() {
			continue
		}
		text := r.p.TextOf(res.Item)
		if gitRefusal.MatchString(text[:min(len(text), longest)]) {
			continue
		}
		for _, s := range steps {
			if s.use == restores {
				undoStash(list)
			}
			list = append(list, s)
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
		if room -= max(1, len(list[k].files)); room < 0 {
			return list[k+1:]
		}
	}
	return list
}

// undoStash notes that the last stash is there again.
func undoStash(list []*gitStep) {
	for _, s := range slices.Backward(list) {
		if s.isStash && !s.isUndone {
			s.isUndone = true
			return
		}
	}
}

// gitSteps are the commands of git in one call. Behind || it is not known whether a command ran.
func gitSteps(r *writer, res *history.Result) (list []*gitStep) {
	call := r.callOf(res)
	if call == nil {
		return nil
	}
	command, folder := history.CommandOf(call.Name, span.TextOf(call.Arguments.Of(r.p.Req.Body)), call.FreeText)
	if !strings.Contains(command, "git ") {
		return nil
	}
	steps, _ := step.In(command)
	isAlone := true
	for _, s := range steps {
		words := step.WithoutCallers(s.Words)
		isAlone = isAlone && (len(words) == 0 || words[0] == "git" || step.IsIdle(words[0]))
		switch {
		case len(words) > 1 && (words[0] == "cd" || words[0] == "pushd"):
			folder = path.Join(folder, words[1])
			if path.IsAbs(words[1]) {
				folder = words[1]
			}
		case len(words) > 1 && words[0] == "git" && s.Before != "||" && s.Before != "|":
			if g := readGitWords(words[1:], folder); g != nil {
				g.res, g.folder = res, folder
				list = append(list, g)
			}
		}
	}
	for _, g := range list {
		g.isAlone = isAlone
	}
	return list
}

// readGitWords reads the words behind git, in a folder; nil if they change nothing that was done before, or if it is
// not sure what.
func readGitWords(words []string, folder string) *gitStep {
	for len(words) > 2 && (words[0] == "-C" || words[0] == "-c") {
		if words[0] == "-C" {
			folder = path.Join(folder, words[1])
		}
		words = words[2:]
	}
	options, rest := optionsOf(words[1:])
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(options, n) })
	}
	all := len(rest) == 0
	switch words[0] {
	case "add", "stage":
		return &gitStep{use: stages}
	case "commit":
		return &gitStep{use: commits}
	case "checkout":
		if !all && !has("-b", "-B", "-p", "--patch", "--orphan", "-t", "--track", "--ours", "--theirs") {
			return &gitStep{files: inFolder(rest, folder), fromIndex: true}
		}
	case "restore":
		isStagedOnly := has("-S", "--staged") && !has("-W", "--worktree")
		if !all && !isStagedOnly && !has("-p", "--patch") {
			return &gitStep{files: inFolder(rest, folder), fromIndex: true}
		}
	case "reset":
		if has("--hard") {
			return &gitStep{}
		}
	case "stash":
		switch {
		case has("-p", "--patch", "-k", "--keep-index", "-S", "--staged"):
		case all:
			return &gitStep{isStash: true}
		case rest[0] == "push" || rest[0] == "save":
			return &gitStep{isStash: true, files: inFolder(stashed(rest), folder)}
		case rest[0] == "pop" || rest[0] == "apply" || rest[0] == "branch":
			return &gitStep{use: restores}
		}
	}
	return nil
}

// stashed are the files that git is to put on the stash; none if it is all.
func stashed(words []string) []string {
	if words[0] == "save" { // a message follows
		return nil
	}
	return words[1:]
}

// optionsOf parts the words of a command. An option that takes a word is parted from it by =, or is -m.
func optionsOf(words []string) (options, rest []string) {
	for k := 0; k < len(words); k++ {
		switch w := words[k]; {
		case w == "--":
			return options, append(rest, words[k+1:]...)
		case w == "-m" || w == "--message" || w == "-s" || w == "--source":
			k++
		case strings.HasPrefix(w, "-") && len(w) > 1:
			options = append(options, w)
		default:
			rest = append(rest, w)
		}
	}
	return options, rest
}

// inFolder are names as they are called from outside of the folder.
func inFolder(names []string, folder string) (list []string) {
	for _, n := range names {
		if !path.IsAbs(n) {
			n = path.Join(folder, n)
		}
		list = append(list, path.Clean(n))
	}
	return list
}

// reaches reports whether the command takes back changes of the file.
func (g *gitStep) reaches(file string) bool {
	for _, passing := range [...]string{"/tmp/", "/var/tmp/"} { // of such a file git knows nothing from elsewhere
		if strings.HasPrefix(file, passing) && !strings.HasPrefix(g.folder, passing) {
			return false
		}
	}
	return len(g.files) == 0 || slices.ContainsFunc(g.files, func(name string) bool {
		if name == "." || shell.SameFile(file, name) || strings.HasPrefix(file, name+"/") {
			return true
		}
		mayBeBranch := !strings.Contains(name, "/")
		return !mayBeBranch && !path.IsAbs(name) && strings.Contains(file, "/"+name+"/")
	})
}

// isOnlyTakingBack reports whether the call of res writes the file only by taking back changes of it.
func isOnlyTakingBack(list []*gitStep, res *history.Result, file string) bool {
	return res.Action.Kind == history.KindShell && slices.ContainsFunc(list, func(g *gitStep) bool {
		return g.res == res && g.use == takesBack && g.isAlone && g.reaches(file)
	})
}

// takenBack is the command that took back what the call of res changed in the file; nil if that is not known.
func takenBack(list []*gitStep, res *history.Result, file string) *gitStep {
	staged := false
	for _, g := range list {
		if g.res.Item <= res.Item {
			continue
		}
		switch {
		case g.use == commits:
			return nil
		case g.use == stages:
			staged = true
		case g.use == takesBack && !g.isUndone && !(staged && g.fromIndex) && g.reaches(file):
			return g
		}
	}
	return nil
}
