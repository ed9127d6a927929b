package excerpt

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// failureWords are texts in small letters by which a line is taken to speak of failure. Test runners print the signs.
var failureWords = []string{
	"error", "fail", "fatal", "panic", "exception", "traceback", "assert", "abort", "denied", "refused", "rejected",
	"forbidden", "cannot", "can't", "could not", "couldn't", "unable", "undefined", "undeclared", "unexpected", "unknown",
	"unreachable", "uncaught", "invalid", "missing", "not found", "not ok", "not a ", "not valid", "not in scope",
	"no such", "nonexistent", "mismatch", "conflict", "violat", "killed", "segfault", "core dumped", "out of memory",
	"out of bounds", "out of range", "out of space", "timed out", "time out", "timeout", "corrupt", "broken", "crash",
	"expected", "received:", "actual", "got:", "but was", "!=", "attempt to", "✗", "✘", "✖", "●", "×",
}

// wordsAt has failureWords by their first two bytes.
var wordsAt [1 << 16][]string

func init() {
	for _, word := range failureWords {
		words := &wordsAt[int(word[0])<<8|int(word[1])]
		*words = append(*words, word)
	}
}

// failuresIn yields the failureWords in a line in small letters, with their indexes. A regexp takes fifty times as long.
func failuresIn(line string) iter.Seq2[int, string] {
	return func(yield func(at int, word string) bool) {
		for i := 1; i < len(line); i++ {
			for _, word := range wordsAt[int(line[i-1])<<8|int(line[i])] {
				if strings.HasPrefix(line[i-1:], word) && !yield(i-1, word) {
					return
				}
			}
		}
	}
}

// speaksOfFailure reports whether a line in small letters has one of failureWords.
func speaksOfFailure(line string) bool {
	for range failuresIn(line) {
		return true
	}
	return false
}

// harmless match parts of lines in small letters that have failureWords and speak of no failure, such as "0 errors".
// Regexps are slow, so each is for lines with one of some whole words or of some texts.
var harmless = []struct {
	words, texts []string
	form         *regexp.Regexp
}{
	{
		words: []string{"ok", "pass", "passed"},
		texts: []string{"✓", "√", "✔"},
		form: regexp.MustCompile(`^[^,;]*\b(?:ok|passed)(?:\s[^,;a-z]*)?$|` +
			`^\s*(?:ok\b|pass\b|passed\b|[✓√✔])[^,;]*$|^[^,;]*\(pass\).*$`),
	},
	{ // of a file, behind its number
		texts: []string{"|", "│", "→", "\t"},
		form:  regexp.MustCompile(`^\s*\d+(?: ?[|│→]|\t).*$`),
	},
	{
		words: []string{"0", "no", "without", "any"},
		form: regexp.MustCompile(`\b(?:0|no|without|any)\b[^,;.]{0,12}[ _-]` +
			`(?:errors?|failures?|failed|fail|conflicts)\b`),
	},
	{
		words: []string{"0", "none", "null", "false", "nil"},
		texts: []string{"free"},
		form: regexp.MustCompile(`errors?[ _-]?free|` +
			`\b(?:errors?|failures?|failed|fail)["']?[:= ]+(?:0|none|null|false|nil)\b`),
	},
}

// hasWord reports whether a word ends in a line in small letters, and no longer one goes on there.
func hasWord(line, word string) bool {
	for _, after, found := strings.Cut(line, word); found; _, after, found = strings.Cut(after, word) {
		if after == "" || !strings.Contains("abcdefghijklmnopqrstuvwxyz0123456789_", after[:1]) {
			return true
		}
	}
	return false
}

// reason matches what stands in a failing line in small letters before a colon behind which it says why it failed.
var reason = regexp.MustCompile(
	`\A(?:(?:panic|fail|abort)\w*|error|exception|fatal|killed|denied|cannot|can't)\b[^:]{0,40}\z`)

