package outline

import (
	"fmt"
	"strings"

	"epitome/rewrite/mark"
)

// Shares of what an outline of a diff or of matches may take, in hundredths.
const (
	toldShare  = 30 // for what is told of files, at most
	headsShare = 40 // for the headers of files, at most
)

// part is what a line of a diff is.
type part uint8

const (
	context part = iota // and whatever is not known
	commitLine
	fileLine
	pathLine // --- and +++
	hunkLine
	added
	removed
)

// changes is a diff while it is read.
type changes struct {
	p     *page
	parts []part
	files []changed
	hunks int
}

// changed is a file of a diff.
type changed struct {
	path           string
	first          int // line
	added, removed int
	made           bool // by a tool, and not to be read
}

// ofDiff shows the headers of a diff, and of each hunk the first lines that have changed. Before it stands how many
// lines of each file did. Of files that tools write only the header is shown.
func ofDiff(text string, keep int, count func(string) int) (o Outline, ok bool) {
	if !strings.Contains(text, "\n@@ -") && !strings.HasPrefix(text, "@@ -") {
		return o, false
	}
	c := changes{p: newPage(text, count)}
	if c.p == nil || !c.read() {
		return o, false
	}
	told := c.describe(keep*toldShare/100, count)
	o.Kind = Diff
	if o.Text = c.p.show(keep-count(told), c.choose); o.Text != "" {
		o.Text = told + o.Text
	}
	return o, o.Text != ""
}

// read finds out what each line is, and reports whether the text is a diff.
func (c *changes) read() bool {
	c.parts = make([]part, c.p.lines())
	left, right, known := 0, 0, 0 // lines that the hunk has still
	for i := range c.parts {
		line := c.p.line(i)
		what := context
		switch {
		case left > 0 || right > 0:
			what = partOfHunk(line)
			if what != added {
				left--
			}
			if what != removed && line[0] != '\\' {
				right--
			}
		case strings.HasPrefix(line, "@@ -"):
			if left, right = sizesOfHunk(line); left+right > 0 {
				what = hunkLine
				c.hunks++
			}
		default:
			what = c.partBetween(i, line)
		}
		c.note(i, what)
		if what != context || left > 0 || right > 0 {
			known++
		}
	}
	return c.hunks > 0 && len(c.files) > 0 && 2*known >= len(c.parts)
}

// partOfHunk says what a line in a hunk is.
func partOfHunk(line string) part {
	switch line[0] {
	case '+':
		return added
	case '-':
		return removed
	}
	return context
}

// partBetween says what a line before a file's first hunk is, or behind its last one.
func (c *changes) partBetween(i int, line string) part {
	switch {
	case strings.HasPrefix(line, "diff "):
		c.files = append(c.files, changed{path: pathOfDiff(c.p.bareLine(i)), first: i})
		return fileLine
	case strings.HasPrefix(line, "--- ") && i+1 < c.p.lines() && strings.HasPrefix(c.p.line(i+1), "+++ "):
		if n := len(c.files); n == 0 || i-c.files[n-1].first > 8 || c.parts[c.files[n-1].first] == pathLine {
			c.files = append(c.files, changed{path: pathOfSide(c.p.bareLine(i+1), c.p.bareLine(i)), first: i})
			return fileLine
		}
		return pathLine
	case strings.HasPrefix(line, "+++ "):
		return pathLine
	case strings.HasPrefix(line, "new file"), strings.HasPrefix(line, "deleted file"), strings.HasPrefix(line, "rename "),
		strings.HasPrefix(line, "Binary files"):
		return hunkLine
	case strings.HasPrefix(line, "commit "), strings.HasPrefix(line, "Author:"), strings.HasPrefix(line, "Date:"),
		strings.HasPrefix(line, "    "), len(c.files) == 0 && i < 10:
		return commitLine
	}
	return context
}

// note remembers what a line is.
func (c *changes) note(i int, what part) {
	c.parts[i] = what
	if len(c.files) == 0 {
		return
	}
	switch f := &c.files[len(c.files)-1]; what {
	case added:
		f.added++
	case removed:
		f.removed++
	}
}

// sizesOfHunk reads how many lines of both sides a hunk has: @@ -1,7 +1,8 @@.
func sizesOfHunk(line string) (left, right int) {
	sides := strings.SplitN(line, " ", 4)
	if len(sides) < 4 || !strings.HasPrefix(sides[2], "+") || !strings.HasPrefix(sides[3], "@@") {
		return 0, 0
	}
	size := func(side string) (n int) {
		_, text, several := strings.Cut(side, ",")
		if !several {
			return 1
		}
		for _, c := range text[:min(len(text), 7)] {
			n = 10*n + int(c-'0')
		}
		return max(n, 0)
	}
	return size(sides[1]), size(sides[2])
}

