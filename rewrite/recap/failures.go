package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/alike"
	"epitome/rewrite/recap/deed"
	"epitome/rewrite/recap/fate"
	"epitome/rewrite/recap/past"
	"epitome/rewrite/shorten"
)

// failures tells the calls of the span that failed and have not succeeded since, the newest first, each with the lines
// of its output that tell why, each line once. Of one that a later run shows in part, or not at all as it succeeded, no
// lines are told, and one that failed as a newer one like it is counted there.
func (c *calls) failures(tokens int) string {
	l := &failureList{calls: c, left: tokens, told: map[string]bool{}, like: map[string]*entry{},
		looks: map[string]*entry{}}
	for _, f := range slices.Backward(c.fates.Open) {
		if f.End.Item >= c.span.To || c.span.EndingOf(f.End).Refusal.IsRefused() {
			continue
		}
		if !l.take(f) {
			break
		}
	}
	var s strings.Builder
	for _, e := range l.entries {
		s.WriteString(e.text(c.span))
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
func (l *failureList) take(f *fate.Failure) bool {
	const mostLines, fewLines = 12, 3
	const mostHeld = 24 // failures that are held against later runs: each such run is read
	note, standing := "", notHeld
	if l.held++; l.held <= mostHeld {
		note, standing = l.noteOfLater(f)
	}
	if standing == toldLater {
		l.fates.ToldAgain(f)
		return true
	}
	most := mostLines
	if len(l.entries) > 0 {
		most = fewLines
	}
	m := motive{note: note}
	if standing == notHeld && !l.read(&m, f, most) {
		l.isTold[f.Res] = true
		return true
	}
	e := l.failureEntry(f, m.note, m.lines, l.left)
	if e == nil {
		return false
	}
	l.left -= e.tokens
	l.isTold[f.Res] = true
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
func (l *failureList) read(m *motive, f *fate.Failure, most int) bool {
	m.look = l.lookOf(f)
	if e := l.looks[m.look]; e != nil && m.note == "" {
		e.count(f)
		return false
	}
	all := l.tellingLines(f.End, most)
	m.kind = l.kindOf(f, all)
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
	for _, f := range slices.Backward(c.fates.Open) {
		if f.End.Item >= c.span.To || !c.span.EndingOf(f.End).Refusal.IsRefused() {
			continue
		}
		row := c.failureEntry(f, "", nil, tokens)
		if row == nil {
			break
		}
		tokens -= row.tokens
		c.isTold[f.Res] = true
		s.WriteString(row.text(c.span))
	}
	return s.String()
}

// entry is what is told of a failure, and how many older ones failed like it.
type entry struct {
	head, lines string
	tokens      int
	others      int
	oldest      *fate.Failure // of these
}

func (e *entry) count(f *fate.Failure) { e.others, e.oldest = e.others+1, f }

func (e *entry) text(s *past.Span) string {
	if e.others == 0 {
		return e.head + "\n" + e.lines
	}
	calls := "1 other call"
	if e.others > 1 {
		calls = fmt.Sprintf("%d other calls", e.others)
	}
	return fmt.Sprintf("%s; so did %s like it, the oldest in message %d\n%s", e.head, calls,
		s.NumberOf(e.oldest.End), e.lines)
}

// lookOf is equal for failures of tools that are none of files and shells, if their answers are short and look alike.
func (c *calls) lookOf(f *fate.Failure) string {
	const longest = 400 // bytes
	text := c.span.TextOf(f.End)
	if f.End.Action.Kind != action.Other || len(text) > longest {
		return fmt.Sprint(f.End.Item) // like no other
	}
	kind := alike.Failure{Program: []string{f.Res.Name}, Ending: c.span.EndingOf(f.End).InWords()}
	return kind.Look(text)
}

// kindOf is equal for failures that are alike; empty if a failure tells nothing.
func (c *calls) kindOf(f *fate.Failure, lines []string) string {
	if len(lines) == 0 || len(f.Errands) == 0 || len(f.Errands[0].Words) == 0 {
		return ""
	}
	program := []string{f.Res.Name, f.Errands[0].Words[0]}
	kind := alike.Failure{Program: program, Ending: c.span.EndingOf(f.End).InWords()}
	for _, t := range f.Errands {
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
func (c *calls) failureEntry(f *fate.Failure, note string, lines []string, tokens int) *entry {
	ending := c.span.EndingOf(f.End)
	head := fmt.Sprintf("%s, message %d: %s", nameOf(c.span, f.Res), c.span.NumberOf(f.End), ending.InWords())
	if f.Times > 1 {
		head += fmt.Sprintf(", %d times in a row", f.Times)
	}
	if f.Again > 0 {
		head += fmt.Sprintf("; called again in message %d, which does not tell how that ended",
			plan.NumberOf(c.span.Plan, f.Again))
	}
	if f.Other != nil {
		head += fmt.Sprintf("; with other values it was called in message %d: %s", c.span.NumberOf(f.Other),
			c.span.EndingOf(f.Other).InWords())
	}
	if f.Beside != nil {
		head += fmt.Sprintf("; in message %d it succeeded, behind a command that may have put other work or another target there",
			c.span.NumberOf(f.Beside))
	}
	if note == "" && f.End.Action.Kind == action.Other && ending.Refusal.How == "" {
		if fields := deed.InPlaceOf(lines, func() string { return c.span.TextOf(f.End) }); fields != "" {
			head, lines = head+"; a preview of some of its fields follows", []string{fields}
		}
	}
	e := &entry{head: head + note}
	if e.tokens = c.span.Plan.Count(e.head + "\n"); e.tokens > tokens {
		return nil
	}
	for _, l := range lines {
		l = "> " + strings.TrimRight(l, " \t\r") + "\n"
		n := c.span.Plan.Count(l)
		if e.tokens+n > tokens {
			break
		}
		e.tokens, e.lines = e.tokens+n, e.lines+l
	}
	return e
}

// nameOf is a call in words: of one that is none of files and shells with its values.
func nameOf(s *past.Span, res *history.Result) string {
	if res.Action.Kind != action.Other {
		return res.About()
	}
	return deedOf(s, res).InWords()
}

// tellingLines are the lines of a result that tell what failed, as they stand there. That a call was refused is told
// already, with the user's words.
func (c *calls) tellingLines(res *history.Result, most int) []string {
	if c.span.EndingOf(res).Refusal.How != "" {
		return nil
	}
	screen, _ := shorten.FinalScreen(c.span.TextOf(res))
	list := excerpt.Failures(screen, most)
	list = slices.DeleteFunc(list, past.ExitLine.MatchString)
	if line := c.span.EndingOf(res).Line; len(list) == 0 && line != "" && !past.ExitLine.MatchString(line) {
		list = []string{line}
	}
	if len(list) == 0 {
		list = lastLines(screen, 2)
	}
	return shorten.WholeLines(screen, list)
}

// lastLines are the last lines of a text that say something and are not long.
func lastLines(text string, most int) (list []string) {
	const longest = 300 // bytes
	for text = strings.TrimSpace(text); text != "" && len(list) < most; {
		at := strings.LastIndexByte(text, '\n') + 1
		l := strings.TrimSpace(text[at:])
		if l == "Output:" { // above it stands what the client says of the call
			break
		}
		if l != "" && len(l) <= longest && !past.ExitLine.MatchString(l) {
			list = append(list, l)
		}
		text = strings.TrimRight(text[:at], "\r\n \t")
	}
	slices.Reverse(list)
	return list
}
