package recap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
)

// run is a call with what it does.
type run struct {
	res   *history.Result
	tasks []task
}

// laterRun is the newest call behind a failure that did all of it again, or more, and whose output tells how that
// ended; nil if there is none.
func (c *calls) laterRun(f *failure) *history.Result {
	const most = 500 // of the newest calls
	for _, r := range slices.Backward(c.runs[max(0, len(c.runs)-most):]) {
		if r.res.Item <= f.end.Item {
			break
		}
		ending := c.sum.endingOf(c.endOf(r.res))
		if !ending.Failed() && !ending.Succeeded() {
			continue
		}
		isAgain := func(t task) bool {
			return slices.ContainsFunc(r.tasks, func(now task) bool {
				return !now.unseen && now.place == t.place && isWider(now.words, t.words)
			})
		}
		if len(f.tasks) > 0 && !slices.ContainsFunc(f.tasks, func(t task) bool { return !isAgain(t) }) {
			return c.endOf(r.res)
		}
	}
	return nil
}

// shownAgain says how many of the lines that tell of a failure a later result still shows, and of how many. Numbers by
// themselves, as of lines and shares of time, may differ.
func (r *writer) shownAgain(f *failure, later *history.Result) (shown, all int) {
	const most = 40 // lines of the failure
	screen, _ := shorten.FinalScreen(r.p.TextOf(later.Item))
	lines := map[string]bool{}
	for l := range strings.Lines(screen) {
		lines[withoutNumbers(l)] = true
	}
	screen, _ = shorten.FinalScreen(r.p.TextOf(f.end.Item))
	telling := excerpt.Failures(screen, most)
	if len(telling) == 0 {
		telling = r.tellingLines(f.end, most)
	}
	for _, l := range telling {
		if all++; lines[withoutNumbers(l)] {
			shown++
		}
	}
	return shown, all
}

// noteOfLater says what a later run shows of a failure. isTold says that it shows all, so that it tells.
func (c *calls) noteOfLater(f *failure) (note string, isTold bool) {
	later := c.laterRun(f)
	if later == nil {
		return "", false
	}
	shown, all := c.sum.shownAgain(f, later)
	switch message := plan.NumberOf(c.sum.p, later.Item); {
	case all == 0:
		return "", false
	case shown == 0:
		return fmt.Sprintf("; the later run in message %d does not show what failed", message), false
	case shown < all:
		return fmt.Sprintf("; the later run in message %d shows only a part of what failed", message), false
	}
	return "", c.sum.endingOf(later).Failed()
}

// withoutNumbers is a line without the words that are numbers, and with one space in the place of several.
func withoutNumbers(line string) string {
	words := strings.FieldsFunc(line, isBetweenWords)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.Trim(w, "0123456789") == "" }), " ")
}

func isBetweenWords(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }

// runners are tools by the words with which their calls begin: what follows those names what they are to look at, and
// without it they look at all.
var runners = [...]string{"pytest", "py.test", "jest", "vitest", "mypy", "eslint", "rspec", "phpunit", "ruff check",
	"cargo test", "cargo check", "cargo build", "cargo clippy", "mix test", "tox"}

// isWider reports whether a command does at least what another one of the same tool did.
func isWider(now, before []string) bool {
	if slices.Equal(now, before) || coversTests(now, before) {
		return true
	}
	now, before = withoutLaunchers(now), withoutLaunchers(before)
	isOption := func(w string) bool { return strings.HasPrefix(w, "-") }
	for _, w := range now {
		if isOption(w) && !slices.Contains(before, w) && !isHarmless(now[0], w) {
			return false
		}
	}
	nowTargets := slices.DeleteFunc(slices.Clone(now), isOption)
	targets := slices.DeleteFunc(slices.Clone(before), isOption)
	if slices.Equal(nowTargets, targets) {
		return true
	}
	n := lenOfRunner(nowTargets)
	if n == 0 || n > len(targets) || !slices.Equal(targets[:n], nowTargets[:n]) {
		return false
	}
	nowTargets, targets = nowTargets[n:], targets[n:]
	isOutside := func(target string) bool { return !isWithin(target, nowTargets) }
	return len(nowTargets) == 0 || !slices.ContainsFunc(targets, isOutside)
}

// lenOfRunner is how many words name the runner with which a call begins; 0 if it is none.
func lenOfRunner(words []string) int {
	for _, r := range runners {
		if tool := strings.Fields(r); len(words) >= len(tool) && slices.Equal(tool, words[:len(tool)]) {
			return len(tool)
		}
	}
	return 0
}

// isWithin reports whether a target is one of all, or lies in a folder or file that is one of them.
func isWithin(target string, all []string) bool {
	return slices.ContainsFunc(all, func(a string) bool {
		a = strings.TrimSuffix(a, "/")
		return target == a || a == "." || strings.HasPrefix(target, a+"/") || strings.HasPrefix(target, a+"::")
	})
}

// isHarmless reports whether with an option a tool does no less, and says no less of it.
func isHarmless(tool, option string) bool {
	if tool == "make" {
		return option == "-k" || option == "--keep-going" || strings.HasPrefix(option, "-j")
	}
	switch option {
	case "-v", "-vv", "-q", "-s", "-ra", "-rA", "--verbose", "--quiet", "--no-header", "-count=1":
		return true
	}
	return strings.HasPrefix(option, "--tb=") || strings.HasPrefix(option, "--color")
}

// withoutLaunchers leaves out programs that only start the one behind them.
func withoutLaunchers(words []string) []string {
	for len(words) > 2 {
		switch {
		case (words[0] == "python" || words[0] == "python3") && words[1] == "-m":
			words = words[2:]
		case (words[0] == "uv" || words[0] == "poetry" || words[0] == "pipenv") && words[1] == "run":
			words = words[2:]
		case words[0] == "npx":
			words = words[1:]
		default:
			return words
		}
	}
	return words
}
