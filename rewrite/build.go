package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ledger"
)

// Build returns the body with the edits, or the body itself if there are none.
func Build(r *conversation.Request, edits []ledger.Edit) ([]byte, error) {
	return buildUpTo(r, edits, len(r.Items))
}

// buildUpTo builds the request without the items from end on.
func buildUpTo(r *conversation.Request, edits []ledger.Edit, end int) ([]byte, error) {
	b := builder{request: r, end: end, appended: map[int]string{}}
	for k := range edits {
		if e := &edits[k]; e.Op == ledger.Drop && e.First < end {
			b.drop(e)
		}
	}
	if end < len(r.Items) {
		b.drops = append(b.drops, conversation.Drop{First: end, Count: len(r.Items) - end})
	}
	for k := range edits {
		if e := &edits[k]; e.Op != ledger.Drop && e.First < end {
			if err := b.edit(e); err != nil {
				return nil, err
			}
		}
	}
	if err := b.appendTexts(); err != nil {
		return nil, err
	}
	slices.SortFunc(b.drops, func(a, b conversation.Drop) int { return a.First - b.First })
	dropped, err := conversation.DropItems(r, b.drops)
	if err != nil {
		return nil, err
	}
	b.spans = append(b.spans, dropped...)
	if len(b.spans) == 0 {
		return r.Body, nil
	}
	body, err := jsonspan.Splice(r.Body, b.spans)
	if err != nil {
		return nil, err
	}
	return body, nil
}

// builder turns edits into edits of byte ranges.
type builder struct {
	request  *conversation.Request
	end      int // items from here on are cut off
	spans    []jsonspan.Edit
	drops    []conversation.Drop
	appended map[int]string // by item of the user, the summary that joins its words
}

// drop takes items out. A text in their place joins the last words of the user that stay before them, or becomes a
// message of its own.
func (b *builder) drop(e *ledger.Edit) {
	d := conversation.Drop{First: e.First, Count: e.Count}
	if e.Text != "" {
		if i := b.userBefore(e.First); i >= 0 {
			b.appended[i] = e.Text
		} else {
			d.Message = b.request.Dialect.UserMessage(e.Text)
		}
	}
	b.drops = append(b.drops, d)
}

// userBefore returns the item of the user right before item i, system messages aside; -1 if there is none to which a
// text can be added.
func (b *builder) userBefore(i int) int {
	for i--; i >= 0 && b.request.Items[i].Role == conversation.System; i-- {
	}
	if i < 0 || b.request.Items[i].Role != conversation.User {
		return -1
	}
	if _, ok := b.request.Dialect.Append(b.request, &b.request.Items[i], ""); !ok {
		return -1
	}
	return i
}

func (b *builder) edit(e *ledger.Edit) error {
	r := b.request
	if e.Op == ledger.AppendSystem {
		added, ok := r.Dialect.AppendSystem(r, e.Text)
		if !ok {
			return errors.New("cannot add to the system prompt: it has no place for a text")
		}
		b.spans = append(b.spans, added)
		return nil
	}
	if e.First >= len(r.Items) {
		return fmt.Errorf("cannot edit item %d: there are %d", e.First, len(r.Items))
	}
	it := &r.Items[e.First]
	switch e.Op {
	case ledger.DropThinking:
		b.spans = append(b.spans, conversation.DropThinking(r, it)...)
		return nil
	case ledger.Clear:
		text := e.Text
		if summary, ok := b.appended[e.First]; ok {
			text += "\n\n" + summary
			delete(b.appended, e.First)
		}
		b.spans = append(b.spans, r.Dialect.ReplaceContent(r, it, text)...)
		return nil
	}
	if e.Part >= len(it.Parts) {
		return fmt.Errorf("cannot edit part %d of item %d: it has %d", e.Part, e.First, len(it.Parts))
	}
	b.spans = append(b.spans, conversation.ReplaceText(&it.Parts[e.Part], e.Text))
	return nil
}

// appendTexts adds summaries to the user's words.
func (b *builder) appendTexts() error {
	r := b.request
	for _, i := range slices.Sorted(maps.Keys(b.appended)) {
		added, ok := r.Dialect.Append(r, &r.Items[i], "\n\n"+b.appended[i])
		if !ok {
			return errors.New("cannot add a summary to the user's words")
		}
		b.spans = append(b.spans, added)
	}
	return nil
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
