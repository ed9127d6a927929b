package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/stamp"
	"epitome/rewrite/wording"
)

// wordings are what the lines of a text say that tell nothing by their words or their form.
type wordings struct {
	*selection
	texts wording.Texts
	at    []int // lines
	said  []byte
}

// wordings learns what the lines say; ok is false if most tell something, or if what they say has many wordings.
func (s *selection) wordings() (w *wordings, ok bool) {
	w = &wordings{selection: s}
	for i := range s.lines {
		if s.lines[i].isWorded() {
			w.at = append(w.at, i)
			w.texts.Add(w.read(i))
		}
	}
	return w, 2*len(w.at) >= len(s.lines) && w.texts.AreFew()
}

// read returns what a line says, until the next is read.
func (w *wordings) read(i int) []byte {
	body, _ := stamp.Strip(w.lines[i].body(w.text))
	w.said = append(w.said[:0], body...)
	return w.said
}

// odd returns how many lines say what the k-th does, if that is odd; otherwise 0.
func (w *wordings) odd(k int) int { return w.texts.Odd(k, w.read(w.at[k])) }

// isWorded reports whether a line tells nothing by its words or its form, or only how far a program has come.
func (l *line) isWorded() bool {
	return (l.kind == form.Plain && l.row == nil || l.kind == form.Noise) && l.shape != 0 && l.lines == 0
}

// Odd returns the lines that say what no other does, whole, in their order, in at most room bytes, where all others say
// the same of different things; none if there are many. What stands among the first lines is a heading, and a word
// alone says nothing. Of a text of more than a megabyte, or of very many lines, it looks at the two ends.
func Odd(text string, room int) []string {
	const most = 4
	s := newSelection(text, Budget{}, "")
	s.lines = newJudge().lines(text, bounds{bytes: mostRead, lines: mostLines})
	if (&scorer{selection: s}).isProgram() {
		return nil
	}
	w, ok := s.wordings()
	if !ok {
		return nil
	}
	var list []string
	for _, i := range w.alone() {
		line := strings.TrimSpace(s.of(i))
		if i < often || !strings.Contains(line, " ") {
			continue
		}
		if room -= len(line); room < 0 || len(list) == most {
			return nil
		}
		list = append(list, line)
	}
	return list
}

// alone returns the lines that say what no other does: those of a wording of their own, and those that tell something
// by their words in a form of their own, but for the last line: how it all ended is told otherwise.
func (w *wordings) alone() (list []int) {
	forms, k, last := map[uint64]int{}, 0, 0
	for i := range w.lines {
		if forms[w.lines[i].shape]++; w.lines[i].shape != 0 {
			last = i
		}
	}
	for i := range w.lines {
		l := &w.lines[i]
		switch {
		case k < len(w.at) && w.at[k] == i:
			if w.odd(k) == 1 {
				list = append(list, i)
			}
			k++
		case l.kind == form.Hint, l.kind == form.Warning, l.kind == form.Failure:
			if forms[l.shape] == 1 && i != last {
				list = append(list, i)
			}
		}
	}
	return list
}

// byWording gives lines one form that say the same of different things, where most lines do, and scores those that say
// something else. It reports whether most do. Lines that tell something by their words keep their forms.
func (c *scorer) byWording() bool {
	if c.code {
		return false
	}
	w, ok := c.wordings()
	for k := 0; ok && k < len(w.at); k++ {
		if n := w.odd(k); n > 0 {
			c.raise(w.at[k], scoreRare-lostWhereRare*n)
		} else if kind, ok := w.texts.Of(k); ok {
			c.reform(w.at[k], uint64(kind)) //nolint:gosec // not negative
		}
	}
	return ok
}

// reform gives a line the form of a wording.
func (c *scorer) reform(i int, kind uint64) {
	const start = 0x9e3779b97f4a7c15 // tells their forms from others
	l := &c.lines[i]
	c.forms[l.shape]--
	l.shape = start + kind
	c.forms[l.shape]++
}
