package excerpt

import (
	"epitome/rewrite/excerpt/form"
)

// Hidden is how many warnings of one form a gap has, and a line that is shown and has it, too.
type Hidden struct{ N, Line int }

// findAgain finds the warnings of forms that come often, but for the first and the last of each.
func (c *scorer) findAgain() {
	if c.code {
		return
	}
	met, last := map[uint64]bool{}, map[uint64]int{}
	for i := range c.lines {
		l := &c.lines[i]
		if l.kind != form.Warning || l.shape == 0 || c.forms[l.shape] < often {
			continue
		}
		c.again[i] = met[l.shape]
		met[l.shape] = true
		last[l.shape] = i
	}
	for _, i := range last {
		c.again[i] = false
	}
}

// shownForms returns the number of the first line of each form that is shown.
func shownForms(s *selection) map[uint64]int {
	shown, n := map[uint64]int{}, 1
	for i := range s.lines {
		l := &s.lines[i]
		if s.taken[i] && l.kind == form.Warning && shown[l.shape] == 0 {
			shown[l.shape] = n
		}
		n += max(l.lines, 1)
	}
	return shown
}

// hidden returns how many of the lines from i up to end are warnings of one form that is shown elsewhere, of the most
// frequent one; nothing if they are few. The form of the line above the gap is left out.
func hidden(s *selection, i, end int, shown map[uint64]int) (most Hidden) {
	n := map[uint64]int{}
	for k := i; k < end; k++ {
		shape := s.lines[k].shape
		if !s.again[k] || shown[shape] == 0 || i > 0 && shape == s.lines[i-1].shape {
			continue
		}
		if n[shape]++; n[shape] >= often && n[shape] > most.N {
			most = Hidden{n[shape], shown[shape]}
		}
	}
	return most
}
