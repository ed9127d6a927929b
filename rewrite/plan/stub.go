package plan

import (
	"fmt"
	"strings"

	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/mark"
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
	w.File = fileOf(p, res)
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

// ReferenceStub stands in a result where lines were that an earlier one holds.
func ReferenceStub(p *Plan, res *history.Result, r shorten.Repeat) string {
	earlier := &p.Hist.Results[p.Hist.ResultAt[r.Item]]
	return fmt.Sprintf("%slines %d-%d are left out: but for line numbers and trailing spaces they are lines %d-%d of the "+
		"earlier result of %s%s]\n", Mark, r.First, r.Last, r.At, r.At+r.Last-r.First, earlier.String(),
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
	about := earlier.String()
	for k := from + 1; k < to; k++ {
		if p.Hist.Results[k].String() == about {
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
