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
	s.Stage = max(StageClear, min(from, StageBare)) // StageUsers comes only behind StageBare, in the loop
	if s.isRoundOpen() {                            // no part of the round may change, so it can only go as a whole
		s.Stage = StageBare
	} else {
		s.clearAll(s.stale(0, 100), 1, event.CodeRefused) // at most 500 characters stay of each, about
	}
	for {
		switch s.Stage {
		case StageClear:
			s.clearAll(s.clearable(s.Answers), leastFreed, event.CodeRefused)
		case StageCompact:
			s.compact()
		case StageBare:
			s.dropsKept = true
			newCompaction(s, true).replace(s.prefixEnd, 0)
		case StageUsers:
			s.leaveUsers()
		}
		// A tenth less may do: the user's messages go only after another refusal, or if all else was too little.
		mayDo := s.Stage == StageBare && from < StageUsers && s.Total <= enough
		if mayDo || s.Total <= s.most() || s.Stage == StageUsers {
			break
		}
		s.Stage++
	}
	if s.Total > max(enough, s.most()) {
		*s.Plan = before
		s.Reason = event.CodeSavesLittle
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
		if s.forms[i].tokens <= keep+stubTokens || !s.mayShorten(i) || s.mustShow(i) != unseen { // with its note
			continue
		}
		edits := s.shorten(i, 0, keep) // with the limit 0, each text is over it
		for k := range edits {
			edits[k].Step, edits[k].Reason = ledger.StepCompact, event.CodeCut
		}
		if !s.addIfSmaller(leastSaving, edits) && !unseen {
			s.addIfSmaller(leastSaving, []ledger.Edit{s.stub(i, ledger.StepCompact, event.CodeCut)})
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
		e.Step, e.Reason = ledger.StepCompact, event.CodeUser
		if s.Total > s.Limits.Usable && e.Saved >= leastFreed {
			s.Add(e)
		}
	}
}

// Pair mends pairs of calls and results that the provider has refused. A result whose call is not before it is left out.
// A call without a result gets one: the text of a result that stands elsewhere, or else that there is none.
func (s State) Pair() {
	r := s.Request
	calls, results := r.Unpaired()
	late := map[string]ledger.Edit{} // results that are left out, as they are sent, by the ID of the call
	uses := map[string]int{}         // of each ID, by calls and results
	for i := range r.Items {
		uses[r.Items[i].Answers]++
		for _, call := range r.Items[i].Calls {
			uses[call.ID]++
		}
	}
	var edits []ledger.Edit
	for _, i := range results {
		it, f := &r.Items[i], &s.forms[i]
		if f.dropped || it.Locked {
			continue
		}
		isPlain := r.Media(it) == "" && !f.cleared && !f.shortened
		switch {
		case uses[it.Answers] != 2: // another call may have this result
		case isPlain:
			late[it.Answers] = ledger.Edit{Text: r.TextOf(it)}
		default:
			late[it.Answers] = s.stub(i, ledger.StepClear, event.CodeUnpaired)
		}
		e := ledger.Edit{First: i, Count: 1, Op: ledger.Drop, Artifacts: s.keepItems(i, i+1), Saved: s.Size(i, i+1),
			Step: ledger.StepClear, Reason: event.CodeUnpaired}
		next := i + 1
		for slices.Contains(results, next) {
			next++
		}
		if next == len(r.Items) || r.Items[next].Role != conversation.Tool { // else a note would part them
			s.setText(&e, excerpt.Note("a result left out, as its call is not before it", s.transcriptAt(&e)))
		}
		edits = append(edits, e)
	}
	for _, at := range calls {
		if it := &r.Items[at[0]]; !s.forms[at[0]].dropped && !it.Locked {
			found := late[it.Calls[at[1]].ID]
			text := cmp.Or(found.Text, excerpt.Mark+" no result was recorded]")
			tokens := s.Scale.CountText(text)
			edits = append(edits, ledger.Edit{First: at[0], Count: 1, Op: ledger.AddResult, Part: at[1], Text: text,
				Artifacts: found.Artifacts, Tokens: tokens, Saved: -tokens, Step: ledger.StepClear, Reason: event.CodeUnpaired})
		}
	}
	s.Add(edits...)
}

// DropThinking takes out all thinking from the first item on that the new edits change: some models accept thinking
// only behind exactly the bytes that preceded it when they thought (State.Binds). The same decision records this, so
// the thinking is never sent again. Later thinking is bound to the changed items, and stays. If the provider refused
// thinking (refused), all goes. Call DropThinking after all other steps, as a later edit could change an earlier item.
func (s State) DropThinking(refused bool) {
	from := len(s.Request.Items)
	for _, e := range s.Added {
		if e.Op == ledger.AddResult { // which stands behind its item
			e.First++
		}
		from = min(from, e.First)
	}
	switch {
	case refused:
		from = 0
	case !s.Binds:
		return
	}
	var edits []ledger.Edit
	for i := from; i < len(s.Request.Items); i++ {
		if !s.forms[i].thinks || s.forms[i].dropped {
			continue
		}
		it := &s.Request.Items[i]
		e := ledger.Edit{First: i, Count: 1, Op: ledger.DropThinking, Saved: s.Request.CountThoughts(s.Scale, it.Thinking),
			Artifacts: []string{s.keepContent(s.Request.Source(i, i+1))}, Step: ledger.StepClear, Reason: event.CodeThinking}
		if it.OnlyThinks() { // an item without content would be left
			e.Op, e.Saved = ledger.Drop, s.Size(i, i+1)
		}
		edits = append(edits, e)
	}
	s.Add(edits...)
}

// lastThinking returns the last item whose thinking is sent; -1 if there is none.
func (p *Plan) lastThinking() int {
	for i := len(p.forms) - 1; i >= 0; i-- {
		if p.forms[i].thinks && !p.forms[i].dropped {
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