// saysWhy reports whether a failing line in small letters says why it failed.
func saysWhy(line string) bool {
	_, behind, _ := strings.Cut(line, ": ")
	isBehind := func(text string) bool { return strings.Contains(behind, text) }
	if slices.ContainsFunc([]string{"cannot", "can't", "no such", "undefined"}, isBehind) {
		return true
	}
	for at := range failuresIn(line) {
		before, said, _ := strings.Cut(line[at:], ": ")
		mayMatch := said != "" && strings.IndexAny(said, "\t\n\f\r ") != 0 && !strings.Contains(before, ":")
		if mayMatch && reason.MatchString(before) {
			return true
		}
	}
	return false
}

// failure returns the part of a line's score that it has as a failing line; 0 if it speaks of no failure.
func failure(line string) float64 {
	const longest = 400 // bytes that regexps look at
	small := strings.ToLower(line)
	if !speaksOfFailure(small) {
		return 0
	}
	start := small[:min(len(small), longest)]
	harmful := start
	for _, h := range harmless {
		isIn := func(text string) bool { return strings.Contains(harmful, text) }
		isWordIn := func(word string) bool { return hasWord(harmful, word) }
		if slices.ContainsFunc(h.words, isWordIn) || slices.ContainsFunc(h.texts, isIn) {
			harmful = h.form.ReplaceAllString(harmful, "")
		}
	}
	if !speaksOfFailure(harmful) && !speaksOfFailure(small[len(start):]) {
		return 0
	}
	if saysWhy(start) {
		return failureScore + reasonScore
	}
	return failureScore
}

// detail matches a line near a failing line that belongs to its failure: an expected or an actual value, a changed line
// of a diff, or a place in a file.
var detail = regexp.MustCompile(`(?i)^[>|#\s]*(?:[-+](?:\s+[^-+\s]|\w\w)|` +
	`(?:left|right|want|wanted|got|expected|received|actual|caused by)\b)|` +
	`[\w/)]\.\w+["']?(?:[:(]| line )\d|\bline \d|-->`)

// report matches a line that reports a failure. Other failing lines may be code, or prose about a failure.
var report = regexp.MustCompile(`(?:^|[\s\]|>=])(?:(?:ERR|ERROR|FAIL|FAILED|FAILURE|FATAL|CONFLICT|Traceback)\b|` +
	`(?:not ok|failure)\b|(?:[\w.]*[Ee]rror|[\w.]*Exception|fatal|panic)(?:\[?\w*\]?| \w+)?:\s|npm error|[✗✘✖])|` +
	`\(\w+(?:Error|Exception)\)|level"?[=:]"?(?i:error|fatal)|\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|` +
	`\bpanicked at|:\d+:\d+: |: (?:.*not found|No such file|[Pp]ermission denied)`)

// Failure returns the lines of an output that report its main failure: the failing line with the highest score, its
// heading, and lines near it that say what was expected, what came and where. It is empty if no line speaks of failure.
// failed says that the output is known to be of a failure. Else it may be code or prose, and needs a line like report.
func Failure(text string, failed bool) string {
	const maxLines, maxBytes, longest, below = 6, 720, 400, 12 // longest: bytes per line; below: lines to look at
	x := newChoice(text, 0, nil)                               // without a budget, as show is not called
	order := x.order()
	first := slices.IndexFunc(order, func(i int) bool {
		return x.shapes[i].failure > 0 && len(x.lines[i]) <= longest && (failed || report.MatchString(x.lines[i]))
	})
	if first < 0 {
		return ""
	}
	best := order[first]
	room := maxBytes
	shown := map[string]bool{} // lines without the spaces around them
	for at, k := range append([]int{best}, x.around(best, below)...) {
		if !x.mayShow(k) || len(shown) == maxLines {
			continue
		}
		line := strings.TrimSpace(x.lines[k])
		isBestOrHeading := at < 2
		isAnnounced := k == best+1 && strings.HasSuffix(strings.TrimSpace(x.lines[best]), ":")
		belongs := isBestOrHeading || isAnnounced || x.shapes[k].failure > 0 || detail.MatchString(x.lines[k])
		fits := line != "" && len(line) <= min(longest, room) // even the best line may be too long
		if belongs && fits && !shown[line] {
			x.shown[k] = true
			room -= len(line)
			shown[line] = true
		}
	}
	var b strings.Builder
	for k, line := range x.lines {
		if x.shown[k] {
			b.WriteString(line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
