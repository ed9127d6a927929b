package plan

import (
	"maps"
	"slices"

	"epitome/event"
	"epitome/rewrite/decision"
)

// checkpoint is a plan as it stood before something was tried. The plan owns it: undo puts all of it back, also what the
// plan shares with the history and the inquiry. Checkpoints may be nested; an outer one undoes the inner ones too.
type checkpoint struct {
	plan    Plan // its own fields
	forms   []*decision.Form
	fresh   map[int]bool
	marked  int // names in plan.newNames
	dropped int // results in plan.dropped

	notice   event.Compaction
	tracked  int
	outcomes decision.Outcomes
}

// Checkpoint notes how the plan stands.
func (p *Plan) Checkpoint() checkpoint {
	return checkpoint{
		plan: *p, forms: slices.Clone(p.Forms), fresh: maps.Clone(p.NewForms), marked: len(p.newNames), dropped: len(p.dropped),
		notice: p.Ask.Notice, tracked: p.Ask.FilesNamed, outcomes: p.Ask.Outcomes,
	}
}

// Undo makes the plan what it was at c. The index of lines and the names of artifacts are too large to be copied for each
// checkpoint: the plan logs what it takes out of the one and puts into the other, and undo reverses the log.
func (p *Plan) Undo(c checkpoint) {
	for _, name := range p.newNames[c.marked:] {
		delete(p.ArtifactNames, name)
	}
	for _, r := range p.dropped[c.dropped:] {
		p.Hist.Lines.Restore(r)
	}
	*p = c.plan
	p.Forms, p.NewForms = c.forms, c.fresh
	p.Ask.Notice, p.Ask.FilesNamed, p.Ask.Outcomes = c.notice, c.tracked, c.outcomes
}
