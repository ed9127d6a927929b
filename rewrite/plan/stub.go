package plan

import (
	"strings"

	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/mark"
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
