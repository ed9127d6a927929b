package rewrite

import (
	"fmt"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Restore makes the original body again, of the body as it is sent and what get finds on the shelf.
func (s Output) Restore(get func(artifact string) ([]byte, error)) ([]byte, error) {
	r, err := s.dialect.Read(s.Body, nil)
	if err != nil {
		return s.Body, nil //nolint:nilerr // nothing that cannot be read was changed
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
	}
	return span.Splice(s.Body, edits)
}
