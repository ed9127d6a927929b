package ladder

import (
	"cmp"
	"slices"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
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
// request neither fits then nor is a tenth smaller, nothing changes and s.Stage is StageNone.
func (s State) Rescue(from Stage) {
	switch {
	case s.Request.Upkeep == conversation.ProviderRemembers:
		s.Reason = event.CodeProviderRemembers
		return
	case s.prefixEnd <= s.Request.Lead: // the prefix is only a system prompt
		s.Reason = event.CodeNothingOlder
		return
	}
	before := *s.Plan
	enough := int((1 - minGain) * float64(s.Total))
	first := max(StageClear, min(from, StageBare)) // StageUsers comes only behind StageBare
	if s.isRoundOpen() {                           // no part of the round may change, so it can only go as a whole
		first = StageBare
	} else {
		s.clearAll(s.stale(0, 100), 1, event.CodeRefused) // at most 500 characters stay of each, about
	}
	for stage := first; stage <= StageUsers; stage++ {
		s.Stage = stage
		s.take(func() { s.goTo(stage) })
		// A tenth less may do: the user's messages go only after another refusal, or if all else was too little.
		mayDo := stage == StageBare && from < StageUsers && s.Total <= enough
		if mayDo || s.Total <= s.most() {
			break
		}
	}
	if s.Total > max(enough, s.most()) {
		*s.Plan = before
		s.Reason = event.CodeSavesLittle
	}
}

// goTo makes the edits of one stage.
func (s State) goTo(stage Stage) {
	switch stage {
	case StageClear:
		s.clearAll(s.clearable(), leastFreed, event.CodeRefused)
	case StageCompact:
		s.compact()
	case StageBare:
		s.dropsKept = true
		newCompaction(s, true).replace(s.prefixEnd, 0)
	case StageUsers:
		s.leaveUsers()
	}
}

// fitResults cuts results hard until the request fits: first those that the model has seen, then the others, no more
// than they must be. Cuts that do not make it fit are undone, unless the provider has refused it: a bit less may do.
func (s State) fitResults() {
	const shortTokens, shorterTokens = 1_100, 140 // that are left of a result: some 4,000 and 500 characters
	before := *s.Plan
	s.cutResults(shortTokens, false)
	s.cutResults(shorterTokens, false)
	for keep := s.most(); keep > shorterTokens; keep = keep * 3 / 4 {
		s.cutResults(keep, true)
	}
	if s.Total > s.most() && !s.Refused {
		*s.Plan = before
	}
}

// cutResults cuts results to about keep tokens, the oldest first, until the request fits: if unseen those that the
// model must still be shown (mustShow), else all others. Of these only a stub stays if an excerpt saves too little.
func (s State) cutResults(keep int, unseen bool) {
	most := s.most()
	for i := range s.Request.Items {
		if s.Total <= most {
			return
		}
		isShort := s.forms[i].tokens <= keep+stubTokens // with its note
		if isShort || !s.mayShorten(i) || s.mustShow(i) != unseen {
			continue
		}
		edits := s.shorten(i, 0, keep) // with the limit 0, each text is over it
		if !s.compactBy(leastSaving, event.CodeCut, edits...) && !unseen {
			s.compactBy(leastSaving, event.CodeCut, s.stub(i))
		}
	}
}

// leaveUsers puts stubs in the place of whole messages of the user until the request fits: the largest first, the
// newest last. A request without tools is left to the provider's refusal, as its model could not read the artifacts; so
// is one whose messages cannot be kept.
func (s State) leaveUsers() {
	var items []int
	for i := s.Request.Lead; i < len(s.Request.Items); i++ {
		if s.mayReplace(i, conversation.User) {
			items = append(items, i)
		}
	}
	if len(items) == 0 || s.Request.Tools.Empty() || s.NothingKept {
		return
	}
	older := items[:len(items)-1]
	slices.SortStableFunc(older, func(a, b int) int { return s.forms[b].tokens - s.forms[a].tokens })
	for k, i := range items {
		what := "a message of the user"
		if k == len(older) {
			what = "the newest message of the user"
		}
		e := s.clearEdit(i, what, ", too long for this window: you need to read it before you go on", "")
		if s.Total > s.Limits.Usable && e.Saved >= leastFreed {
			s.Add(ledger.StepCompact, event.CodeUser, e)
		}
	}
}

// Pair mends pairs of calls and results that the provider has refused. A result whose call is not before it is left
// out. A call without a result gets one: the text of a result that stands elsewhere, or else that there is none.
func (s State) Pair() {
	calls, results := s.Request.Unpaired()
	late := map[string]ledger.Edit{} // what results that are left out say, with its artifacts, by the ID of the call
	uses := map[string]int{}         // of each ID, by calls and results
	for i := range s.Request.Items {
		uses[s.Request.Items[i].Answers]++
		for _, call := range s.Request.Items[i].Calls {
			uses[call.ID]++
		}
	}
	var edits []ledger.Edit
	for _, i := range results {
		it := &s.Request.Items[i]
		if s.forms[i].dropped || it.Locked {
			continue
		}
		said := ledger.Edit{Text: s.Request.TextOf(it)}
		if s.Request.Media(it) != "" || !s.forms[i].isWhole() {
			said = s.stub(i)
		}
		if uses[it.Answers] == 2 { // else another call may have this result
			late[it.Answers] = said
		}
		edits = append(edits, s.leaveUnpaired(i, results))
	}
	for _, at := range calls {
		i, part := at[0], at[1]
		it := &s.Request.Items[i]
		if s.forms[i].dropped || it.Locked {
			continue
		}
		id := it.Calls[part].ID
		text := cmp.Or(late[id].Text, excerpt.Mark+" no result was recorded]")
		e := s.edit(ledger.AddResult, i, 0, text, late[id].Artifacts)
		e.Part = part
		edits = append(edits, e)
	}
	s.Add(ledger.StepClear, event.CodeUnpaired, edits...)
}

// leaveUnpaired returns the edit that leaves out result i, one of those without calls. A note takes its place, unless
// it would part other results.
func (s State) leaveUnpaired(i int, results []int) ledger.Edit {
	e := ledger.Edit{First: i, Count: 1, Op: ledger.Drop, Artifacts: s.keepItems(i, i+1), Saved: s.Size(i, i+1)}
	next := i + 1
	for slices.Contains(results, next) {
		next++
	}
	if next == len(s.Request.Items) || s.Request.Items[next].Role != conversation.Tool {
		s.setText(&e, excerpt.Note("a result left out, as its call is not before it", s.transcriptAt(e.Artifacts)))
	}
	return e
}

// DropThinking takes out all thinking from the first item on that the new edits change: some models accept thinking
// only behind exactly the bytes that preceded it when they thought (State.Binds). The same decision records this, so
// the thinking is never sent again. Thinking of later answers is bound to the changed items, and stays. If the provider
// refused thinking (refused), all goes. Call DropThinking after all other steps, as a later edit could change an
// earlier item.
func (s State) DropThinking(refused bool) {
	if !refused && !s.Binds {
		return
	}
	from := len(s.Request.Items)
	if refused {
		from = 0
	}
	for _, e := range s.Added {
		if e.Op == ledger.AddResult { // which stands behind its item
			e.First++
		}
		from = min(from, e.First)
	}
	var edits []ledger.Edit
	for i := from; i < len(s.Request.Items); i++ {
		if !s.forms[i].thinks {
			continue
		}
		it := &s.Request.Items[i]
		e := ledger.Edit{First: i, Count: 1, Artifacts: []string{s.keepContent(s.Request.Source(i, i+1))}}
		if it.OnlyThinks() { // an item without content would be left
			e.Op, e.Saved = ledger.Drop, s.Size(i, i+1)
		} else {
			e.Op, e.Saved = ledger.DropThinking, s.Request.CountThoughts(s.Scale, it.Thinking)
		}
		edits = append(edits, e)
	}
	s.Add(ledger.StepClear, event.CodeThinking, edits...)
}

// lastThinking returns the last item whose thinking is sent; -1 if there is none.
func (p *Plan) lastThinking() int {
	for i := len(p.forms) - 1; i >= 0; i-- {
		if p.forms[i].thinks {
			return i
		}
	}
	return -1
}

// isRoundOpen reports whether results wait for an answer that must continue the thinking before their calls, by a model
// that accepts it only behind an unchanged prefix: no older item may change until the user's next message.
func (s State) isRoundOpen() bool {
	awaitsAnswer := s.prefixEnd > 0 && s.Request.Items[s.prefixEnd-1].Role == conversation.Tool
	return s.Request.ThinksFirst && awaitsAnswer && s.Binds && s.lastThinking() >= 0
}
