package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/looks"
	"epitome/rewrite/excerpt/stamp"
	"epitome/rewrite/record"
)

// recordsOf finds the records of a text; it returns nil if it has none. No record begins with progress, a trace or a
// complaint.
func recordsOf(text string, all []line) *record.Records {
	lines := make([]record.Line, len(all))
	for i := range all {
		l := &all[i]
		isOf := l.shape != 0 && l.shape != shapeOfBlobs && l.lines == 0
		switch {
		case !isOf, l.kind == form.Noise, l.kind == form.Frame, l.kind == form.Warning, l.kind == form.Failure:
			continue
		}
		body, indent := strings.TrimSpace(text[l.said:l.end]), 0
		if body == "" || !looks.IsLetter(body[0]) { // else it is a field, and no container's name
			whole := body
			if body, indent = stamp.Strip(text[l.said:l.end]); len(body) == len(whole) {
				indent = 0 // nothing stands before it but what is counted below
			}
		}
		lines[i] = record.Line{Body: body, Indent: indent + looks.Indent(text[l.said:l.end])}
	}
	r, ok := record.Of(lines)
	if !ok {
		return nil
	}
	return r
}

// belowNames puts each failure below the line that names its record, if nothing else names it. What says its place is
// of no record, nor is what stands behind it: it may be of another thing.
func belowNames(text string, all []line, r *record.Records) {
	placed := -1 // the record in which a failure said its place
	for i := range all {
		l, k := &all[i], r.Of(i)
		if l.kind != form.Failure || k < 0 {
			continue
		}
		if looks.HasPlace(l.body(text)) {
			placed = k
		}
		at := r.Name(i)
		if at >= 0 && l.under == 0 && k != placed && l.says == form.Silent && all[at].end-all[at].start <= longestLine {
			l.under = int32(at) + 1 //nolint:gosec // bounded by mostLines
		}
	}
}

// rareInRecords scores the lines of records that say what few others do where others say the same, each with the name
// of its record, and with what a short record says that is another thing in each.
func (c *scorer) rareInRecords() {
	const short, lost, fewOf, sometimes = 16, 9, 10, 2 // lines, of a score, one of so many records, lines
	diverse := c.diverse()
	c.rareForms(func(i int) bool { return diverse[c.records.Key(i)] })
	c.oddUnder(c.records.Key)
	odd, beside := map[int]int{}, c.failed() // records, and how much they tell
	for i := range c.lines {
		k, score := c.records.Of(i), int(c.scores[i])
		isRare := score == scoreRare-lostWhereRare || score == scoreRare-2*lostWhereRare
		isHint := c.lines[i].kind == form.Hint && score < telling && c.forms[c.lines[i].shape] <= sometimes
		if k < 0 || !isRare && !isHint || c.lines[i].shape == 0 {
			continue
		}
		odd[k] = max(odd[k], score)
		if beside[k] > 0 {
			beside[k]--
			c.raise(i, scoreBeside)
		}
		if at := c.records.Name(i); at >= 0 {
			c.raise(at, score-1)
		}
	}
	for i := range c.lines {
		k := c.records.Of(i)
		isMore := odd[k] > 0 && diverse[c.records.Key(i)] && c.lines[i].shape != 0
		if isMore && c.records.Len(k) <= short && fewOf*len(odd) <= len(c.records.Starts)+2*fewOf {
			c.raise(i, odd[k]-lost)
		}
	}
}

// failed returns the records in which something failed, each with how many lines beside that may tell why.
func (c *scorer) failed() map[int]int {
	const most = 4
	list := map[int]int{}
	for i := range c.lines {
		if l := &c.lines[i]; l.kind == form.Failure && l.weight > 1 && c.records.Of(i) >= 0 {
			list[c.records.Of(i)] = most
		}
	}
	return list
}

// oddUnder scores the lines that say something else than others of the same key; those of key 0 are left out.
func (c *scorer) oddUnder(key func(line int) uint64) {
	const fewest = 20 // lines that show a habit
	n, said := map[uint64]int{}, map[uint64]*wordings{}
	for i := range c.lines {
		n[key(i)]++
	}
	for i := range c.lines {
		k := key(i)
		if k == 0 || n[k] < fewest || !c.lines[i].isWorded() {
			continue
		}
		w := said[k]
		if w == nil {
			w = &wordings{selection: c.selection}
			said[k] = w
		}
		w.at = append(w.at, i)
		w.texts.Add(w.read(i))
	}
	for _, w := range said {
		if !w.texts.HaveOdd() {
			continue
		}
		for k, i := range w.at {
			if n := w.odd(k); n > 0 {
				c.raise(i, scoreRare-lostWhereRare*n)
			}
		}
	}
}

// diverse returns the keys of lines in records under which lines say many things: none of these is rare. Nor is what
// stands outside of records, and what begins as few lines do where much does.
func (c *scorer) diverse() map[uint64]bool {
	const sometimes, mostSaid, share, fewOf = 2, 24, 4, 20
	n, said := map[uint64]int{}, map[uint64]int{}
	met := map[[2]uint64]bool{}
	for i := range c.lines {
		at := [2]uint64{c.records.Key(i), c.lines[i].shape}
		if n[at[0]]++; !met[at] {
			said[at[0]]++
		}
		met[at] = true
	}
	alone := 0
	for _, all := range n {
		if all <= sometimes {
			alone += all
		}
	}
	list := map[uint64]bool{}
	for key, all := range n {
		isMany := said[key] > mostSaid || share*said[key] > all
		list[key] = all > sometimes && isMany || all <= sometimes && fewOf*alone > len(c.lines)
	}
	list[0] = true
	return list
}
