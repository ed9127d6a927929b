package shell

import (
	"slices"
	"strings"
)

// gitLists reports whether a command of git only lists what there is: without names, or with an option or a word that
// says so. What is not known to list may change something.
func gitLists(name string, args []token) bool {
	words, first := make([]string, len(args)), ""
	for k, w := range args {
		if !w.sure {
			return false
		}
		words[k] = w.text
	}
	if len(words) > 0 {
		first = words[0]
	}
	switch name {
	case "branch":
		return lists(words, "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
	case "tag":
		return lists(words, "-n", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
	case "stash":
		return first == "list" || first == "show"
	case "worktree":
		return first == "list"
	case "remote":
		return first == "" || first == "show" || first == "get-url" || len(words) == 1 && (first == "-v" || first == "--verbose")
	case "reflog":
		return first == "" || first == "show" || strings.HasPrefix(first, "-")
	case "config":
		return slices.Contains([]string{"--get", "--get-all", "--list", "-l", "get", "list"}, first)
	case "bisect":
		return first == "log"
	}
	return false
}

// lists reports whether words of a command that lists what there is, or makes what it is given a name for, list: all
// are options that change nothing, or one of them says it.
func lists(words []string, says ...string) bool {
	changes := func(w string) bool {
		return strings.HasPrefix(w, "-") && !slices.Contains([]string{"-a", "-r", "-v", "-vv", "-l", "-i", "--all", "--remotes",
			"--verbose", "--list", "--show-current", "--ignore-case", "--no-color", "--no-column"}, w) &&
			!hasPrefixOf(w, "--sort=", "--format=", "--color=", "--column=") && !slices.Contains(says, w)
	}
	if slices.ContainsFunc(words, changes) {
		return false
	}
	isName := func(w string) bool { return !strings.HasPrefix(w, "-") }
	saysSo := func(w string) bool { return w == "-l" || w == "--list" || slices.Contains(says, w) }
	return !slices.ContainsFunc(words, isName) || slices.ContainsFunc(words, saysSo)
}

// hasPrefixOf reports whether a word begins with one of some.
func hasPrefixOf(word string, all ...string) bool {
	return slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(word, p) })
}
