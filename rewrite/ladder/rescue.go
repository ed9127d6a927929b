package ladder

import (
	"slices"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/view"
)

// Stage is how far a rescue goes. Each stage takes away more than the one before.
type Stage uint8

const (
	StageNone    Stage = iota
	StageClear         // all results outside of the newest groups and tokens are cleared
	StageCompact       // old groups become a summary; if that is not enough it shrinks, then results are cut hard
	StageBare          // all groups of the prefix become a short summary
	StageUsers         // messages of the user become stubs that name artifacts, the newest message last
)

func (s Stage) String() string { return [...]string{"none", "clear", "compact", "bare", "users"}[s] }

// Next returns the stage with which the next try begins when the provider has refused the form of stage s too: often s
// again, as each try must fit fewer tokens. The last try takes no chances with the smaller stages.
func (s Stage) Next(last bool) Stage {
	switch {
	case s >= StageBare:
		return StageUsers
	case last:
		return StageBare
	}
	return max(s, StageClear)
}

// Rescue makes a request that the provider refused fit: it takes one stage after another, beginning with from. If the
// request neither fits then nor is a tenth smaller, nothing changes and p.Stage is StageNone.
func (k *Known) Rescue(p *Plan, from Stage) {
	switch {
	case k.Request.Upkeep == conversation.ProviderRemembers:
		p.Reason = event.CodeProviderRemembers
		return
	case k.prefixEnd <= k.Request.Lead: // the prefix is only a system prompt
		p.Reason = event.CodeNothingOlder
		return
	}
	before := *p
	enough := int((1 - minGain) * float64(p.View.Total))
	first := max(StageClear, min(from, StageBare)) // StageUsers comes only behind StageBare
	if k.isRoundOpen(&p.View) {                    // no part of the round may change, so it can only go as a whole
		first = StageBare
	} else {
		k.clearAll(p, k.stale(&p.View, 0, 100), 1, event.CodeRefused) // at most 500 characters stay of each, about
	}
	for stage := first; stage <= StageUsers; stage++ {
		p.Stage = stage
		p.take(stage.String(), func() { k.goTo(p, stage) })
		// A tenth less may do: the user's messages go only after another refusal, or if all else was too little.
		mayDo := stage == StageBare && from < StageUsers && p.View.Total <= enough
		if mayDo || k.fits(p) {
			break
		}
	}
	if p.View.Total > enough && !k.fits(p) {
		*p = before
		p.Reason = event.CodeSavesLittle
	}
}

// fits reports whether the request has no more tokens than it may.
func (k *Known) fits(p *Plan) bool { return p.View.Total <= k.Budget(p).Most }

// goTo makes the edits of one stage.
func (k *Known) goTo(p *Plan, stage Stage) {
	switch stage {
	case StageClear:
		k.clearAll(p, k.clearable(&p.View), leastFreed, event.CodeRefused)
	case StageCompact:
		k.compact(p)
	case StageBare:
		p.MayDrop = true
		k.newCompaction(p, true).replace(k.prefixEnd, 0)
	case StageUsers:
		k.leaveUsers(p)
	}
}

// fitResults cuts results hard until the request fits: first those that the model has seen, then the others, no more
// than they must be. Cuts that do not make it fit are undone, unless the provider has refused it: a bit less may do.
func (k *Known) fitResults(p *Plan, b Budget) {
	const shortTokens, shorterTokens = 1_100, 140 // that are left of a result: some 4,000 and 500 characters
	before := p.View
	k.cutResults(p, b.Most, shortTokens, false)
	k.cutResults(p, b.Most, shorterTokens, false)
	for keep := b.Most; keep > shorterTokens; keep = keep * 3 / 4 {
		k.cutResults(p, b.Most, keep, true)
	}
	if p.View.Total > b.Most && !k.Demand.Refused {
		p.View = before
	}
}

// cutResults cuts results to about keep tokens, the oldest first, until the request has most tokens: if unseen those
// that the model must still be shown (mustShow), else all others. Of these only a stub stays if an excerpt saves too
// little.
func (k *Known) cutResults(p *Plan, most, keep int, unseen bool) {
	for i := range k.Request.Items {
		v := &p.View
		if v.Total <= most {
			return
		}
		isShort := v.Forms[i].Tokens <= keep+stubTokens // with its note
		if isShort || !k.mayReplace(v, i, conversation.Tool) || k.mustShow(i) != unseen {
			continue
		}
		edits := k.shorten(i, 0, keep) // with the limit 0, each text is over it
		next := k.with(*v, view.StepCompact, event.CodeCut, edits...)
		if v.Total-next.Total <= leastSaving && !unseen {
			next = k.with(*v, view.StepCompact, event.CodeCut, k.stub(v, i))
		}
		if v.Total-next.Total > leastSaving {
			p.View = next
		}
	}
}

// leaveUsers puts stubs in the place of whole messages of the user until the request fits: the largest first, the
// newest last. A request without tools is left to the provider's refusal, as its model could not read the artifacts; so
// is one whose messages cannot be kept.
func (k *Known) leaveUsers(p *Plan) {
	var items []int
	for i := k.Request.Lead; i < len(k.Request.Items); i++ {
		if k.mayReplace(&p.View, i, conversation.User) {
			items = append(items, i)
		}
	}
	if len(items) == 0 || k.Request.Tools.Empty() || k.Artifacts.Nowhere {
		return
	}
	older := items[:len(items)-1]
	tokens := func(i int) int { return p.View.Forms[i].Tokens }
	slices.SortStableFunc(older, func(a, b int) int { return tokens(b) - tokens(a) })
	for n, i := range items {
		what := "a message of the user"
		if n == len(older) {
			what = "the newest message of the user"
		}
		e := k.clearEdit(i, what, ", too long for this window: you need to read it before you go on", "")
		if p.View.Total > k.Limits.Usable && e.Saved >= leastFreed {
			p.View = k.with(p.View, view.StepCompact, event.CodeUser, e)
		}
	}
}
