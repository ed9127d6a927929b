package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/alike"
	"epitome/rewrite/recap/deed"
	"epitome/rewrite/shorten"
)

// failures tells the calls of the span that failed and have not succeeded since, the newest first, each with the lines
// of its output that tell why, each line once. Of one that a later run shows in part, or not at all as it succeeded, no
// lines are told, and one that failed as a newer one like it is counted there.
func (c *calls) failures(tokens int) string {
	l := &failureList{calls: c, left: tokens, told: map[string]bool{}, like: map[string]*entry{},
		looks: map[string]*entry{}}
	for _, f := range slices.Backward(c.open) {
		if f.end.Item >= c.sum.to || c.sum.endingOf(f.end).Refusal.IsRefused() {
			continue
		}
		if !l.take(f) {
			break
		}
	}
	var s strings.Builder
	for _, e := range l.entries {
		s.WriteString(e.text(c.sum))
	}
	return s.String()
}

// failureList is what is told of failures.
type failureList struct {
	*calls
	entries []*entry
	left    int               // tokens
	held    int               // failures that were held against later runs
	told    map[string]bool   // lines
	like    map[string]*entry // by the kind of what their lines say
	looks   map[string]*entry // by how their answers look, of which the lines need not be read then
}

// take takes one failure, and reports whether there is room for more.
func (l *failureList) take(f *failure) bool {
	const mostLines, fewLines = 12, 3
	const mostHeld = 24 // failures that are held against later runs: each such run is read
	note, standing := "", notHeld
	if l.held++; l.held <= mostHeld {
		note, standing = l.noteOfLater(f)
	}
	if standing == toldLater {
		l.note(f.res).isAgain = true
		return true
	}
	most := mostLines
	if len(l.entries) > 0 {
		most = fewLines
	}
	m := motive{note: note}
	if standing == notHeld && !l.read(&m, f, most) {
		l.note(f.res).isTold = true
		return true
	}
	e := l.sum.failureEntry(f, m.note, m.lines, l.left)
	if e == nil {
		return false
	}
	l.left -= e.tokens
	l.note(f.res).isTold = true
	if l.entries = append(l.entries, e); m.kind != "" && m.note == "" {
		l.like[m.kind], l.looks[m.look] = e, e
	}
	return true
}

// motive is why a call failed, as its output tells.
type motive struct {
	note  string // what is said of it in place of lines
	lines []string
	look  string // by which its answer is like others
	kind  string // by which its lines are
}

// read reads why a call failed, in so many lines at most, each of which is told once. It reports false for one that was
// counted with a newer one like it.
func (l *failureList) read(m *motive, f *failure, most int) bool {
	m.look = l.sum.lookOf(f)
	if e := l.looks[m.look]; e != nil && m.note == "" {
		e.count(f)
		return false
	}
	all := l.sum.tellingLines(f.end, most)
	m.kind = l.sum.kindOf(f, all)
	if e := l.like[m.kind]; e != nil && m.kind != "" && m.note == "" {
		e.count(f)
		l.looks[m.look] = e
		return false
	}
	if m.lines = newLines(all, l.told); m.note == "" && len(all) > 0 && len(m.lines) == 0 {
		m.note = "; its lines stand above"
	}
	return true
}

// refusals tells the calls of the span that were kept from what they were to do, and were not done since, the newest
// first.
func (c *calls) refusals(tokens int) string {
	var s strings.Builder
	for _, f := range slices.Backward(c.open) {
		if f.end.Item >= c.sum.to || !c.sum.endingOf(f.end).Refusal.IsRefused() {
			continue
		}
		row := c.sum.failureEntry(f, "", nil, tokens)
		if row == nil {
			break
		}
		tokens -= row.tokens
		c.note(f.res).isTold = true
		s.WriteString(row.text(c.sum))
	}
	return s.String()
}

// entry is what is told of a failure, and how many older ones failed like it.
type entry struct {
	head, lines string
	tokens      int
	others      int
	oldest      *failure // of these
}

func (e *entry) count(f *failure) { e.others, e.oldest = e.others+1, f }

func (e *entry) text(r *writer) string {
	if e.others == 0 {
		return e.head + "\n" + e.lines
	}
	calls := "1 other call"
	if e.others > 1 {
		calls = fmt.Sprintf("%d other calls", e.others)
	}
	return fmt.Sprintf("%s; so did %s like it, the oldest in message %d\n%s", e.head, calls,
		plan.NumberOf(r.p, e.oldest.end.Item), e.lines)
}

