package excerpt

import "strings"

// Excerpt is what is shown of a text: some of its lines, whole and in their order, with gaps between.
type Excerpt struct {
	Parts []Part // together they are all lines of the text
	Lines int    // of the text
}

// Part is a run of lines that are shown, or a gap.
type Part struct {
	Text     string // the lines, each with its end
	Gap      bool   // they are left out
	From, To int    // numbers of the first and the last of them; the text's first line is 1
	// Alike is how many lines of a gap have the form of the line shown right before it: equal but for names, numbers
	// and quoted parts, or what a tool writes for things of one kind. It is 0 where few have it.
	Alike int
	// Failing is how many lines of a gap tell of a failure by their words.
	Failing int
}

// Omitted returns the lines that are left out.
func (e *Excerpt) Omitted() string {
	var b strings.Builder
	for _, p := range e.Parts {
		if p.Gap {
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
// of its beginning and end as there is room for. ok is false if nothing would be left out. A line that looks like a
// mark of epitome's own, beginning with mark, is never shown: nobody can write a gap into an excerpt.
func Of(text string, b Budget, mark string) (e Excerpt, ok bool) {
	s := newSelection(text, b, mark)
	s.lines = newJudge().lines(text)
	s.start()
	s.score()
	s.choose()
	return s.excerpt()
}

// Ends returns an excerpt of the beginning and the end of a text.
func Ends(text string, b Budget, mark string) (e Excerpt, ok bool) {
	s := newSelection(text, b, mark)
	s.lines = split(text)
	s.start()
	s.fill()
	return s.excerpt()
}

// split returns the lines of a text, unread.
func split(text string) []line {
	all := make([]line, 0, 1+strings.Count(text, "\n"))
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '\n') + 1
		if end == 0 {
			end = len(text) - start
		}
		all = append(all, line{start: start, end: start + end})
		start += end
	}
	return all
}

// excerpt is what is chosen, in parts.
func (s *selection) excerpt() (e Excerpt, ok bool) {
	e.Lines = len(s.lines)
	for i := 0; i < len(s.lines); {
		k := i
		for k < len(s.lines) && s.taken[k] == s.taken[i] {
			k++
		}
		p := Part{Text: s.text[s.lines[i].start:s.lines[k-1].end], Gap: !s.taken[i], From: i + 1, To: k}
		if p.Gap {
			p.Failing = s.failing(s.lines[i:k])
		}
		if p.Gap && i > 0 {
			p.Alike = alike(s.lines[i-1], s.lines[i:k])
		}
		ok = ok || p.Gap
		e.Parts = append(e.Parts, p)
		i = k
	}
	if !ok {
		return Excerpt{}, false
	}
	return e, true
}

// failing returns how many lines tell of a failure.
func (s *selection) failing(all []line) (n int) {
	if s.code {
		return 0
	}
	for i := range all {
		if all[i].kind == failure && all[i].weight > 1 {
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
