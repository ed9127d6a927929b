package checkout

import (
	"path"
	"slices"
	"strings"
)

// kind is what a command of git does to what lies in a folder.
type kind int8

const (
	stays     kind = iota
	goes           // to another branch or commit
	begins         // a branch, with the work that lies there
	stashes        // changes are put aside
	restores       // they lie there again
	applies        // likewise, and stay aside, too
	drops          // the newest that were put aside are gone
	clears         // all of them are
	commits        // they are in the work
	saves          // they are written to a file
	takesBack      // they are taken back
	patches        // changes in a file are put in
	searches       // for a commit: others lie there, one after the other
	found          // the search is over
	adds           // another folder has a branch or commit
)

// isOfStash reports whether it is about what is put aside.
func (k kind) isOfStash() bool { return stashes <= k && k <= clears }

// step is one command of git.
type step struct {
	kind
	name string // of a branch or commit
	from string // where a branch begins; empty where the work stands
}

// stepOf reads a command from its own first word on.
func stepOf(words []string, isWritten bool) (s step) {
	next := ""
	if len(words) > 1 {
		next = words[1]
	}
	switch words[0] {
	case "gh", "glab":
		if len(words) > 3 && slices.Contains([]string{"pr", "mr"}, next) && words[2] == "checkout" {
			s = step{kind: goes, name: words[0] + " " + words[3]}
		}
	case "checkout", "switch":
		s = switchOf(words)
	case "stash":
		s.kind = stashOf(next)
	case "worktree":
		if next == "add" && addedBy(words[2:]) != "" {
			s = step{kind: adds, name: addedBy(words[2:])}
		}
	case "commit":
		s.kind = commits
	case "bisect":
		switch next {
		case "reset":
			s.kind = found
		case "start", "good", "bad", "new", "old", "skip", "run", "replay":
			s.kind = searches
		}
	case "diff":
		isOfOther := func(w string) bool { return w != "HEAD" && !strings.HasPrefix(w, "-") }
		if isWritten && !slices.ContainsFunc(words[1:], isOfOther) {
			s.kind = saves
		}
	case "apply":
		if s.kind = patches; slices.Contains(words, "-R") || slices.Contains(words, "--reverse") {
			s.kind = takesBack
		}
		if slices.Contains(words, "--check") || slices.Contains(words, "--stat") {
			s.kind = stays
		}
	case "restore", "reset":
		isAll := slices.Contains(words, ".") || slices.Contains(words, "--hard")
		if isAll && !slices.Contains(words, "--staged") {
			s.kind = takesBack
		}
	}
	s.name, s.from = s.name[:min(len(s.name), longestName)], s.from[:min(len(s.from), longestName)]
	return s
}

// stashOf is what git stash does with a word behind it.
func stashOf(next string) kind {
	switch next {
	case "pop", "branch":
		return restores
	case "apply":
		return applies
	case "drop":
		return drops
	case "clear":
		return clears
	case "list", "show", "create", "store":
		return stays
	}
	return stashes
}

// addedBy is the folder that git is to add; empty if it is not named.
func addedBy(words []string) string {
	for k := 0; k < len(words); k++ {
		switch w := words[k]; {
		case w == "-b" || w == "-B" || w == "--reason":
			k++
		case !strings.HasPrefix(w, "-"):
			return w
		}
	}
	return ""
}

// switchOf reads what is to lie in the folder. What may be a file and a branch counts as a branch if it does not look
// like a file.
func switchOf(words []string) (s step) {
	var rest []string
	isNew := false
	for k := 1; k < len(words); k++ {
		switch w := words[k]; w {
		case "--":
			if k+1 < len(words) { // files
				return switchOfFiles(words[k+1:])
			}
		case "-b", "-B", "-c", "-C", "--create", "--force-create":
			isNew = true
		case "-p", "--patch", "--ours", "--theirs":
			return step{}
		case "-":
			rest = append(rest, w)
		default:
			if !strings.HasPrefix(w, "-") {
				rest = append(rest, w)
			}
		}
	}
	switch {
	case isNew && len(rest) > 1 && rest[1] != "HEAD":
		return step{kind: begins, name: rest[0], from: rest[1]}
	case isNew && len(rest) > 0:
		return step{kind: begins, name: rest[0]}
	case len(rest) == 1 && (words[0] == "switch" || !hasLookOfFile(rest[0])):
		return step{kind: goes, name: strings.Replace(rest[0], "@{-1}", "-", 1)}
	}
	return switchOfFiles(rest)
}

// switchOfFiles is for files that come back as they were.
func switchOfFiles(files []string) (s step) {
	if slices.Contains(files, ".") {
		s.kind = takesBack
	}
	return s
}

// plainFiles are names of files that end in nothing.
var plainFiles = []string{"makefile", "gnumakefile", "dockerfile", "containerfile", "license", "readme", "changelog", "gemfile",
	"rakefile", "procfile", "justfile", "jenkinsfile", "vagrantfile", "codeowners", "notice"}

// hasLookOfFile reports whether a name is one of files, and not of a branch.
func hasLookOfFile(name string) bool {
	const longest = 6 // bytes of what ends a file's name
	first, _, isInFolder := strings.Cut(name, "/")
	isInFolder = isInFolder && strings.Trim(first, ".") == ""
	if name == "." || isInFolder || strings.HasSuffix(name, "/") || strings.Contains(name, "*") {
		return true
	}
	if slices.Contains(plainFiles, strings.ToLower(path.Base(name))) {
		return true
	}
	end := path.Ext(name)
	isLetter := func(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
	return len(end) > 1 && len(end) <= longest && end != ".x" && strings.TrimFunc(end[1:], isLetter) == ""
}
