package ladder

import (
	"cmp"
	"slices"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/view"
)

// Pair mends pairs of calls and results that the provider has refused. A result whose call is not before it is left
// out. A call without a result gets one: the text of a result that stands elsewhere, or else that there is none.
func (k *Known) Pair(p *Plan) {
	v := &p.View
	calls, results := k.Request.Unpaired()
	late := map[string]view.Edit{} // what results that are left out say, with its artifacts, by the ID of the call
	uses := map[string]int{}       // of each ID, by calls and results
	for i := range k.Request.Items {
		uses[k.Request.Items[i].Answers]++
		for _, call := range k.Request.Items[i].Calls {
			uses[call.ID]++
		}
	}
	var edits []view.Edit
	for _, i := range results {
		it := &k.Request.Items[i]
		if v.Forms[i].Gone || it.Locked {
			continue
		}
		said := view.Edit{Text: k.Request.TextOf(it)}
		if k.Request.Media(it) != "" || !v.Forms[i].IsWhole() {
			said = k.stub(v, i)
		}
		if uses[it.Answers] == 2 { // else another call may have this result
			late[it.Answers] = said
		}
		edits = append(edits, k.leaveUnpaired(i, results))
	}
	for _, at := range calls {
		i, part := at[0], at[1]
		it := &k.Request.Items[i]
		if v.Forms[i].Gone || it.Locked {
			continue
		}
		id := it.Calls[part].ID
		text := cmp.Or(late[id].Text, excerpt.Mark+" no result was recorded]")
		e := k.edit(view.AddResult, i, 0, text, late[id].Artifacts)
		e.Part = part
		edits = append(edits, e)
	}
	p.View = k.with(p.View, view.StepClear, event.CodeUnpaired, edits...)
}

// leaveUnpaired returns the edit that leaves out result i, one of those without calls. A note takes its place, unless
// it would part other results.
func (k *Known) leaveUnpaired(i int, results []int) view.Edit {
	e := view.Edit{First: i, Count: 1, Op: view.Drop, Artifacts: k.KeepItems(i, i+1), Saved: k.Size(i, i+1)}
	next := i + 1
	for slices.Contains(results, next) {
		next++
	}
	if next == len(k.Request.Items) || k.Request.Items[next].Role != conversation.Tool {
		k.setText(&e, excerpt.Note("a result left out, as its call is not before it", k.TranscriptAt(e.Artifacts)))
	}
	return e
}

// DropThinking takes out all thinking from the first item on that the new edits change: some models accept thinking
// only behind exactly the bytes that preceded it when they thought (Known.Binds). The same decision records this, so
// the thinking is never sent again. Thinking of later answers is bound to the changed items, and stays. If the provider
// refused thinking (refused), all goes. Call DropThinking after all other steps, as a later edit could change an
// earlier item.
func (k *Known) DropThinking(p *Plan, refused bool) {
	if !refused && !k.Binds {
		return
	}
	from := len(k.Request.Items)
	if refused {
		from = 0
	}
	for _, e := range p.View.Added() {
		if e.Op == view.AddResult { // which stands behind its item
			e.First++
		}
		from = min(from, e.First)
	}
	var edits []view.Edit
	for i := from; i < len(k.Request.Items); i++ {
		if !p.View.Forms[i].Thinks {
			continue
		}
		it := &k.Request.Items[i]
		e := view.Edit{First: i, Count: 1, Artifacts: []string{k.keepContent(k.Request.Source(i, i+1))}}
		if it.OnlyThinks() { // an item without content would be left
			e.Op, e.Saved = view.Drop, k.Size(i, i+1)
		} else {
			e.Op, e.Saved = view.DropThinking, k.Request.CountThoughts(k.Scale, it.Thinking)
		}
		edits = append(edits, e)
	}
	p.View = k.with(p.View, view.StepClear, event.CodeThinking, edits...)
}

// lastThinking returns the last item whose thinking is sent; -1 if there is none.
func lastThinking(v *view.View) int {
	for i := len(v.Forms) - 1; i >= 0; i-- {
		if v.Forms[i].Thinks {
			return i
		}
	}
	return -1
}

// isRoundOpen reports whether results wait for an answer that must continue the thinking before their calls, by a model
// that accepts it only behind an unchanged prefix: no older item may change until the user's next message.
func (k *Known) isRoundOpen(v *view.View) bool {
	awaitsAnswer := k.prefixEnd > 0 && k.Request.Items[k.prefixEnd-1].Role == conversation.Tool
	return k.Request.ThinksFirst && awaitsAnswer && k.Binds && lastThinking(v) >= 0
}
