package outline

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"epitome/rewrite/outline/census"
)

// Bounds of lists of files.
const (
	leastPaths    = 30
	longestPath   = 300 // bytes
	deepestFolder = 12
	endingsShown  = 4 // kinds of files of a folder that are counted one by one
)

// listing is a list of files and folders.
type listing struct {
	p       *page
	folder  []int32 // of each line, its folder; -1 if it is no file
	folders []*folder
	groups  []*folder
	at      map[string]int32
	n       int
}

// folder is the files of a folder that a list has.
type folder struct {
	path    string
	first   int // line
	last    int
	n       int
	endings census.Counts

	group   *folder // with which it is told
	folders int     // of a group
	seen    int     // of a group, files that were chosen already
}

// ofListing shows a list of files: how many of which kind each folder has, and the first and the last of each.
func ofListing(text string, keep int, count func(string) int) (o Outline, ok bool) {
	l := listing{at: map[string]int32{}}
	if !looksLikeListing(text) {
		return o, false
	}
	if l.p = newPage(text, count); l.p == nil || !l.read() {
		return o, false
	}
	told := l.describe(keep/2, count)
	o.Kind = Listing
	if o.Text = l.p.show(keep-count(told), l.choose); o.Text != "" {
		o.Text = told + o.Text
	}
	return o, o.Text != ""
}

// looksLikeListing looks at the first lines only.
func looksLikeListing(text string) bool {
	const most, header = 60, 10
	n, found := 0, 0
	for line := range strings.Lines(text) {
		if n++; n > most {
			break
		}
		if line = strings.TrimSpace(line); line == "" || isListed(line) || treeIndent(line) > 0 {
			found++
		}
	}
	return n >= leastPaths && found+header >= min(n, most) && 4*found >= 3*min(n, most)
}

// isListed reports whether a line is the path of a file, and nothing else.
func isListed(line string) bool {
	if len(line) > longestPath || strings.ContainsAny(line, "\t\"'`(){}<>|=,;*?!") || strings.Contains(line, ": ") {
		return false
	}
	return strings.Count(line, " ") <= 1 && strings.ContainsAny(line, "./")
}

// treeIndent returns how many bytes of lines a name of a tree has before it; 0 if it is none.
func treeIndent(line string) int {
	for _, branch := range [...]string{"├── ", "└── ", "|-- ", "`-- ", "+--- ", "\\--- "} {
		i := strings.Index(line, branch)
		if i >= 0 && strings.Trim(line[:i], " \u00a0\t│|") == "" {
			return i + len(branch)
		}
	}
	return 0
}

// read finds out which folder each line belongs to, and reports whether the text is a list of files.
func (l *listing) read() bool {
	l.folder = make([]int32, l.p.lines())
	lines, above := 0, "" // the folder that ls -R names above its files
	var tree []string
	for i := range l.folder {
		l.folder[i] = -1
		line := strings.TrimRight(l.p.bareLine(i), " ")
		if line == "" {
			continue
		}
		lines++
		if n := treeIndent(line); n > 0 {
			depth := depthIn(line, n)
			tree = append(tree[:min(len(tree), depth)], line[n:])
			if !l.isAbove(i, depth) {
				l.add(i, strings.Join(tree, "/"))
			}
			continue
		}
		switch {
		case strings.HasSuffix(line, ":") && isListed(line+"/") && (i == 0 || strings.TrimSpace(l.p.line(i-1)) == ""):
			above = strings.TrimSuffix(line, ":") + "/"
		case above != "" && len(line) < longestPath && !strings.Contains(line, ": "):
			l.add(i, above+line[strings.LastIndexByte(line, ' ')+1:])
		case isListed(line):
			l.add(i, line)
		}
	}
	return l.n >= leastPaths && 10*l.n >= 8*lines-20 && len(l.folders) > 0
}

// depthIn returns how deep a name of a tree is, of which n bytes stand before it; 0 is at the top.
func depthIn(line string, n int) int {
	const columns = 4 // for each level
	return max(0, utf8.RuneCountInString(line[:n])/columns-1)
}

// isAbove reports whether line i of a tree names a folder: what stands in the next line is in it.
func (l *listing) isAbove(i, depth int) bool {
	if i+1 == l.p.lines() {
		return false
	}
	next := l.p.bareLine(i + 1)
	n := treeIndent(next)
	return n > 0 && depthIn(next, n) > depth
}