// lookOf is equal for failures of tools that are none of files and shells, if their answers are short and look alike.
func (r *writer) lookOf(f *failure) string {
	const longest = 400 // bytes
	text := r.p.TextOf(f.end.Item)
	if f.end.Action.Kind != action.Other || len(text) > longest {
		return fmt.Sprint(f.end.Item) // like no other
	}
	kind := alike.Failure{Program: []string{f.res.Name}, Ending: r.endingOf(f.end).InWords()}
	return kind.Look(text)
}

// kindOf is equal for failures that are alike; empty if a failure tells nothing.
func (r *writer) kindOf(f *failure, lines []string) string {
	if len(lines) == 0 || len(f.errands) == 0 || len(f.errands[0].Words) == 0 {
		return ""
	}
	kind := alike.Failure{Program: []string{f.res.Name, f.errands[0].Words[0]}, Ending: r.endingOf(f.end).InWords()}
	for _, t := range f.errands {
		kind.Own = append(append(kind.Own, t.Words...), t.Like)
	}
	return kind.Kind(lines)
}

// newLines are those of lines that tell of a failure, without those that are told.
func newLines(all []string, told map[string]bool) (list []string) {
	for _, l := range all {
		if key := strings.TrimSpace(l); !told[key] {
			told[key], list = true, append(list, l)
		}
	}
	return list
}

// failureEntry tells of one failure with lines of its output, in at most so many tokens; nil if it does not fit.
func (r *writer) failureEntry(f *failure, note string, lines []string, tokens int) *entry {
	head := fmt.Sprintf("%s, message %d: %s", nameOf(r, f.res), plan.NumberOf(r.p, f.end.Item), r.endingOf(f.end).InWords())
	if f.times > 1 {
		head += fmt.Sprintf(", %d times in a row", f.times)
	}
	if f.again > 0 {
		head += fmt.Sprintf("; called again in message %d, which does not tell how that ended", plan.NumberOf(r.p, f.again))
	}
	if f.other != nil {
		head += fmt.Sprintf("; with other values it was called in message %d: %s", plan.NumberOf(r.p, f.other.Item), r.endingOf(f.other).InWords())
	}
	if note == "" && f.end.Action.Kind == action.Other && r.endingOf(f.end).Refusal.How == "" {
		if fields := deed.InPlaceOf(lines, func() string { return r.p.TextOf(f.end.Item) }); fields != "" {
			head, lines = head+"; a preview of some of its fields follows", []string{fields}
		}
	}
	e := &entry{head: head + note}
	if e.tokens = r.p.Count(e.head + "\n"); e.tokens > tokens {
		return nil
	}
	for _, l := range lines {
		l = "> " + strings.TrimRight(l, " \t\r") + "\n"
		n := r.p.Count(l)
		if e.tokens+n > tokens {
			break
		}
		e.tokens, e.lines = e.tokens+n, e.lines+l
	}
	return e
}

// nameOf is a call in words: of one that is none of files and shells with its values.
func nameOf(r *writer, res *history.Result) string {
	if res.Action.Kind != action.Other {
		return res.About()
	}
	return deedOf(r, res).InWords()
}

// tellingLines are the lines of a result that tell what failed, as they stand there. That a call was refused is told
// already, with the user's words.
func (r *writer) tellingLines(res *history.Result, most int) []string {
	if r.endingOf(res).Refusal.How != "" {
		return nil
	}
	screen, _ := shorten.FinalScreen(r.p.TextOf(res.Item))
	list := excerpt.Failures(screen, most)
	list = slices.DeleteFunc(list, exitLine.MatchString)
	if line := r.endingOf(res).Line; len(list) == 0 && line != "" && !exitLine.MatchString(line) {
		list = []string{line}
	}
	if len(list) == 0 {
		list = lastLines(screen, 2)
	}
	return shorten.WholeLines(screen, list)
}

// exitLine finds a line that says the exit state and nothing else: that is told already.
var exitLine = pattern.Of(`(?i)^\W*(?:process |command )?(?:exit(?:ed)?|return)[ _]?(?:with )?(?:code|status)?\W*\d+\W*$`)

// lastLines are the last lines of a text that say something and are not long.
func lastLines(text string, most int) (list []string) {
	const longest = 300 // bytes
	for text = strings.TrimSpace(text); text != "" && len(list) < most; {
		at := strings.LastIndexByte(text, '\n') + 1
		l := strings.TrimSpace(text[at:])
		if l != "" && l != "Output:" && len(l) <= longest && !exitLine.MatchString(l) {
			list = append(list, l)
		}
		text = strings.TrimRight(text[:at], "\r\n \t")
	}
	slices.Reverse(list)
	return list
}
