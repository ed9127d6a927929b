package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ledger"
)

// bodyWith returns the body with the edits and without the items from end on; the body itself if nothing is changed.
func bodyWith(r *conversation.Request, edits []ledger.Edit, end int) ([]byte, error) {
	var drops []conversation.Drop
	joined := map[int]string{} // by item of the user, the summary that joins its words
	for k := range edits {
		e := &edits[k]
		if e.Op != ledger.Drop || e.First >= end {
			continue
		}
		d := conversation.Drop{First: e.First, Count: e.Count}
		switch i := userBefore(r, e.First); {
		case e.Text == "":
		case i >= 0:
			joined[i] = "\n\n" + e.Text
		default:
			d.Message = r.Dialect.UserMessage(e.Text)
		}
		drops = append(drops, d)
	}
	if end < len(r.Items) {
		drops = append(drops, conversation.Drop{First: end, Count: len(r.Items) - end})
	}
	slices.SortFunc(drops, func(a, b conversation.Drop) int { return a.First - b.First })
	spans, err := conversation.DropItems(r, drops)
	for k := range edits {
		if e := &edits[k]; err == nil && e.Op != ledger.Drop && e.First < end {
			var more []jsonspan.Edit
			more, err = spansOf(r, e, joined)
			spans = append(spans, more...)
		}
	}
	for i, text := range joined {
		added, _ := r.Dialect.Append(r, &r.Items[i], text) // userBefore has seen that it can
		spans = append(spans, added)
	}
	if err != nil || len(spans) == 0 {
		return r.Body, err
	}
	return jsonspan.Splice(r.Body, spans)
}

// userBefore returns the item of the user right before item i, system messages aside; -1 if there is none to which a
// text can be added.
func userBefore(r *conversation.Request, i int) int {
	for i--; i >= 0 && r.Items[i].Role == conversation.System; i-- {
	}
	if i < 0 || r.Items[i].Role != conversation.User {
		return -1
	}
	if _, ok := r.Dialect.Append(r, &r.Items[i], ""); !ok {
		return -1
	}
	return i
}

// spansOf returns what an edit does to the bytes of its item. A text that joins an item which is cleared is taken from
// joined.
func spansOf(r *conversation.Request, e *ledger.Edit, joined map[int]string) ([]jsonspan.Edit, error) {
	if e.Op == ledger.AppendSystem {
		added, ok := r.Dialect.AppendSystem(r, e.Text)
		if !ok {
			return nil, errors.New("cannot add to the system prompt: it has no place for a text")
		}
		return []jsonspan.Edit{added}, nil
	}
	if e.First >= len(r.Items) || e.Op == ledger.ReplaceText && e.Part >= len(r.Items[e.First].Parts) {
		return nil, fmt.Errorf("cannot edit part %d of item %d: there is none", e.Part, e.First)
	}
	it := &r.Items[e.First]
	switch e.Op {
	case ledger.DropThinking:
		return conversation.DropThinking(r, it), nil
	case ledger.Clear:
		text := e.Text + joined[e.First]
		delete(joined, e.First)
		return r.Dialect.ReplaceContent(r, it, text), nil
	}
	return []jsonspan.Edit{conversation.ReplaceText(&it.Parts[e.Part], e.Text)}, nil
}

// verify returns an error if a rewritten body breaks a rule that the original kept.
func verify(original *conversation.Request, body []byte) error {
	if bytes.Equal(original.Body, body) {
		return nil
	}
	rewritten, err := original.Dialect.Read(body, nil)
	if err != nil {
		return fmt.Errorf("cannot read the rewritten request: %w", err)
	}
	return conversation.Worse(original, rewritten)
}
