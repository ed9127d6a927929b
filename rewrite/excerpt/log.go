package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/looks"
)

// IsLog reports whether a text that was read as a file is what programs wrote as they ran: half of its lines begin
// with a time or a level, or are of a tool's own form, or a tool's form of a failure stands in it with its trace,
// its reason or its total. A program that speaks of errors is none. Of a text of more than a megabyte, or of very many
// lines, it looks at the two ends.
func IsLog(text string) bool {
	s := newSelection(text, Budget{}, "")
	s.lines = newJudge().lines(text, bounds{bytes: mostRead, lines: mostLines})
	logged, all, failed, beside := 0, 0, false, false
	for i := range s.lines {
		l := &s.lines[i]
		if l.shape == 0 { // it says nothing, or was not read
			continue
		}
		all++
		isOwn := l.row != nil && !l.row.Loose && !l.row.Late
		if isOwn || l.clock >= 0 || l.chat || looks.HasLevel(s.lines[i].body(s.text)) {
			logged++
		}
		failed = failed || isOwn && l.kind == form.Failure
		beside = beside || isOwn && l.kind != form.Failure && l.kind != form.Warning
	}
	return (2*logged >= all && logged > 0 || failed && beside) && !(&scorer{selection: s}).isProgram()
}

// Trouble returns the lines of a log that tell what failed and why, as Failures does, or, if none do, the first
// warnings of each form; at most most of them.
func Trouble(text string, most int) []string {
	if list := Failures(text, most); len(list) > 0 {
		return list
	}
	s := newSelection(text, Budget{}, "")
	s.lines = newJudge().lines(text, bounds{bytes: mostRead, lines: mostLines})
	seen := map[uint64]bool{}
	var list []string
	for i := range s.lines {
		l := &s.lines[i]
		isLong := l.end-l.start > longestLine
		if l.kind != form.Warning || l.weight == 0 || isLong || seen[l.shape] || len(list) == most {
			continue
		}
		seen[l.shape] = true
		list = append(list, strings.TrimSpace(s.of(i)))
	}
	return list
}
