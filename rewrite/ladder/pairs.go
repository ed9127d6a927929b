package ladder

import (
	"cmp"
	"slices"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
)

// Pair mends pairs of calls and results that the provider has refused. A result whose call is not before it is left out.
// A call without a result gets one: the text of a result that stands elsewhere, or else that there is none.
func (s State) Pair() {
	calls, results := s.Request.Unpaired()
	edits, late := s.leaveUnpaired(results)
	for _, at := range calls {
		i, part := at[0], at[1]
		it := &s.Request.Items[i]
		if s.forms[i].dropped || it.Locked {
			continue
		}
		found := late[it.Calls[part].ID]
		text := cmp.Or(found.Text, excerpt.Mark+" no result was recorded]")
		tokens := s.Scale.CountText(text)
		edits = append(edits, ledger.Edit{
			First: i, Count: 1, Op: ledger.AddResult, Part: part, Text: text, Artifacts: found.Artifacts,
			Tokens: tokens, Saved: -tokens, Step: ledger.StepClear, Reason: event.CodeUnpaired,
		})
	}
	s.Add(edits...)
}

// leaveUnpaired returns the edits that leave out results without calls. late has the texts of those that may answer a
// call elsewhere, as they are sent, with their artifacts, by the ID of the call.
func (s State) leaveUnpaired(results []int) (edits []ledger.Edit, late map[string]ledger.Edit) {
	r := s.Request
	uses := s.usesOfIDs()
	late = map[string]ledger.Edit{}
	for _, i := range results {
		it, f := &r.Items[i], &s.forms[i]
		if f.dropped || it.Locked {
			continue
		}
		if uses[it.Answers] == 2 { // else another call may have this result
			if r.Media(it) == "" && f.isWhole() {
				late[it.Answers] = ledger.Edit{Text: r.TextOf(it)}
			} else {
				late[it.Answers] = s.stub(i, ledger.StepClear, event.CodeUnpaired)
			}
		}
		e := ledger.Edit{
			First: i, Count: 1, Op: ledger.Drop, Artifacts: s.keepItems(i, i+1), Saved: s.Size(i, i+1),
			Step: ledger.StepClear, Reason: event.CodeUnpaired,
		}
		next := i + 1
		for slices.Contains(results, next) {
			next++
		}
		if next == len(r.Items) || r.Items[next].Role != conversation.Tool { // else a note would part them
			s.setText(&e, excerpt.Note("a result left out, as its call is not before it", s.transcriptAt(&e)))
		}
		edits = append(edits, e)
	}
	return edits, late
}

// usesOfIDs returns how many calls and results there are with each ID of a call.
func (s State) usesOfIDs() map[string]int {
	uses := map[string]int{}
	for i := range s.Request.Items {
		it := &s.Request.Items[i]
		uses[it.Answers]++
		for k := range it.Calls {
			uses[it.Calls[k].ID]++
		}
	}
	return uses
}

// DropThinking takes out all thinking from the first item on that the new edits change: some models accept thinking
// only behind exactly the bytes that preceded it when they thought (State.Binds). The same decision records this, so
// the thinking is never sent again. Later thinking is bound to the changed items, and stays. If the provider refused
// thinking (refused), all goes. Call DropThinking after all other steps, as a later edit could change an earlier item.
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
		if !s.forms[i].thinks || s.forms[i].dropped {
			continue
		}
		it := &s.Request.Items[i]
		e := ledger.Edit{
			First: i, Count: 1, Op: ledger.DropThinking, Saved: s.Request.CountThoughts(s.Scale, it.Thinking),
			Artifacts: []string{s.keepContent(s.Request.Source(i, i+1))}, Step: ledger.StepClear, Reason: event.CodeThinking,
		}
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
