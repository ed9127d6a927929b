package rerun

import (
	"maps"
	"slices"
	"strings"
)

// Cases are tests by their ids, as the output of a run names them: tests of pytest, tests of cargo behind the program
// that they are in, and files of tests of jest and vitest behind their project.
type Cases struct {
	passed, failed map[string]bool // failed are files that could not be read, too
	files          map[string]bool // those of passed that are files of which the run may have left out tests
	told           int             // how many failed, by the lines at the end
	leftOut        bool            // some tests of files were left out
	program        string          // of the tests of cargo that come next; empty if that is not known
	begun          int             // how many programs of cargo have begun and not ended
}

// ReadCases reads the output of a run.
func ReadCases(text string) *Cases {
	c := &Cases{passed: map[string]bool{}, failed: map[string]bool{}, files: map[string]bool{}}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \r\n")
		if strings.Contains(l, "coverage threshold") || strings.Contains(l, "Required test coverage of") {
			c.told++ // no test has the name of that
		}
		_ = c.takePytest(l) || c.takeFile(strings.TrimLeft(l, " ")) || c.takeCargo(strings.TrimLeft(l, " "))
	}
	return c
}

// Failed are the tests that failed, in their order; none if the run does not name all that did.
func (c *Cases) Failed() []string {
	if len(c.failed) != c.told {
		return nil
	}
	return slices.Sorted(maps.Keys(c.failed))
}

// HasPassed reports whether the run names a test as one that passed, and nowhere as one that failed. A file of which
// tests may have been left out has not.
func (c *Cases) HasPassed(id string) bool {
	return c.passed[id] && !c.failed[id] && !(c.leftOut && c.files[id])
}

// takePytest takes a line that pytest writes, and reports whether it is one.
func (c *Cases) takePytest(l string) bool {
	for _, word := range []string{"FAILED ", "ERROR "} {
		if failed, is := strings.CutPrefix(l, word); is {
			id, _, _ := strings.Cut(failed, " - ")
			c.failed[id] = true
			return true
		}
	}
	id, others, passed := strings.Cut(l, " PASSED")
	if !passed {
		n, is := countOf(l)
		c.told += n
		return is
	}
	if strings.HasPrefix(l, "[gw") { // several processes run them
		id = strings.TrimPrefix(others, " ")
	}
	if passed = strings.Contains(id, "::"); passed {
		c.passed[id] = true
	}
	return passed
}

// countOf is how many tests failed, or could not be run, by the last line of a run of pytest; is is false if l is none.
func countOf(l string) (n int, is bool) {
	l, _, is = strings.Cut(strings.Trim(l, "= "), " in ")
	if !is {
		return 0, false
	}
	for part := range strings.SplitSeq(l, ", ") {
		number, what, _ := strings.Cut(part, " ")
		many, isNumber := numberOf(number)
		switch what {
		case "failed", "error", "errors":
			n += many
		case "passed", "skipped", "xfailed", "xpassed", "warning", "warnings", "deselected", "rerun":
		default:
			isNumber = false
		}
		if !isNumber {
			return 0, false
		}
	}
	return n, true
}

// takeFile takes a line that jest or vitest writes of a file of tests, and reports whether it is one.
func (c *Cases) takeFile(l string) bool {
	for _, word := range []string{"PASS ", "\u2713 "} {
		if name, is := strings.CutPrefix(l, word); is {
			name, rest := fileOfTests(name)
			isFile := rest == "" || rest[0] == '(' // else it is one test of the file
			if name != "" && isFile && !strings.Contains(rest, "skipped") {
				c.passed[name], c.files[name] = true, word == "PASS "
			}
			return name != ""
		}
	}
	if name, is := strings.CutPrefix(l, "FAIL "); is {
		if name, _ = fileOfTests(name); name != "" {
			c.failed[name] = true
		}
		return name != ""
	}
	if counts, is := strings.CutPrefix(l, "Tests: "); is { // of jest, which does not say it of each file
		c.leftOut = c.leftOut || strings.Contains(counts, " skipped")
		return true
	}
	for _, word := range []string{"Test Suites: ", "Test Files "} {
		if counts, is := strings.CutPrefix(l, word); is {
			number, what, _ := strings.Cut(strings.TrimLeft(counts, " "), " ")
			if n, isNumber := numberOf(number); isNumber && strings.HasPrefix(what, "failed") {
				c.told += n
			}
			return true
		}
	}
	return false
}

// fileOfTests is the file with which a line goes on, with the name of its project before it if there are several, and
// what stands behind it; empty if that is none of tests.
func fileOfTests(l string) (name, rest string) {
	l = strings.TrimLeft(l, " ")
	rest = l
	for range 2 {
		name, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		if strings.Contains(name, ".test.") || strings.Contains(name, ".spec.") || strings.Contains(name, "__tests__/") {
			return strings.TrimRight(l[:len(l)-len(rest)], " "), strings.TrimLeft(rest, " ")
		}
	}
	return "", ""
}

// takeCargo takes a line that cargo writes of a test, and reports whether it is one.
func (c *Cases) takeCargo(l string) bool {
	if what, is := strings.CutPrefix(l, "Running "); is { // unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)
		if is = strings.HasSuffix(what, ")") && strings.Contains(what, "-"); is {
			c.begin(what)
		}
		return is
	}
	if what, is := strings.CutPrefix(l, "Doc-tests "); is {
		c.begin("doc " + what)
		return true
	}
	if counts, is := strings.CutPrefix(l, "test result: "); is {
		c.program, c.begun = "", max(c.begun-1, 0)
		how, failed, _ := strings.Cut(counts, "; ")
		number, _, _ := strings.Cut(failed, " ")
		if n, _ := numberOf(number); strings.HasPrefix(how, "FAILED. ") {
			c.told += n
		}
		return true
	}
	if name, is := strings.CutPrefix(l, "test "); is {
		name, how, _ := strings.Cut(name, " ... ")
		switch how {
		case "ok":
			if c.program != "" {
				c.passed[c.program+" "+name] = true
			}
		case "FAILED":
			c.failed[c.program+" "+name] = true
		default:
			return false
		}
		return true
	}
	return false
}

// begin notes that the tests of a program of cargo come next: not so where another one has not ended, as its errors and
// what it puts out are not in one order then, and the next tests may be of either.
func (c *Cases) begin(program string) {
	const longest = 120 // bytes: each of its tests has them
	if c.begun++; c.begun > 1 || len(program) > longest {
		program = ""
	}
	c.program = program
}

// numberOf reads a whole number of a few digits.
func numberOf(text string) (n int, ok bool) {
	const longest = 7 // digits
	if text == "" || len(text) > longest || strings.Trim(text, digits) != "" {
		return 0, false
	}
	for _, d := range []byte(text) {
		n = 10*n + int(d-'0')
	}
	return n, true
}

// RunsTests reports whether a call runs tests by its words: others may have failed in something else, too.
func RunsTests(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w == "jest" || strings.Contains(w, "test") })
}

// SetsAll reports whether a call was given all the variables that an earlier one was, and perhaps more; one of very
// many words is to be the same.
func SetsAll(now, before []string) bool {
	if areLong(now, before) {
		return slices.Equal(now, before)
	}
	set, _ := Assignments(now)
	others, _ := Assignments(before)
	return !slices.ContainsFunc(others, func(v string) bool { return !slices.Contains(set, v) })
}
