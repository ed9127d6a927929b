package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
)

// Outcome is how a run ended, by a tool's own words.
type Outcome int8

const (
	// Unknown means that no tool says it.
	Unknown Outcome = iota
	// Succeeded means that a tool says that all went well, and that no line tells of anything else. All was read.
	Succeeded
	// Failed means that a tool says that it failed.
	Failed
)

// Reading is what the output of a command tells by its tools' own words. It is what the text claims, and no more.
type Reading struct {
	Outcome Outcome
	// Line is the one whole line that matters most, without white space around it: what failed first, or, if nothing
	// did or the tool says that all went well, the last total. It is empty if there is none, or if it is very long.
	Line string
	// Tool is whose words Outcome rests on, as "go test"; empty if Unknown.
	Tool string
}

// What Read and Failures look at of a text that is very long: its two ends.
const (
	mostRead    = 512 << 10 // bytes
	longestLine = 400       // bytes of a line that is handed out
	verdictEnds = 60        // lines at the end of a text in which a tool says how its run ended
)

// Read reads the output of a command. Of a text of more than a megabyte, or of very many lines, it reads the two ends.
func Read(text string) Reading {
	all := newJudge().lines(text, bounds{bytes: mostRead, lines: mostLines})
	var r Reading
	best, bestAt, failed, last := 0, 0, false, len(all)-1
	for last > 0 && all[last].shape == 0 {
		last--
	}
	for i := range all {
		l := &all[i]
		if i >= len(all)-verdictEnds {
			r.judge(l, i == last)
		}
		failed = failed || l.troubled || l.lines > 0
		if w := l.worth(); w > best && l.end-l.start <= longestLine {
			best, bestAt = w, i
		}
	}
	if r.Outcome == Succeeded && failed { // one part did, another did not, or was not read
		r.Outcome, r.Tool = Unknown, ""
	}
	if best > 0 && r.Outcome != Succeeded {
		r.Line = strings.TrimSpace(text[all[bestAt].start:all[bestAt].end])
	} else {
		r.Line = lastTotal(text, all)
	}
	return r
}

// judge takes in what a line near the end says of the run. isLast says that nothing stands behind it.
func (r *Reading) judge(l *line, isLast bool) {
	outcome := Failed
	switch {
	case l.says == form.Sought:
		r.Outcome, r.Tool = Unknown, ""
		return
	case l.says == form.Silent, l.says == form.FailsIfLast && !isLast:
		return
	case l.says == form.Succeeds:
		outcome = Succeeded
	}
	if outcome >= r.Outcome {
		r.Outcome, r.Tool = outcome, l.row.Tool
	}
}

// worth says how much a line matters that stands alone; 0 if it tells of no failure, nor of a loss that is no number.
func (l *line) worth() int {
	switch {
	case l.kind == form.Warning && l.row != nil && l.row.Same: // nothing else may say that a training is lost
		return 1
	case l.kind != form.Failure:
		return 0
	case l.says == form.Sought:
		return 6
	case l.row != nil && l.row.Whole:
		return 5
	}
	return 1 + int(l.weight)
}

// lastTotal returns the last line that counts or says how all ended, and rather one that tells more than others.
func lastTotal(text string, all []line) (last string) {
	for i := len(all) - 1; i >= 0; i-- {
		l := &all[i]
		isEmpty := l.kind == form.Noise && l.row.Late // it counts nothing
		isEnd := l.kind == form.Total || l.kind == form.State || l.says != form.Silent
		if !isEnd || isEmpty || l.end-l.start > longestLine {
			continue
		}
		isExit := l.kind == form.State && l.says == form.Silent // who ran it tells that anyway
		late := l.row != nil && (l.row.Late || isExit)
		if !late || last == "" {
			last = strings.TrimSpace(text[l.start:l.end])
		}
		if !late {
			return last
		}
	}
	return last
}
