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
	for k := 1; k < len(words); k++ {
		w := words[k]
		takes := slices.Contains(takesValue, w) && k+1 < len(words)
		if takes {
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
	return isWithin(target, p.targets) && (isFound || slices.Contains(p.targets, file))
}

// Runs reports whether the call runs a test by its id, for sure.
func (p *Pytest) Runs(id string) bool { return len(p.narrow) == 0 && p.finds(id) }

// SetsAll reports whether the call was given all the variables that another one was, and perhaps more.
func (p *Pytest) SetsAll(other *Pytest) bool {
	return !slices.ContainsFunc(other.set, func(v string) bool { return !slices.Contains(p.set, v) })
}

// Cases are tests of pytest by their ids, as the output of a run tells of them.
type Cases struct {
	Passed map[string]bool
	Failed []string // tests, and files that could not be read
	told   int      // how many failed, by the last line
}

// ReadCases reads the output of a run.
func ReadCases(text string) *Cases {
	c := &Cases{Passed: map[string]bool{}}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \r\n")
		failed, is := strings.CutPrefix(l, "FAILED ")
		if !is {
			failed, is = strings.CutPrefix(l, "ERROR ")
		}
		switch {
		case is:
			id, _, _ := strings.Cut(failed, " - ")
			c.Failed = append(c.Failed, id)
		case strings.Contains(l, "::"):
			id, others, passed := strings.Cut(l, " PASSED")
			if strings.HasPrefix(l, "[gw") { // several processes run them
				id = strings.TrimPrefix(others, " ")
			}
			if passed {
				c.Passed[id] = true
			}
		default:
			if n, is := countOf(l); is {
				c.told = n
			}
		}
	}
	return c
}

// AreAll reports whether the run names all that failed in it.
func (c *Cases) AreAll() bool { return len(c.Failed) > 0 && len(c.Failed) == c.told }

// countOf is how many tests failed, or could not be run, by the last line of a run; is is false if l is none.
func countOf(l string) (n int, is bool) {
	l, _, is = strings.Cut(strings.Trim(l, "= "), " in ")
	if !is {
		return 0, false
	}
	for part := range strings.SplitSeq(l, ", ") {
		number, what, two := strings.Cut(part, " ")
		many := 0
		for _, d := range []byte(number) {
			if d < '0' || d > '9' || many > 1<<20 {
				return 0, false
			}
			many = 10*many + int(d-'0')
		}
		switch what {
		case "failed", "error", "errors":
			n += many
		case "passed", "skipped", "xfailed", "xpassed", "warning", "warnings", "deselected", "rerun":
		default:
			two = false
		}
		if !two {
			return 0, false
		}
	}
	return n, true
}
