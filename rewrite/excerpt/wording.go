package excerpt

import (
	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/stamp"
	"epitome/rewrite/wording"
)

// byWording gives lines one form that say the same of different things, where most lines do, and scores those that say
// something else. It reports whether most do. Lines that tell something by their words keep their forms.
func (c *scorer) byWording() bool {
	if c.code {
		return false
	}
	var texts wording.Texts
	var said []byte
	var at []int
	read := func(i int) []byte {
		body, _ := stamp.Strip(c.lines[i].body(c.text))
		said = append(said[:0], body...)
		return said
	}
	for i := range c.lines {
		if c.lines[i].isWorded() {
			at = append(at, i)
			texts.Add(read(i))
		}
	}
	if 2*len(at) < len(c.lines) || !texts.AreFew() {
		return false
	}
	for k, i := range at {
		if n := texts.Odd(k, read(i)); n > 0 {
			c.raise(i, scoreRare-lostWhereRare*n)
		} else if w, ok := texts.Of(k); ok {
			c.reform(i, uint64(w)) //nolint:gosec // not negative
		}
	}
	return true
}

// isWorded reports whether a line tells nothing by its words or its form.
func (l *line) isWorded() bool {
	return l.kind == form.Plain && l.row == nil && l.shape != 0 && l.lines == 0
}

// reform gives a line the form of a wording.
func (c *scorer) reform(i int, w uint64) {
	const wordings = 0x9e3779b97f4a7c15 // tells their forms from others
	l := &c.lines[i]
	c.forms[l.shape]--
	l.shape = wordings + w
	c.forms[l.shape]++
}