// pathOfDiff returns the file that a line "diff --git a/x b/x" names.
func pathOfDiff(line string) string {
	if i := strings.LastIndex(line, " b/"); i >= 0 {
		return line[i+len(" b/"):]
	}
	return line[strings.LastIndexByte(line, ' ')+1:]
}

// pathOfSide returns the file that the lines with --- and +++ name.
func pathOfSide(now, was string) string {
	side, _, _ := strings.Cut(strings.TrimPrefix(now, "+++ "), "\t")
	if side == "/dev/null" {
		side, _, _ = strings.Cut(strings.TrimPrefix(was, "--- "), "\t")
	}
	return strings.TrimPrefix(strings.TrimPrefix(side, "b/"), "a/")
}

// isMade reports whether a file of this path is written by tools, and not by people.
func isMade(path string) bool {
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	switch name {
	case "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "go.sum", "cargo.lock", "poetry.lock", "uv.lock", "gemfile.lock",
		"composer.lock", "bun.lock", "bun.lockb", "npm-shrinkwrap.json", "packages.lock.json", "podfile.lock", "flake.lock",
		"pdm.lock", "deno.lock", "mix.lock", "pubspec.lock":
		return true
	}
	for _, s := range [...]string{".min.js", ".min.css", ".map", ".snap", ".pb.go", "_pb2.py", ".svg", ".g.dart"} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return strings.Contains(path, "node_modules/") || strings.Contains(path, "vendor/") || strings.HasPrefix(path, "dist/")
}

// describe says how many lines of each file have changed, in at most keep tokens.
func (c *changes) describe(keep int, count func(string) int) string {
	plus, minus := 0, 0
	var list []changed
	at := map[string]int{} // a log may have a file several times
	for i := range c.files {
		f := &c.files[i]
		f.made = isMade(f.path)
		plus, minus = plus+f.added, minus+f.removed
		k, known := at[f.path]
		if !known {
			at[f.path] = len(list)
			list = append(list, *f)
			continue
		}
		list[k].added += f.added
		list[k].removed += f.removed
	}
	head := fmt.Sprintf("In it: %s, +%d -%d lines\n", amount(len(list), false, "file"), plus, minus)
	return head + describeFiles(len(list), keep-count(head), count, func(i int) string {
		s := fmt.Sprintf(" %s +%d -%d", list[i].path, list[i].added, list[i].removed)
		if list[i].made {
			s += ", written by a tool"
		}
		return s
	})
}

// describeFiles returns a line for each of n files, as many as fit into keep tokens, and how many more there are.
func describeFiles(n, keep int, count func(string) int, line func(i int) string) string {
	var b strings.Builder
	keep -= restOfFiles
	for i := range n {
		s := line(i) + "\n"
		if mark.IsForged(s) { // so is the file named
			s = " >" + s
		}
		if keep -= count(s); keep < 0 {
			if i > 0 {
				fmt.Fprintf(&b, " … %s\n", amount(n-i, true, "file"))
			}
			break
		}
		b.WriteString(s)
	}
	return b.String() + "\n"
}

// restOfFiles is about how many tokens it takes to say how many more files there are.
const restOfFiles = 10

// choose shows what matters: headers, then of each hunk the first lines that have changed, then the others, and then
// what is around them.
func (c *changes) choose() {
	all := c.p.left
	var heads, around []int
	var hunks [][]int // the header of each, and what has changed
	file := -1
	for i, what := range c.parts {
		for file+1 < len(c.files) && c.files[file+1].first <= i {
			file++
		}
		if file >= 0 && c.files[file].made && what != fileLine {
			continue
		}
		switch what {
		case fileLine, commitLine:
			heads = append(heads, i)
		case hunkLine:
			hunks = append(hunks, []int{i})
		case added, removed:
			if n := len(hunks) - 1; n >= 0 {
				hunks[n] = append(hunks[n], i)
			}
		default:
			around = append(around, i)
		}
	}
	c.p.takeSpread(heads, all*headsShare/100)
	for _, n := range [...]int{1, 4, 8, 16, 32, 1 << 30} { // lines of each hunk
		var list []int
		for _, h := range hunks {
			list = append(list, h[:min(n, len(h))]...)
		}
		c.p.takeSpread(list, c.p.left)
	}
	c.p.takeAll(heads, c.p.left)
	c.p.takeAll(around, c.p.left)
}
