package plan

import (
	"fmt"
	"strings"

	"epitome/rewrite/decision"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/mark"
	"epitome/rewrite/outline"
	"epitome/rewrite/shorten"
)

// StubOf is the form of a cleared result.
func StubOf(p *Plan, res *history.Result, why string) *decision.Form {
	return StubWith(p, res, why, "")
}

// StubWith is the form of a cleared result beside which stands what a model wrote of it, line by line.
func StubWith(p *Plan, res *history.Result, why, distillate string) *decision.Form {
	var w Whole
	if list, tokens := p.Passages(res.Item); len(list) == 1 && p.Hist.Media[res.Item] == 0 {
		w = soleText(p, res.Item, &list[0], tokens)
	} else {
		w = PartsOf(p, res.Item)
	}
	w.File = fileOf(p, res, w.Text)
	w.Patch.Text = clearedStub(p, res, &cleared{text: w.Text, why: why, distillate: distillate,
		Content: w.Content, where: WhereOfContent(p, res, w.Patch.Artifact, w.Content)})
	f := &decision.Form{Rung: decision.RungClear, Patches: []decision.Patch{w.Patch}}
	f.Now = patchedSize(p, res.Item, f)
	return f
}

// WhereOfContent says how to get a result back that is made of this. One that was an artifact read back names that one
// too, so that nobody follows a chain of them.
func WhereOfContent(p *Plan, res *history.Result, name string, made Content) string {
	s := p.Advice(name, made)
	if first := RecalledArtifact(p, res); first != "" && first != name {
		s += " (it showed artifact " + first + ")"
	}
	return s
}

// Mark begins every line that epitome puts into a conversation. A text with such a line that names an artifact is not
// cut again.
const Mark = mark.Start + " "

// ArgumentMark begins the line that stands in an argument of a call where a part of it was. A model that writes it
// itself repeats what it should not.
const ArgumentMark = Mark + "a part of this argument is left out here: "

// Marked reports whether a line of the text is a mark of epitome's own. Anyone can write a line that looks like one, so
// it must name an artifact that a form speaks of or that lies on the shelf. Nobody can guess a name, and equal content
// has another one in another scope.
func (p *Plan) Marked(text string) bool {
	const mostLooks = 8 // at the shelf: a forger may write any number of names
	looks := 0
	for at := 0; at < len(text); {
		if at > 0 || !strings.HasPrefix(text, Mark) {
			i := strings.Index(text[at:], "\n"+Mark)
			if i < 0 {
				return false
			}
			at += i + 1
		}
		line, _, _ := strings.Cut(text[at:], "\n")
		at += len(line)
		for name := range mark.NamesLike(line) {
			if p.Sheet.Names(name) {
				return true
			}
			if looks < mostLooks && p.Shelf.Touch(name) {
				return true
			}
			looks++
		}
	}
	return false
}

// Cut is an excerpt of a result, and what is said of it.
type Cut struct {
	excerpt.Excerpt
	Size  string // of the whole
	Of    string // what the lines are of, if not of the text as it came
	Where string
	Names string // in what was left out
}

// ExcerptStub shows lines of a text and says of each gap which lines stand there. The first gap says the rest. about
// names the text.
func ExcerptStub(about string, m Cut) string {
	var b strings.Builder
	first := true
	for i := range m.Parts {
		part := &m.Parts[i]
		switch {
		case !part.Gap:
			b.WriteString(part.Text)
			continue
		case first:
			m.writeFirst(&b, part, about)
			first = false
		default:
			b.WriteString(Mark + inGap(part, " left out") + "]\n")
		}
	}
	return b.String()
}

// writeFirst writes the mark of the first gap, which says of what the lines are and where the whole is.
func (m *Cut) writeFirst(b *strings.Builder, part *excerpt.Part, about string) {
	b.WriteString(Mark + inGap(part, fmt.Sprintf(" of %d left out%s", m.Lines, m.Of)))
	omitted, gaps := 0, 0
	for _, p := range m.Parts {
		if p.Gap {
			omitted += p.To - p.From + 1
			gaps++
		}
	}
	if gaps > 1 {
		fmt.Fprintf(b, ". The %d gaps leave out %d lines", gaps, omitted)
	}
	fmt.Fprintf(b, ". %s has %s. %s", about, m.Size, m.Where)
	if m.Names != "" {
		b.WriteString(". Names in them: " + m.Names)
	}
	b.WriteString("]\n")
}

