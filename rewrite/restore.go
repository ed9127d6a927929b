package rewrite

import (
	"fmt"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/span"
)

// Restore makes the original body again, of the body as it is sent and what get finds on the shelf.
func (s Output) Restore(get kept) ([]byte, error) {
	r, err := s.dialect.Read(s.Body, nil)
	if err != nil {
		return s.Body, nil //nolint:nilerr // nothing that cannot be read was changed
	}
	if r.Nested {
		return s.restoreNested(r, get)
	}
	var edits []span.Edit
	at := r.Head - 1 // the item of the sent body
	for _, f := range s.forms {
		if f == nil || !f.Gone {
			at++
		}
		if f == nil || f.Gone {
			continue
		}
		if f.Fold > 0 {
			content, err := get(f.Kept)
			if err != nil {
				return nil, fmt.Errorf("cannot find what message %d stands for: %w", at, err)
			}
			place := r.Items[at].Span
			if f.With == "" {
				place.End = place.Start
				at--
			}
			edits = append(edits, span.Edit{Span: place, With: append(slices.Clip(content), f.Gap...)})
			continue
		}
		list, err := unpatched(r, at, f, get)
		if err != nil {
			return nil, err
		}
		edits = append(edits, list...)
	}
	return span.Splice(s.Body, edits)
}

// unpatched is what makes item at of what is sent what it was without the form's patches.
func unpatched(r *conversation.Request, at int, f *decision.Form, get kept) (edits []span.Edit, err error) {
	spans := f.Spans(r, &r.Items[at])
	for n, q := range f.Patches {
		if q.Place == conversation.Behind {
			edits = append(edits, r.TakeBack(&r.Items[at], q.Text))
			continue
		}
		content, err := get(q.Artifact)
		if err != nil {
			return nil, fmt.Errorf("cannot find what message %d was: %w", at, err)
		}
		edits = append(edits, span.Edit{Span: spans[n], With: q.Restore(content)})
	}
	return edits, nil
}

// kept finds what lies on the shelf.
type kept = func(artifact string) ([]byte, error)

// restoreNested is Restore where messages hold several items: what was left of a message does not show where the others
// were. So all between two items that were sent is made again of the frames of those that were not.
func (s Output) restoreNested(r *conversation.Request, get kept) ([]byte, error) {
	var edits []span.Edit
	at := r.Head // the next item of the sent body
	for i := 0; i < len(s.forms); {
		f, n := s.forms[i], 1
		switch {
		case f == nil:
			at++
		case f.Gone: // with an item before it
		case f.Fold > 0:
			was, end, shown, err := unfolded(s.forms, i, get)
			if err != nil {
				return nil, fmt.Errorf("cannot find what message %d stands for: %w", at, err)
			}
			edits = append(edits, span.Edit{Span: between(r, at-1, at+shown), With: was})
			at, n = at+shown, end-i
		default:
			list, err := unpatched(r, at, f, get)
			if err != nil {
				return nil, err
			}
			edits = append(edits, list...)
			at++
		}
		i += n
	}
	return span.Splice(s.Body, edits)
}

// unfolded is all that stood between the items around a run of those that were taken out, from item i to item end, in
// whose place so many messages are shown.
func unfolded(forms []*decision.Form, i int, get kept) (was []byte, end, shown int, err error) {
	var f *decision.Form
	for tail := 0; i < len(forms) && forms[i] != nil && forms[i].Fold > 0; i += f.Fold {
		f = forms[i]
		content, err := get(f.Kept)
		if err != nil {
			return nil, i, 0, err
		}
		was = append(append(was[:len(was)-tail], f.Frame.Lead...), content...)
		tail = f.Frame.Tail
		if f.With != "" {
			shown++
		}
	}
	return append(was, f.Frame.Gap...), i, shown, nil
}

// between is all between the items before and next of a request; without them to the first and last message's ends.
func between(r *conversation.Request, before, next int) span.Span {
	list := r.Items
	place := span.Span{Start: list[0].Place().Start, End: list[len(list)-1].Place().End}
	if before >= 0 {
		place.Start = list[before].End
	}
	if next < len(list) {
		place.End = list[next].Start
	}
	return place
}
