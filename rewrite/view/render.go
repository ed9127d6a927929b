package view

import (
	"errors"
	"fmt"
	"slices"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

// Render returns the body of the request as it is sent, in memory that jsonspan.Splice takes; the client's own body if
// nothing changes.
func (v *View) Render(memory func(bytes int) []byte) ([]byte, error) {
	r := v.Request
	if len(v.Edits) == 0 && !r.Strips {
		return r.Body, nil
	}
	drops, appended := v.blocks()
	marked := v.keepMark(drops, appended)
	ranges, err := conversation.DropItems(r, drops)
	if err != nil {
		return nil, err
	}
	ranges = append(ranges, marked...)
	for k := range v.Edits {
		e := &v.Edits[k]
		if e.Op == Drop || e.Op == AddResult {
			continue
		}
		more, err := rangesOf(r, e, appended)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, more...)
	}
	ranges = append(ranges, v.results()...)
	for i, text := range appended {
		added, _ := r.Append(&r.Items[i], text) // userBefore has checked that it can
		ranges = append(ranges, added)
	}
	if r.Strips {
		ranges = append(ranges, jsonspan.TakeOut(r.Body, r.Unserved)...)
	}
	if len(ranges) == 0 {
		return r.Body, nil
	}
	return jsonspan.Splice(r.Body, ranges, memory)
}

// Verify returns an error if body, which is rendered, breaks a rule of the API that the client's body keeps.
func (v *View) Verify(body []byte) error {
	rewritten, err := conversation.Read(v.Request.Dialect, body, nil) // nil: all of body is read, no item is copied from the request
	if err != nil {
		return fmt.Errorf("cannot read the rewritten request: %w", err)
	}
	return conversation.Worse(v.Request, rewritten)
}

// blocks returns what is gone, in order, and by the index of a user's item the summary that is sent behind the user's
// text: a message of its own would be the second of the user in a row, which some servers refuse. Blocks side by side
// are one, with the texts of both.
func (v *View) blocks() (drops []conversation.Drop, appended map[int]string) {
	isOther := func(e Edit) bool { return e.Op != Drop }
	sorted := slices.DeleteFunc(slices.Clone(v.Edits), isOther)
	slices.SortFunc(sorted, func(a, b Edit) int { return a.First - b.First })
	appended = map[int]string{}
	sent := 0 // the first item behind the block before
	for len(sorted) > 0 {
		block := sorted[0]
		sorted = sorted[1:]
		for len(sorted) > 0 && sorted[0].First == block.End() {
			block.Count += sorted[0].Count
			block.Text = joined(block.Text, sorted[0].Text)
			sorted = sorted[1:]
		}
		drop := conversation.Drop{First: block.First, Count: block.Count}
		i := userBefore(v.Request, block.First)
		if block.Text != "" && i >= sent {
			appended[i] = "\n\n" + block.Text
		} else if block.Text != "" {
			drop.Message = v.Request.Dialect.API().Message("user", block.Text)
		}
		drops = append(drops, drop)
		sent = block.End()
	}
	return drops, appended
}

// keepMark has the last cache mark among the items stand in the text in its item's place, if that is gone, or else at the
// last block before it that can have one: without a mark the provider caches no message. It returns the edits for that,
// and takes from appended a text that it has marked.
func (v *View) keepMark(drops []conversation.Drop, appended map[int]string) []jsonspan.Edit {
	r := v.Request
	i := len(r.Items) - 1
	for i >= 0 && len(r.Items[i].Marks) == 0 {
		i--
	}
	if i < 0 || !v.Forms[i].Gone {
		return nil
	}
	mark := r.Mark(&r.Items[i], r.Items[i].Span)
	for ; i >= 0; i-- {
		it, form := &r.Items[i], &v.Forms[i]
		if form.Gone {
			k := slices.IndexFunc(drops, func(d conversation.Drop) bool { return i < d.First+d.Count })
			if drops[k].Message != nil {
				drops[k].Message = conversation.WithMark(drops[k].Message, mark)
				return nil
			}
			i = drops[k].First
			continue
		}
		if text := appended[i]; text != "" && !form.Cleared {
			delete(appended, i)
			added, _ := r.Append(it, text)
			added.With = conversation.WithMark(added.With, mark)
			return []jsonspan.Edit{added}
		}
		if len(it.Marks) > 0 {
			return nil
		}
		isBlock := !it.Message.Empty() && (it.Role == conversation.Tool || form.IsWhole())
		if isBlock {
			return []jsonspan.Edit{jsonspan.Insert(it.End-1, mark)}
		}
	}
	return nil
}

// userBefore returns the index of the user's item right before item i. System items are skipped: they do not part two
// messages of the user. It is -1 if another role speaks there, or if the dialect cannot append a text to that item. The
// caller has to know whether the item is sent.
func userBefore(r *conversation.Request, i int) int {
	for i--; i >= 0 && r.Items[i].Role == conversation.System; i-- {
	}
	if i >= 0 && r.Items[i].Role == conversation.User {
		if _, ok := r.Append(&r.Items[i], ""); ok {
			return i
		}
	}
	return -1
}

// results returns the byte ranges that add results to calls without any.
func (v *View) results() (ranges []jsonspan.Edit) {
	byItem := map[int][]conversation.Result{} // by index of the item with the calls
	for k := range v.Edits {
		e := &v.Edits[k]
		if e.Op == AddResult {
			result := conversation.Result{Call: &v.Request.Items[e.First].Calls[e.Part], Text: e.Text}
			byItem[e.First] = append(byItem[e.First], result)
		}
	}
	for i, list := range byItem {
		isNextGone := i+1 < len(v.Forms) && v.Forms[i+1].Gone
		ranges = append(ranges, v.Request.AddResults(i, list, isNextGone))
	}
	return ranges
}

// rangesOf returns the byte ranges that an edit other than Drop and AddResult changes. If it clears an item for which
// appended has a summary, the summary becomes part of the stub and leaves appended: two edits of one content would
// overlap.
func rangesOf(r *conversation.Request, e *Edit, appended map[int]string) ([]jsonspan.Edit, error) {
	if e.Op == AppendSystem {
		added, ok := r.AppendSystem(e.Text)
		if !ok {
			return nil, errors.New("cannot add to the system prompt: it has no place for a text")
		}
		return []jsonspan.Edit{added}, nil
	}
	if e.First >= len(r.Items) || e.Op == ReplaceText && e.Part >= len(r.Items[e.First].Parts) {
		return nil, fmt.Errorf("cannot edit part %d of item %d: there is none", e.Part, e.First)
	}
	it := &r.Items[e.First]
	switch e.Op {
	case DropThinking:
		return conversation.DropThinking(r, it), nil
	case Clear:
		text := e.Text + appended[e.First]
		delete(appended, e.First)
		return r.ReplaceContent(it, text), nil
	}
	part := &it.Parts[e.Part]
	if part.Kind == conversation.ImagePart {
		note := r.Dialect.API().TextPart(e.Text)
		return []jsonspan.Edit{{Span: part.Span, With: conversation.WithMark(note, r.Mark(it, part.Span))}}, nil
	}
	return []jsonspan.Edit{conversation.ReplaceText(part, e.Text)}, nil
}
