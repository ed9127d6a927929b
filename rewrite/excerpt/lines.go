package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/looks"
	"epitome/rewrite/linenumber"
)

// bounds are how much of a text is read at each of its ends.
type bounds struct{ bytes, lines int }

// What excerpts look at of a text that is very long. What stands between is a gap.
const (
	mostBytes = 2 << 20
	mostLines = 50_000
)

// ends cuts a text into its ends and what stands between; within the bounds all is head. No line is torn.
func (b bounds) ends(text string) (head, middle, tail string) {
	if len(text) <= 2*b.bytes && strings.Count(text, "\n") <= 2*b.lines {
		return text, "", ""
	}
	from, n := 0, 0
	for n < b.lines {
		end := strings.IndexByte(text[from:min(len(text), b.bytes)], '\n') + 1
		if end == 0 {
			break
		}
		from, n = from+end, n+1
		if from >= b.bytes {
			break
		}
	}
	to := len(text)
	for n = 0; n < b.lines; n++ {
		least := max(from, len(text)-b.bytes)
		if to-1 <= least {
			break
		}
		start := strings.LastIndexByte(text[least:to-1], '\n')
		if start < 0 {
			break
		}
		to = least + start + 1
	}
	return text[:from], text[from:to], text[to:]
}

// split returns the lines of a text as look sees them. What stands between its ends is one of them, unread.
func (b bounds) split(text string, look func(start, end int) line) []line {
	head, middle, tail := b.ends(text)
	all := make([]line, 0, 3+strings.Count(head, "\n")+strings.Count(tail, "\n"))
	read := func(part string, at int) {
		for part != "" {
			end := strings.IndexByte(part, '\n') + 1
			if end == 0 {
				end = len(part)
			}
			all = append(all, look(at, at+end))
			part, at = part[end:], at+end
		}
	}
	read(head, 0)
	if middle != "" {
		n := strings.Count(middle, "\n")
		if tail == "" && !strings.HasSuffix(middle, "\n") {
			n++
		}
		all = append(all, line{start: len(head), end: len(head) + len(middle), said: len(head), clock: -1, lines: n})
	}
	read(tail, len(head)+len(middle))
	return all
}

// lines reads the lines of a text.
func (j *judge) lines(text string, b bounds) []line {
	j.numbers = linenumber.Of(text)
	all := b.split(text, func(start, end int) line { return j.look(text, start, end) })
	belowFiles(text, all)
	belowPlaces(text, all)
	endsOfTraces(text, all)
	return all
}

// endsOfTraces finds the lines that end traces of Python: what is raised has any name, as queue.Empty.
func endsOfTraces(text string, all []line) {
	above, frames := -1, 0
	for i := range all {
		l := &all[i]
		isPython := l.row != nil && l.row.Tool == "Python"
		switch {
		case isPython && l.kind == form.Heading:
			above, frames = i, 0
		case above < 0:
		case isPython && l.kind == form.Frame:
			frames++
		case l.lines > 0, l.shape == 0:
			above = -1
		case l.indent <= all[above].indent:
			l.raised = frames > 0 && looks.IsRaised(l.body(text))
			if l.raised && l.kind != form.Failure {
				l.kind, l.weight, l.row, l.says = form.Failure, 3, nil, form.Silent
				l.chat, l.troubled = false, true
			}
			above = -1
		}
	}
}

// belowFiles finds the lines that name a file once, above its complaints, as linters do.
func belowFiles(text string, all []line) {
	file, told := int32(0), false
	for i := range all {
		switch l := &all[i]; {
		case l.lines > 0, l.shape == 0 && !told: // another may be named where nothing was read; or it was one of a list
			file = 0
		case l.shape == 0: // empty
		case l.indent == 0:
			file, told = 0, false
			if looks.IsFile(l.body(text)) {
				file = int32(i) + 1 //nolint:gosec // bounded by mostLines
			}
		case file > 0 && looks.StartsInFile(l.body(text)):
			if told = true; l.kind == form.Failure {
				l.under = file
			}
		}
	}
}

// belowPlaces finds the lines that say where something is, above the code there and the message.
func belowPlaces(text string, all []line) {
	last, p := -2, place{at: -1}
	for i := range all {
		l := &all[i]
		switch {
		case l.lines > 0:
			p.at = -1
		case l.shape == 0:
			p.blanks++
		case looks.IsPlace(l.body(text)):
			if p = (place{at: i}); last == i-1 { // one of a list, or of a trace
				p.at = -1
			}
			last = i
		case p.at >= 0 && p.isFor(text, all, i):
			l.under = int32(p.at) + 1 //nolint:gosec // bounded by mostLines
		}
	}
}

// place is a line that says where something is, and what stood below it so far.
type place struct {
	at            int // -1 if there is none
	blanks, lines int
	flat          int // lines no deeper than it, that are no code in a frame
	told          bool
}

// isFor reports whether line i is a failure at the place, and notes it. What a tool says of its own run is not.
func (p *place) isFor(text string, all []line, i int) bool {
	const far = 12 // lines
	l, above := &all[i], p.lines
	p.lines++
	isFlat := l.indent <= all[p.at].indent
	isApart := above == 0 && p.blanks > 0 && l.kind == form.Failure
	if isApart || p.blanks > 1 || i-p.at > far || p.flat > 1 || isFlat && p.told {
		p.at = -1
		return false
	}
	switch l.kind {
	case form.Failure, form.Warning:
		if p.told = true; isFlat {
			p.flat += 2 // nothing more is said of it
		}
		isOwn := l.row == nil || l.row.Loose || l.row.Below
		return l.kind == form.Failure && l.under == 0 && isOwn && !looks.HasPlace(l.body(text))
	}
	if isFlat && !looks.IsFramed(l.body(text)) {
		p.flat++
	}
	return false
}
