package excerpt

import (
	"slices"
	"strings"
)

// tree is a page as a tool writes it that drives a browser.
type tree struct {
	*selection
	root, main int   // lines that say where it stands, and where its main part begins
	calls      []int // that call out
	focus      []int // that have the focus, or show what they hold
}

// Page returns an excerpt of a page as a tool writes it that drives a browser: where it stands, what it calls out, what
// stands around the focus, and the beginning of its main part, rather than what stands around each page of a site. ok
// is false if a text is none with a main part, or if nothing would be left out.
func Page(text string, b Budget, mark string) (e Excerpt, ok bool) {
	const longest = 4 << 20 // bytes
	if len(text) > longest || !strings.Contains(text, "main") {
		return Excerpt{}, false
	}
	s := newSelection(text, b, mark)
	unread := func(start, end int) line { return line{start: start, end: end, said: start} }
	s.lines = bounds{mostBytes, mostLines}.split(text, unread)
	t := tree{selection: s, root: -1}
	if !t.read() {
		return Excerpt{}, false
	}
	s.start()
	t.choose()
	s.close()
	s.head = 0
	s.fill()
	e, ok = s.excerpt()
	e.Rare = "" // of roles and pieces of addresses no name leads on
	return e, ok
}

// read finds the lines of a page that count, and reports whether it is one with a main part.
func (t *tree) read() bool {
	const near, mostCalls, mostFocus = 24, 4, 3 // lines
	for i := range t.lines {
		switch l := strings.TrimRight(t.of(i), "\r\n"); {
		case i < near && isRoot(l):
			t.root = i
		case t.root < 0 && i >= near:
			return false
		case t.main == 0 && roleOf(l) == "main":
			t.main = i
		case len(t.calls) < mostCalls && slices.Contains(callers, roleOf(l)):
			t.calls = append(t.calls, i)
		case i > near && len(t.focus) < mostFocus && isInFocus(l):
			t.focus = append(t.focus, i)
		}
	}
	return t.root >= 0 && t.main > 0
}

// Shares of a budget of a page, that must be left behind each step.
const (
	leftByHead  = 0.88
	leftByCalls = 0.62
	leftByFocus = 0.45
	leftByMain  = 0.25
)

// choose takes what tells most of a page.
func (t *tree) choose() {
	const belowCall, aboveFocus, belowFocus = 2, 4, 30 // lines
	left := func(share float64) int { return int(share * float64(t.budget)) }
	t.takeRun(0, t.root+1, left(leftByCalls))
	t.takeRun(t.root+1, t.main, left(leftByHead))
	for _, i := range t.calls {
		t.takeRun(i, i+1+belowCall, left(leftByCalls))
	}
	for _, i := range t.focus {
		t.takeRun(max(i-aboveFocus, 0), i+1+belowFocus, left(leftByFocus))
	}
	t.takeRun(t.main, len(t.lines), left(leftByMain))
}

// takeRun takes lines from one up to another, as long as so many tokens are left.
func (t *tree) takeRun(from, to, reserve int) {
	for i := from; i < min(to, len(t.lines)); i++ {
		if !t.isForged(i) && !t.take(i, reserve) {
			return
		}
	}
}

// callers are roles of what calls out.
var callers = []string{"alert", "alertdialog", "dialog"}

// roleOf is the role of an element of a page, as its line begins: `- main [ref=e7]:`, `[120] main 'Cart'`, or
// `uid=1_7 main`. It is empty if the line has none.
func roleOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	mark, rest, ok := strings.Cut(line, " ")
	isMark := mark == "-" || strings.HasPrefix(mark, "uid=") || strings.HasPrefix(mark, "[") && strings.HasSuffix(mark, "]")
	if !ok || !isMark {
		return ""
	}
	if end := strings.IndexFunc(rest, func(c rune) bool { return c < 'A' || c > 'z' }); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// isRoot reports whether a line says where a browser stands.
func isRoot(line string) bool {
	line = strings.TrimLeft(line, " \t")
	for _, begins := range [...]string{"- Page URL: ", "- Page Title: ", `RootWebArea "`, "RootWebArea '"} {
		if strings.HasPrefix(line, begins) {
			return true
		}
	}
	return roleOf(line) == "RootWebArea"
}

// isInFocus reports whether an element has the focus, or shows what it holds.
func isInFocus(line string) bool {
	line = strings.TrimSuffix(line, ":") + ","
	for _, says := range [...]string{" focused,", ", focused ", " [active]", ", expanded=True,", " [expanded]", " expanded,"} {
		if strings.Contains(line, says) {
			return true
		}
	}
	return false
}
