// Package git reads what commands of git mean for what was done before: which of them take changes of files back, which
// keep them, and behind which the work may stand elsewhere.
//
// It promises that it says only what the words of a command line make sure: a command that is not understood takes
// nothing back. Which files exist, and whether git did what it was told, it does not know; what git refuses, it says in
// lines that are known here. It is pure. What a command of git writes and shows, as any other program does, is read by
// package shell.
package git

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/recap/step"
	"epitome/rewrite/shell"
)

// Use is what a command of git means for changes that were made before.
type Use int8

// What commands mean.
const (
	TakesBack Use = iota // files come back as they were
	Stages               // changes are noted: what takes back from there does not reach them
	Commits              // changes are kept
	Restores             // what the last stash took back is there again
	Moves                // the work goes on elsewhere, or commits come in
)

// Command is one command of git that changes what became of earlier changes.
type Command struct {
	Use       Use
	Files     []string // that it names, and folders; none if it means all
	Folder    string   // in which it runs; empty if that is not known
	FromIndex bool     // it takes back only what is not staged
	IsStash   bool
	Back      int  // of the newest commits, how many it takes back
	MayMove   bool // what it names may be a branch, or another commit: the work goes on there then
	Amends    bool // the newest commit becomes another one
}

// refusal finds a line in which git says that it did not do what it was told.
var refusal = pattern.Of(`(?m)^(?:error|fatal): |^No local changes to save|^Aborting`)

// IsRefused reports whether git says in the output of a command line that it did not do something that it was told.
func IsRefused(output string) bool {
	const longest = 8 << 10 // bytes that are looked at
	return refusal.MatchString(output[:min(len(output), longest)])
}

// movesWork finds a command of git behind which the work may stand elsewhere.
var movesWork = pattern.Of(`\bgit (?:-\S+ (?:\S*/\S* )?)*` +
	`(?:commit|push|pull|reset|checkout|switch|rebase|merge|revert|cherry-pick|am|stash)\b`)

// MovesWork reports whether the work may stand elsewhere behind a command line: on another commit, or another branch.
func MovesWork(line string) bool { return movesWork.MatchString(line) }

// In are the commands of git in a command line that begins in a folder, and whether it does nothing else that could
// change a file. Behind || it is not known whether a command ran.
func In(line, folder string) (list []*Command, isAlone bool) {
	if !strings.Contains(line, "git ") {
		return nil, false
	}
	steps, _ := step.In(line)
	isAlone = true
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
			if g := commandOf(words[1:], folder); g != nil {
				g.Folder = folder
				list = append(list, g)
			}
		}
	}
	return list, isAlone
}

// commandOf reads the words behind git, in a folder; nil if they change nothing that was done before, or if it is not
// sure what.
func commandOf(words []string, folder string) *Command {
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
		return &Command{Use: Stages}
	case "commit":
		return &Command{Use: Commits, Amends: has("--amend")}
	case "switch", "merge", "pull", "cherry-pick", "revert", "rebase", "am":
		return &Command{Use: Moves}
	case "checkout":
		if has("-b", "-B", "--orphan", "-t", "--track") {
			return &Command{Use: Moves}
		}
		if !all && !has("-p", "--patch", "--ours", "--theirs") {
			mayMove := !slices.Contains(words, "--")
			return &Command{Files: inFolder(rest, folder), FromIndex: true, MayMove: mayMove}
		}
	case "restore":
		isStagedOnly := has("-S", "--staged") && !has("-W", "--worktree")
		if !all && !isStagedOnly && !has("-p", "--patch") {
			return &Command{Files: inFolder(rest, folder), FromIndex: true}
		}
	case "reset":
		if has("--hard") {
			back := countBack(rest)
			return &Command{Back: back, MayMove: back == 0 && len(rest) > 0 && rest[0] != "HEAD"}
		}
	case "stash":
		switch {
		case has("-p", "--patch", "-k", "--keep-index", "-S", "--staged"):
		case all:
			return &Command{IsStash: true}
		case rest[0] == "push" || rest[0] == "save":
			return &Command{IsStash: true, Files: inFolder(stashed(rest), folder)}
		case rest[0] == "pop" || rest[0] == "apply" || rest[0] == "branch":
			return &Command{Use: Restores}
		}
	}
	return nil
}

// countBack is how many commits lie behind the one that is named, as HEAD~2 and HEAD^ name it; 0 if that is not known.
func countBack(rest []string) (n int) {
	const most = 100
	if len(rest) != 1 {
		return 0
	}
	behind, ok := strings.CutPrefix(rest[0], "HEAD")
	if at, isNumber := strings.CutPrefix(behind, "~"); ok && isNumber && at != "" {
		if n, err := strconv.Atoi(at); err == nil && n > 0 && n <= most {
			return n
		}
		return 0
	}
	if ok && len(behind) <= most && strings.Trim(behind, "^~") == "" {
		return len(behind)
	}
	return 0
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

// Reaches reports whether the command takes back changes of the file.
func (g *Command) Reaches(file string) bool {
	for _, passing := range [...]string{"/tmp/", "/var/tmp/"} { // of such a file git knows nothing from elsewhere
		if strings.HasPrefix(file, passing) && !strings.HasPrefix(g.Folder, passing) {
			return false
		}
	}
	return len(g.Files) == 0 || slices.ContainsFunc(g.Files, func(name string) bool {
		if name == "." || shell.SameFile(file, name) || strings.HasPrefix(file, name+"/") {
			return true
		}
		mayBeBranch := !strings.Contains(name, "/")
		return !mayBeBranch && !path.IsAbs(name) && strings.Contains(file, "/"+name+"/")
	})
}
