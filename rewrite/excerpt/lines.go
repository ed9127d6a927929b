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
	return all
}

// belowFiles finds the lines that name a file once, above its complaints, as linters do.
func belowFiles(text string, all []line) {
	file := int32(0)
	for i := range all {
		switch l := &all[i]; {
		case l.shape == 0: // empty
		case l.indent == 0:
			file = 0
			if l.lines == 0 && looks.IsFile(l.body(text)) {
				file = int32(i) + 1 //nolint:gosec // bounded by mostLines
			}
		case file > 0 && l.kind == form.Failure && looks.StartsInFile(l.body(text)):
			l.under = file
		}
	}
}

// belowPlaces finds the lines that say where something is, above the code there and the message.
func belowPlaces(text string, all []line) {
	const far = 12 // lines
	place, blanks := -1, 0
	for i := range all {
		l := &all[i]
		if l.shape == 0 {
			blanks++
		}
		if blanks > 1 || i-place > far {
			place = -1
		}
		switch {
		case l.shape == 0 || l.lines > 0:
		case looks.IsPlace(l.body(text)):
			place, blanks = i, 0
		case place >= 0 && (l.kind == form.Failure || l.kind == form.Warning):
			if l.kind == form.Failure && l.under == 0 && !looks.HasPlace(l.body(text)) {
				l.under = int32(place) + 1 //nolint:gosec // bounded by mostLines
			}
			if l.indent <= all[place].indent {
				place = -1
			}
		}
	}
}
