package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Bounds of what searches print.
const (
	leastMatches = 12
	matchShare   = 80 // hundredths of the lines that are matches or stand around them, at least
	firstMatches = 3  // of a file, that come before all others
	longMatch    = 400
)

// matches is what a search printed, by files.
type matches struct {
	p     *page
	file  []int32 // of each line, its file; -1 if it is no match
	files []matched
	other []int // lines that belong to no file
	n     int
}

// matched is a file with matches.
type matched struct {
	path string
	n    int
}

// ofMatches shows what a search printed: how many matches each file has, and the first ones of each of them.
func ofMatches(text string, keep int, count func(string) int) (o Outline, ok bool) {
	if !looksLikeMatches(text) {
		return o, false
	}
	m := matches{p: newPage(text, count)}
	if m.p == nil || !m.read() {
		return o, false
	}
	told := m.describe(keep*toldShare/100, count)
	o.Kind = Matches
	if o.Text = m.p.show(keep-count(told), m.choose); o.Text != "" {
		o.Text = told + o.Text
	}
	return o, o.Text != ""
}

// looksLikeMatches looks at the first lines only.
func looksLikeMatches(text string) bool {
	const most = 60
	n, found := 0, 0
	for line := range strings.Lines(text) {
		if n++; n > most {
			break
		}
		if path, sep := matchOf(line); path != "" || sep == '-' || sep == ':' {
			found++
		}
	}
	return 2*found >= min(n, most)
}

// matchOf returns the path that a line of a search begins with, and what stands behind the number of the line there:
// ':' in a match, '-' around one. sep is 0 if it is neither. A name without an ending before dashes, or with a number
// for one, may be that of a date or version.
func matchOf(line string) (path string, sep byte) {
	const longestPath = 300
	if strings.HasPrefix(line, "--") {
		return "", '-'
	}
	dated := ""
	for i := 1; i < min(len(line), longestPath); i++ {
		if c := line[i]; c != ':' && c != '-' || i+2 >= len(line) {
			if c == ' ' && line[0] == ' ' {
				return "", 0
			}
			continue
		}
		n := countDigits(line[i+1:])
		if at := i + 1 + n; n > 0 && at < len(line) && line[at] == line[i] && isPath(line[:i]) {
			path = line[:i]
			rest := path[len(dated):]
			isMatch := line[i] == ':' && strings.ContainsAny(rest, "./") && !strings.Contains(rest, " ")
			if dated == "" && line[i] == '-' && !hasEnding(path) {
				dated, sep = path, '-'
			} else if dated == "" || isMatch {
				return path, line[i]
			}
		}
	}
	return dated, sep
}

// hasEnding reports whether a path ends as names of files do; a number is no ending.
func hasEnding(path string) bool {
	ending := path[strings.LastIndexAny(path, "./")+1:]
	return len(ending) < len(path) && path[len(path)-len(ending)-1] == '.' && countDigits(ending) < len(ending)
}

// isPath reports whether a text can be the path of a file that a search names.
func isPath(s string) bool {
	isName := strings.ContainsFunc(s, unicode.IsLetter) // a date is none
	return isName && strings.ContainsAny(s, "./") && !strings.ContainsAny(s, "\t\"'`(){}<>|=,;") && !strings.Contains(s, "  ") &&
		s[len(s)-1] != ' ' && countDigits(s) < len(s)/2
}

// read finds out which file each line belongs to, and reports whether the text is what a search printed, and no list of
// complaints.
func (m *matches) read() bool {
	at := map[string]int{}
	m.file = make([]int32, m.p.lines())
	lines, around, complaints := 0, 0, 0
	for i := range m.file {
		m.file[i] = -1
		line := m.p.bareLine(i)
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		path, sep := matchOf(line)
		if sep != ':' {
			if sep == '-' {
				around++
			} else {
				m.other = append(m.other, i)
			}
			continue
		}
		rest := line[len(path)+1:]
		rest = rest[countDigits(rest)+1:]
		if isComplaint(rest) {
			complaints++
		}
		k, known := at[path]
		if !known {
			k = len(m.files)
			at[path] = k
			m.files = append(m.files, matched{path: path})
		}
		m.files[k].n++
		m.file[i] = int32(k)
		m.n++
	}
	return m.n >= leastMatches && 100*(m.n+around) >= matchShare*lines && 3*complaints < m.n
}

// isComplaint reports whether what stands behind the number of a line is what a compiler or checker says of it: a
// column, or how bad it is.
func isComplaint(rest string) bool {
	if n := countDigits(rest); n > 0 && n < len(rest) && rest[n] == ':' {
		return true
	}
	rest = strings.TrimLeft(rest, " [(")
	for _, w := range [...]string{"error", "Error", "ERROR", "warning", "Warning", "note:", "fatal", "info:"} {
		if strings.HasPrefix(rest, w) {
			return true
		}
	}
	return false
}

// describe says how many matches each file has, the most first, in at most keep tokens.
func (m *matches) describe(keep int, count func(string) int) string {
	head := fmt.Sprintf("In it: %s in %s\n", plural(m.n, "match", "matches"), amount(len(m.files), false, "file"))
	list := slices.Clone(m.files)
	slices.SortStableFunc(list, func(a, b matched) int { return cmp.Compare(b.n, a.n) })
	return head + describeFiles(len(list), keep-count(head), count, func(i int) string {
		return fmt.Sprintf(" %s ×%d", list[i].path, list[i].n)
	})
}

// plural is a number with its word.
func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", several)
}

// choose shows what matters: the first match of each file, the next ones, and then the others in their order.
func (m *matches) choose() {
	seen := make([]int, len(m.files))
	var ranks [firstMatches + 1][]int
	var around []int
	for i, k := range m.file {
		switch {
		case k < 0 || int(m.p.start[i+1]-m.p.start[i]) > longMatch:
			around = append(around, i)
		default:
			r := min(seen[k], firstMatches)
			ranks[r] = append(ranks[r], i)
			seen[k]++
		}
	}
	m.p.takeAll(m.other, m.p.left*toldShare/100)
	for _, list := range ranks {
		m.p.takeSpread(list, m.p.left)
	}
	m.p.takeAll(around, m.p.left)
}