// add takes a name in.
func (l *listing) add(i int, name string) {
	dir, base := path.Split(strings.TrimSuffix(name, "/"))
	if dir == "" {
		dir = "./"
	}
	k, known := l.at[dir]
	if !known {
		k = int32(len(l.folders))
		l.at[dir] = k
		l.folders = append(l.folders, &folder{path: dir, first: i})
	}
	f := l.folders[k]
	ending := path.Ext(base)
	if ending == base || len(ending) > 12 {
		ending = ""
	}
	f.endings.Add([]byte(ending))
	f.n++
	f.last = i
	l.folder[i] = k
	l.n++
}

// describe says how many files of which kind each folder has, in at most keep tokens. Where there are too many folders,
// those in one another count as one.
func (l *listing) describe(keep int, count func(string) int) string {
	head := fmt.Sprintf("In it: %s in %s\n", plural(l.n, "name", "names"), amount(len(l.folders), false, "folder"))
	keep -= count(head)
	for _, depth := range [...]int{deepestFolder, 6, 4, 3, 2, 1} {
		most := keep / 4
		if depth == 1 {
			most = len(l.folders)
		}
		if l.groups = l.groupsAt(depth, most); len(l.groups) > keep/4 {
			continue
		}
		var b strings.Builder
		for _, g := range l.groups {
			fmt.Fprintf(&b, " %s %s\n", g.path, g.describe())
		}
		if count(b.String()) <= keep {
			return head + b.String() + "\n"
		}
	}
	return head + "\n"
}

// groupsAt returns the folders that are at most so deep, with what is in those in them; some of them, if there are more
// than most.
func (l *listing) groupsAt(depth, most int) (list []*folder) {
	at := map[string]*folder{}
	for _, f := range l.folders {
		if len(list) > most {
			return list
		}
		name := upTo(f.path, depth)
		g := at[name]
		if g == nil {
			g = &folder{path: name}
			at[name] = g
			list = append(list, g)
		}
		f.group = g
		g.n += f.n
		g.folders++
		g.endings.AddAll(&f.endings)
	}
	return list
}

// upTo returns the first folders of a path, up to one that nobody reads.
func upTo(dir string, depth int) string {
	at := 0
	for range depth {
		n := strings.IndexByte(dir[at:], '/')
		if n < 0 {
			return dir
		}
		name := dir[at : at+n]
		if at += n + 1; isUnread(name) {
			break
		}
	}
	return dir[:at]
}

// isUnread reports whether a folder of this name holds what tools put there, and nobody reads.
func isUnread(name string) bool {
	switch name {
	case "node_modules", ".git", "__pycache__", ".venv", "venv", "site-packages", "vendor", ".next", ".cache", ".gradle",
		".mypy_cache", ".pytest_cache", ".terraform", ".yarn", "Pods":
		return true
	}
	return false
}

// describe counts the names in a folder by their endings.
func (f *folder) describe() string {
	s := plural(f.n, "name", "names")
	if f.folders > 1 {
		s += " in " + amount(f.folders, false, "folder")
	}
	list := f.endings.MostFrequent()
	var kinds []string
	for _, c := range list[:min(len(list), endingsShown)] {
		if c.Text != "" {
			kinds = append(kinds, fmt.Sprintf("%s ×%d", c.Text, c.N))
		}
	}
	if len(kinds) == 0 {
		return s
	}
	if len(list) > endingsShown {
		kinds = append(kinds, "…")
	}
	return s + ": " + strings.Join(kinds, ", ")
}

// choose shows what matters: what is no file, then the first files of each folder that is told of, then the first and
// the last of each folder, and then the others.
func (l *listing) choose() {
	const most = 3
	var first, ends, other []int
	for _, g := range l.groups {
		g.seen = 0
	}
	for i, k := range l.folder {
		if k < 0 {
			if strings.TrimSpace(l.p.line(i)) != "" {
				first = append(first, i)
			}
			continue
		}
		f := l.folders[k]
		unread := f.group.path != f.path && f.group.folders > 1
		switch f.group.seen++; {
		case f.group.seen <= most:
			first = append(first, i)
		case !unread && (i == f.first || i == f.last):
			ends = append(ends, i)
		default:
			other = append(other, i)
		}
	}
	l.p.takeSpread(first, l.p.left)
	l.p.takeSpread(ends, l.p.left)
	l.p.takeSpread(other, l.p.left)
}
