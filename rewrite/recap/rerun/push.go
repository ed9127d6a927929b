package rerun

import (
	"slices"
	"strings"
)

// Pushes reports whether a call of git pushes what an earlier one was to push: to the branch that it is given for the
// first time, if the earlier one lacks such a branch, or in the place of what is there.
func Pushes(now, before []string, lacks bool) bool {
	what, begins, ok := pushed(now)
	was, _, wasPush := pushed(before)
	return ok && wasPush && (slices.Equal(what, was) || lacks && len(was) == 0 && begins && len(what) == 2)
}

// pushed is where a call of git pushes what; begins says that the branch follows that from now on. ok is false if it
// does something else, too.
func pushed(words []string) (what []string, begins, ok bool) {
	if len(words) < 2 || len(words) > mostWords || words[0] != "git" || words[1] != "push" {
		return nil, false, false
	}
	for _, w := range words[2:] {
		option, _, _ := strings.Cut(w, "=")
		switch option {
		case "-u", "--set-upstream":
			begins = true
		case "-f", "--force", "--force-with-lease", "--force-if-includes", "-q", "--quiet", "-v", "--verbose", "--progress":
		default:
			if strings.HasPrefix(w, "-") || strings.ContainsAny(w, ":+") {
				return nil, false, false
			}
			what = append(what, w)
		}
	}
	return what, begins, true
}
