package plan

import (
	"maps"
	"slices"

	"epitome/rewrite/decision"
)

// checkpoint is a plan as it stood before something was tried. The plan owns it: Undo puts all of it back, also what
// the plan shares with the history. Checkpoints may be nested; an outer one undoes the inner ones too.
type checkpoint struct {
	plan     Plan // its own fields
	forms    []*decision.Form
	newForms map[int]bool
	names    int // how many names the sheet had put into Named
}

// Checkpoint notes how the plan stands.
func (p *Plan) Checkpoint() checkpoint {
	return checkpoint{
		plan: *p, forms: slices.Clone(p.Forms), newForms: maps.Clone(p.Sheet.NewForms),
		names: len(p.Sheet.newNames),
	}
}

// Undo makes the plan what it was at c. The names of artifacts are too large to be copied for each checkpoint: the sheet
// logs what it puts in, and Undo reverses the log.
func (p *Plan) Undo(c checkpoint) {
	for _, name := range p.Sheet.newNames[c.names:] {
		delete(p.Sheet.Named, name)
	}
	*p = c.plan
	p.Forms, p.Sheet.NewForms = c.forms, c.newForms
}
