package rewrite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/rewrite/ledger"
)

// bodyWith returns the body with the edits made, in memory that jsonspan.Splice takes; r.Body itself if nothing
// changes. Items from end on are left out, for a question to a model about the items before end; a request that is
// sent has all, so end is len(r.Items) then.
func bodyWith(
	r *conversation.Request, edits []ledger.Edit, end int, memory func(bytes int) []byte,
) ([]byte, error) {
	drops, appended := dropsOf(r, edits, end)
	ranges, err := conversation.DropItems(r, drops)
	if err != nil {
		return nil, err
	}
	isDropped := func(i int) bool {
		return slices.ContainsFunc(drops, func(d conversation.Drop) bool { return d.First <= i && i < d.First+d.Count })
	}
	results := map[int][]conversation.Result{} // that are added, by index of the item with the calls
	for k := range edits {
		e := &edits[k]
		if e.Op == ledger.Drop || e.Op != ledger.AppendSystem && isDropped(e.First) {
			continue
		}
		if e.Op == ledger.AddResult {
			result := conversation.Result{Call: &r.Items[e.First].Calls[e.Part], Text: e.Text}
			results[e.First] = append(results[e.First], result)
			continue
		}
		more, err := rangesOf(r, e, appended)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, more...)
	}
	for i, list := range results {
		ranges = append(ranges, r.AddResults(i, list, isDropped(i+1)))
	}
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

// dropsOf returns what edits and end leave out, in order, and by the index of a user's item the summary that is sent
// behind the user's text: a message of its own would be the second of the user in a row, which some servers refuse.
// Drops that overlap or stand side by side become one, with the texts of all.
func dropsOf(r *conversation.Request, edits []ledger.Edit, end int) (drops []conversation.Drop, appended map[int]string) {
	sorted := []ledger.Edit{{Op: ledger.Drop, First: end, Count: len(r.Items) - end}}
	for k := range edits {
		if edits[k].Op == ledger.Drop && edits[k].First < end {
			sorted = append(sorted, edits[k])
		}
	}
	slices.SortStableFunc(sorted, func(a, b ledger.Edit) int { return a.First - b.First })
	var texts [][]string // of drops; of the edits of one summary, the first alone has its text
	for _, e := range sorted {
		last := len(drops) - 1
		if last < 0 || e.First > drops[last].First+drops[last].Count {
			drops, texts, last = append(drops, conversation.Drop{First: e.First}), append(texts, nil), last+1
		}
		drops[last].Count = max(drops[last].Count, e.End()-drops[last].First)
		if e.Text != "" {
			texts[last] = append(texts[last], e.Text)
		}
	}
	appended = map[int]string{}
	sent := 0 // the first item behind the drop before
	for k := range drops {
		d, text := &drops[k], strings.Join(texts[k], "\n\n")
		i := userBefore(r, d.First)
		if text != "" && i >= sent {
			appended[i] = "\n\n" + text
		} else if text != "" {
			d.Message = r.Dialect.API().Message("user", text)
		}
		sent = d.First + d.Count
	}
	return drops, appended
}

// userBefore returns the index of the user's item right before item i. System items are skipped: they do not part two
// messages of the user. It is -1 if another role speaks there, or if the dialect cannot append a text to that item.
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

// rangesOf returns the byte ranges that an edit other than Drop changes. If it clears an item for which appended has a
// summary, the summary becomes part of the stub and leaves appended: two edits of one content would overlap.
func rangesOf(r *conversation.Request, e *ledger.Edit, appended map[int]string) ([]jsonspan.Edit, error) {
	if e.Op == ledger.AppendSystem {
		added, ok := r.AppendSystem(e.Text)
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
		text := e.Text + appended[e.First]
		delete(appended, e.First)
		return r.ReplaceContent(it, text), nil
	}
	part := &it.Parts[e.Part]
	if part.Kind == conversation.ImagePart {
		return []jsonspan.Edit{{Span: part.Span, With: r.Dialect.API().TextPart(e.Text)}}, nil
	}
	return []jsonspan.Edit{conversation.ReplaceText(part, e.Text)}, nil
}

// verify returns an error if body, rewritten from original, breaks a rule of the API that original keeps.
func verify(original *conversation.Request, body []byte) error {
	rewritten, err := original.Dialect.Read(body, nil) // nil: all of body is read, no item is copied from original
	if err != nil {
		return fmt.Errorf("cannot read the rewritten request: %w", err)
	}
	return conversation.Worse(original, rewritten)
}
