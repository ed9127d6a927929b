package rerun

import (
	"slices"
	"strings"
)

// maker is a command that makes a thing of which there is one by its name.
type maker struct {
	call  []string
	names int      // words behind it that name the thing; of some that the branch names there are none
	says  []string // options that only describe it, and have a value
	flags []string // likewise, without one
}

var makers = []maker{
	{[]string{"gh", "release", "create"}, 1, []string{"-t", "--title", "-n", "--notes", "-F", "--notes-file", "--notes-start-tag",
		"--discussion-category"}, []string{"--generate-notes", "--notes-from-tag", "--verify-tag", "--latest"}},
	{[]string{"gh", "pr", "create"}, 0, []string{"-t", "--title", "-b", "--body", "-F", "--body-file", "-T", "--template"},
		[]string{"-f", "--fill", "--fill-first", "--fill-verbose", "--no-maintainer-edit"}},
	{[]string{"gh", "issue", "create"}, 0, []string{"-b", "--body", "-F", "--body-file"}, nil},
	{[]string{"gh", "repo", "create"}, 1, []string{"-d", "--description", "-h", "--homepage"}, nil},
	{[]string{"glab", "release", "create"}, 1, []string{"-n", "--name", "-N", "--notes", "-F", "--notes-file"}, nil},
	{[]string{"glab", "mr", "create"}, 0, []string{"-t", "--title", "-d", "--description"}, []string{"-f", "--fill", "-y", "--yes"}},
	{[]string{"git", "tag"}, 1, []string{"-m", "--message", "-F", "--file"}, []string{"-a", "--annotate"}},
}

// makerTakes are other options of such commands that have their value in the next word.
var makerTakes = []string{"-R", "--repo", "--target", "-H", "--head", "-B", "--base", "-l", "--label", "-r", "--reviewer",
	"-a", "--assignee", "-p", "--project", "--milestone", "-s", "--source-branch", "--target-branch", "--ref", "--visibility"}

// makesNothing are options with which such a command makes nothing, or something else.
var makesNothing = []string{"--dry-run", "-w", "--web", "-d", "--delete", "-l", "--list", "-v", "--verify", "-n", "--help"}

// Made is what a call makes of which there is one, by its name; empty if that is not known. how are its other words but
// those that only describe the thing.
func Made(words []string) (what string, how []string) {
	_, words = Assignments(words)
	if len(words) > mostWords {
		return "", nil
	}
	for k := range makers {
		if m := &makers[k]; begins(words, m.call) {
			return m.read(words[len(m.call):])
		}
	}
	return "", nil
}

// begins reports whether words begin with those of a command.
func begins(words, call []string) bool {
	return len(words) >= len(call) && slices.Equal(words[:len(call)], call)
}

// read reads the words behind the command.
func (m *maker) read(words []string) (what string, how []string) {
	names, isTag := []string{strings.Join(m.call, " ")}, m.call[0] == "git"
	for k := 0; k < len(words); k++ {
		w := words[k]
		option, _, hasValue := strings.Cut(w, "=")
		isNext := !hasValue && k+1 < len(words)
		switch {
		case slices.Contains(m.says, option):
			if isNext {
				k++
			}
		case slices.Contains(m.flags, option):
		case slices.Contains(makesNothing, option) && !(!isTag && len(w) == 2 && w != "-w"):
			return "", nil
		case slices.Contains(makerTakes, option) && isNext && !isTag:
			k++
			how = append(how, w+"="+words[k])
		case !strings.HasPrefix(w, "-") && len(names) <= m.names:
			names = append(names, w)
		default:
			how = append(how, w)
		}
	}
	if len(names) <= m.names {
		return "", nil
	}
	return strings.Join(names, " "), how
}

// Makes reports whether a call made what an earlier one was to make, with all that was to be in it.
func Makes(now, before []string) bool {
	what, how := Made(now)
	other, was := Made(before)
	isOfCommit := strings.HasPrefix(what, "git tag ") && len(how) != len(was) // of another one
	return what != "" && what == other && !isOfCommit &&
		!slices.ContainsFunc(was, func(w string) bool { return !slices.Contains(how, w) }) &&
		!slices.ContainsFunc(how, func(w string) bool { return strings.HasPrefix(w, "-") && !slices.Contains(was, w) })
}
