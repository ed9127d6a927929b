package rewrite

import (
	"maps"
	"slices"

	"epitome/event"
)

// checkpoint is a plan as it stood before something was tried. The plan owns it: undo puts all of it back, also what the
// plan shares with the history and the inquiry. Checkpoints may be nested; an outer one undoes the inner ones too.
type checkpoint struct {
	plan    plan // its own fields
	forms   []*form
	fresh   map[int]bool
	marked  int // names in plan.newNames
	dropped int // results in plan.dropped

	notice   event.Compaction
	tracked  int
	outcomes outcomes
}

// checkpoint notes how the plan stands.
func (p *plan) checkpoint() checkpoint {
	return checkpoint{
		plan: *p, forms: slices.Clone(p.forms), fresh: maps.Clone(p.fresh), marked: len(p.newNames), dropped: len(p.dropped),
		notice: p.notice, tracked: p.tracked, outcomes: p.outcomes,
	}
}

// undo makes the plan what it was at c. The index of lines and the names of artifacts are too large to be copied for each
// checkpoint: the plan logs what it takes out of the one and puts into the other, and undo reverses the log.
func (p *plan) undo(c checkpoint) {
	for _, name := range p.newNames[c.marked:] {
		delete(p.artifactNames, name)
	}
	for _, r := range p.dropped[c.dropped:] {
		p.hist.lines.restore(r)
	}
	*p = c.plan
	p.forms, p.fresh = c.forms, c.fresh
	p.notice, p.tracked, p.outcomes = c.notice, c.tracked, c.outcomes
}
