package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/looks"
)

// Excerpt is what is shown of a text: some of its lines, whole and in their order, with gaps between.
type Excerpt struct {
	Parts []Part // together they are all lines of the text
	Lines int    // of the text
	// Rare is what the gaps have beside progress and lines of a form that the text often has.
	Rare string
}

// Part is a run of lines that are shown, or a gap.
type Part struct {
	Text     string // the lines, each with its end
	Gap      bool   // they are left out
	From, To int    // numbers of the first and the last of them; the text's first line is 1
	// Alike is how many lines of a gap have the form of the line shown right before it: equal but for numbers, paths
	// and quoted names, or what a tool writes for things of one kind. No word of failure stands in the one and not in
	// the other. It is 0 where few have it.
	Alike int
	// Failing is how many lines of a gap tell of a failure by their words.
	Failing int
	// Hidden are warnings of a form that comes often and is shown elsewhere.
	Hidden Hidden
}

// Join returns the lines of all gaps, or of all parts between them.
func (e *Excerpt) Join(gaps bool) string {
	var b strings.Builder
	for _, p := range e.Parts {
		if p.Gap == gaps {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Budget is what an excerpt may take.
type Budget struct {
	Tokens int     // of the lines that are shown, and of the marks of all gaps but one
	Head   float64 // which share of what is left for the ends is for the beginning, 0 to 1
	Count  func(text string) int
}

// Of returns an excerpt of a text with the lines that tell what went wrong, with why and how it all ended, and as much
// of its beginning and end as there is room for. Of a text of more than four megabytes, or of very many lines, it looks
// at the two ends. ok is false if nothing would be left out. A line that looks like a mark of epitome's own, beginning
// with mark, is never shown: nobody can write a gap into an excerpt.
func Of(text string, b Budget, mark string) (e Excerpt, ok bool) {
	s := newSelection(text, b, mark)
	s.lines = newJudge().lines(text, bounds{mostBytes, mostLines})
	s.start()
	s.score()
	s.choose()
	return s.excerpt()
}

// Ends returns an excerpt of the beginning and the end of a text.
func Ends(text string, b Budget, mark string) (e Excerpt, ok bool) {
	s := newSelection(text, b, mark)
	unread := func(start, end int) line { return line{start: start, end: end, said: start} }
	s.lines = bounds{mostBytes, mostLines}.split(text, unread)
	s.start()
	s.fill()
	return s.excerpt()
}

// rare returns those of the lines that are left out that are neither progress nor of a form that comes often.
func (s *selection) rare() string {
	var b strings.Builder
	for i := range s.lines {
		l := &s.lines[i]
		if !s.taken[i] && l.kind != form.Noise && l.kind != form.Frame && !l.chat && s.forms[l.shape] < often {
			b.WriteString(looks.Beginning(s.of(i)))
		}
	}
	return b.String()
}

// excerpt is what is chosen, in parts.
func (s *selection) excerpt() (e Excerpt, ok bool) {
	shown := shownForms(s)
	for i := 0; i < len(s.lines); {
		k, n, unread := i, 0, false
		for k < len(s.lines) && s.taken[k] == s.taken[i] {
			n += max(s.lines[k].lines, 1)
			unread = unread || s.lines[k].lines > 0
			k++
		}
		p := Part{Text: s.text[s.lines[i].start:s.lines[k-1].end], Gap: !s.taken[i], From: e.Lines + 1, To: e.Lines + n}
		if p.Gap && !unread {
			p.Failing = s.failing(s.lines[i:k])
			if i > 0 {
				p.Alike = alike(s.lines[i-1], s.lines[i:k])
			}
			p.Hidden = hidden(s, i, k, shown)
		}
		ok = ok || p.Gap
		e.Parts = append(e.Parts, p)
		e.Lines += n
		i = k
	}
	if !ok {
		return Excerpt{}, false
	}
	e.Rare = s.rare()
	return e, true
}

// failing returns how many lines tell of a failure.
func (s *selection) failing(all []line) (n int) {
	if s.code {
		return 0
	}
	for i := range all {
		if all[i].kind == form.Failure && all[i].weight > 1 {
			n++
		}
	}
	return n
}

// alike returns how many lines have the form of one; 0 if few have.
func alike(one line, all []line) int {
	const few = 3
	if one.shape == 0 {
		return 0
	}
	n := 0
	for i := range all {
		if all[i].shape == one.shape {
			n++
		}
	}
	if n < few || 2*n < len(all) {
		return 0
	}
	return n
}
