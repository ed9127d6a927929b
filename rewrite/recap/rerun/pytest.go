package rerun

import (
	"slices"
	"strings"
)

// Pytest is a call of pytest by what it is told.
type Pytest struct {
	set     []string // variables that are set for it
	targets []string // files, folders and tests; none if it runs all that it finds
	narrow  []string // what leaves out some of the tests of its targets
	rest    []string // other options, but those that change nothing of which tests run and pass
}

// PytestOf reads the words of a call; ok is false if it is none of pytest, or of too many words.
func PytestOf(words []string) (call *Pytest, ok bool) {
	if len(words) > mostWords {
		return nil, false
	}
	set, words := Assignments(words)
	words = WithoutLaunchers(words)
	if len(words) == 0 || words[0] != "pytest" && words[0] != "py.test" {
		return nil, false
	}
	call = &Pytest{set: set}
	for _, v := range set {
		if strings.HasPrefix(v, "PYTEST_ADDOPTS=") { // more options, which are not read
			call.narrow = append(call.narrow, v)
		}
	}
	for k := 1; k < len(words); k++ {
		w := words[k]
		hasNext := k+1 < len(words)
		if hasNext && (slices.Contains(takesValue, w) || mayTake(w) && !strings.HasPrefix(words[k+1], "-")) {
			w += "=" + words[k+1]
			k++
		}
		switch {
		case !strings.HasPrefix(w, "-"):
			call.targets = append(call.targets, strings.TrimPrefix(w, "./"))
		case isNarrowing(w):
			call.narrow = append(call.narrow, w)
		case !isHarmless("pytest", w) && !onlyShows(w):
			call.rest = append(call.rest, w)
		}
	}
	return call, true
}

// takesValue are options of pytest that have their value in the next word.
var takesValue = []string{"-k", "-m", "-n", "-p", "-c", "-o", "-W", "--tb", "--maxfail", "--deselect", "--ignore",
	"--rootdir", "--durations", "--color", "--log-level", "--log-cli-level"}

// mayTake reports whether the word behind an option may be its value: the option is not known, and has none in it.
func mayTake(option string) bool {
	return strings.HasPrefix(option, "--") && !strings.Contains(option, "=") && !isNarrowing(option) &&
		!isHarmless("pytest", option) && !onlyShows(option)
}

// isNarrowing reports whether with an option fewer tests run.
func isNarrowing(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	switch name {
	case "-k", "-m", "--deselect", "--ignore", "--ignore-glob", "--lf", "--last-failed", "--sw", "--stepwise", "--nf":
		return true
	}
	return strings.HasPrefix(option, "-k") || strings.HasPrefix(option, "-m")
}

// onlyShows reports whether an option changes nothing of a run that passes but what it shows, its order and how many
// run at once. Where all tests pass none is the last.
func onlyShows(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	switch name {
	case "-vvv", "-qq", "-x", "-l", "-n", "--exitfirst", "--maxfail", "--showlocals", "--no-summary", "--durations", "--ff",
		"--failed-first", "--log-level", "--log-cli-level":
		return true
	}
	return strings.HasPrefix(option, "-r") || strings.HasPrefix(option, "-n")
}

// Covers reports whether the call ran all the tests that another one was to run, in the same way.
func (p *Pytest) Covers(other *Pytest) bool {
	if !slices.Equal(p.set, other.set) || !slices.Equal(p.rest, other.rest) ||
		len(p.narrow) > 0 && !slices.Equal(p.narrow, other.narrow) {
		return false
	}
	if len(p.targets) == 0 || len(other.targets) == 0 { // all that it finds need not have that in it
		return len(p.targets) == len(other.targets)
	}
	return !slices.ContainsFunc(other.targets, func(target string) bool { return !p.finds(target) })
}

// finds reports whether a target lies within those of the call: in a folder pytest looks at files of certain names.
func (p *Pytest) finds(target string) bool {
	if slices.Contains(p.targets, target) {
		return true
	}
	file, _, _ := strings.Cut(target, "::")
	base := file[strings.LastIndexByte(file, '/')+1:]
	isFound := !strings.HasSuffix(base, ".py") || strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py")
	isFound = isFound && !slices.ContainsFunc(strings.Split(file, "/"), isPassedOver)
	return isWithin(target, p.targets) && (isFound || slices.Contains(p.targets, file))
}

// isPassedOver reports whether pytest does not look into folders of a name unless it is told to.
func isPassedOver(folder string) bool {
	return strings.HasPrefix(folder, ".") || slices.Contains([]string{"build", "dist", "node_modules", "venv"}, folder)
}

// Runs reports whether the call runs a test by its id, for sure, in the way in which another call was to run it.
func (p *Pytest) Runs(id string, other *Pytest) bool {
	return len(p.narrow) == 0 && slices.Equal(p.rest, other.rest) && p.finds(id)
}