// inGap says which lines are left out, and how many of them are like the line right above.
func inGap(part *excerpt.Part, gone string) string {
	const large = 2_000 // bytes
	n := part.To - part.From + 1
	switch {
	case n == 1 && len(part.Text) >= large:
		return fmt.Sprintf("line %d%s: it has %d bytes", part.From, gone, len(part.Text))
	case n == 1:
		return fmt.Sprintf("line %d%s", part.From, gone)
	}
	s := fmt.Sprintf("lines %d-%d%s: %d lines", part.From, part.To, gone, n)
	if part.Alike > 0 && part.Alike < n {
		s += fmt.Sprintf(", %d of them", part.Alike)
	}
	if part.Alike > 0 {
		s += fmt.Sprintf(" of the form of line %d", part.From-1)
	}
	if h := part.Hidden; h.N > 0 {
		s += fmt.Sprintf(", %d warnings of the form of line %d", h.N, h.Line)
	}
	if part.Failing > 0 {
		s += fmt.Sprintf(", %d with words of failure", part.Failing)
	}
	return s
}

// Sketch is an outline of a result, and what is said of it.
type Sketch struct {
	*outline.Outline
	Content
	Size  string // of the whole
	Of    string // what the lines are of, if not of the text as it came
	Where string
}

// OutlineStub shows what a text is made of, which about names.
func OutlineStub(about string, s *Sketch) string {
	if s.Outline.Kind == outline.JSON {
		return fmt.Sprintf("%spreview of a JSON value of %s from %s. %s]\n%s", Mark, s.Size, about, s.Where, s.Text)
	}
	return fmt.Sprintf("%soutline of %d lines%s, %s, of %s. %s. A line that begins with … stands for lines left out. %s]\n%s",
		Mark, s.Lines, s.Of, s.Size, about, shownOf(s.Outline.Kind), s.Where, s.Text)
}

// shownOf says which lines an outline of this kind shows.
func shownOf(k outline.Kind) string {
	switch k {
	case outline.Source:
		return "Shown are its head, its tail, and the lines between them that define something"
	case outline.Diff:
		return "Shown are the headers of files and of hunks, and lines that have changed"
	case outline.Matches:
		return "Shown are the first matches of each file"
	case outline.Listing:
		return "Shown are the first and the last files of each folder"
	}
	return "Shown are the first and the last rows, and those that differ"
}

// ScreenStub shows terminal output as it would stand on the screen in the end.
func ScreenStub(screen, size, where string) string {
	if screen != "" && !strings.HasSuffix(screen, "\n") {
		screen += "\n"
	}
	return fmt.Sprintf("%s%sabove is the final screen of terminal output of %s. %s]", screen, Mark, size, where)
}

// ReferenceStub stands in a result where lines were that an earlier one holds.
func ReferenceStub(p *Plan, res *history.Result, r shorten.Repeat) string {
	earlier := &p.Hist.Results[p.Hist.ResultAt[r.Item]]
	return fmt.Sprintf("%slines %d-%d are left out: but for line numbers and trailing spaces they are lines %d-%d of the "+
		"earlier result of %s%s]\n", Mark, r.First, r.Last, r.At, r.At+r.Last-r.First, earlier.About(),
		placeBefore(p, res, earlier))
}

// placeBefore tells an earlier result from others of the same call that stand before this one. Of one that is far off
// it says nothing.
func placeBefore(p *Plan, res, earlier *history.Result) string {
	const far = 100 // results
	from, to, others := p.Hist.ResultAt[earlier.Item], p.Hist.ResultAt[res.Item], 0
	if to-from > far {
		return ""
	}
	about := earlier.About()
	for k := from + 1; k < to; k++ {
		if p.Hist.Results[k].About() == about {
			others++
		}
	}
	if others == 0 {
		return ", the last one before this"
	}
	if others == 1 {
		return ", the last but one before this"
	}
	return fmt.Sprintf(", the last but %d before this", others)
}
