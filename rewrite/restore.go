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
	if len(s.added.undo) > 0 {
		came, err := span.Splice(s.Body, slices.Clone(s.added.undo))
		if err != nil {
			return nil, err
		}
		s.Body = came
	}
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
			edits = append(edits, refilled(r, at, f, content))
			if f.With == "" {
				at--
			}
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

// refilled is what puts the content that the form stands for back: in the place of its message, item at of what is
// sent; before that item, if no message stands for it; or behind all, if none is left. There what parts the content
// from the next item has parted it from the one before.
func refilled(r *conversation.Request, at int, f *decision.Form, content []byte) span.Edit {
	if at == len(r.Items) {
		end := conversation.Extent(r, at-1)
		return span.Edit{Span: span.Span{Start: end, End: end}, With: append([]byte(f.Gap), content...)}
	}
	place := r.Items[at].Span
	if f.With == "" {
		place.End = place.Start
	}
	return span.Edit{Span: place, With: append(slices.Clip(content), f.Gap...)}
}

// unpatched is what makes item at of what is sent what it was without the form's patches.
func unpatched(r *conversation.Request, at int, f *decision.Form, get kept) (edits []span.Edit, err error) {
	if f.Said != "" {
		content, err := get(f.Said)
		if err != nil {
			return nil, fmt.Errorf("cannot find what was thought in message %d: %w", at, err)
		}
		return []span.Edit{{Span: r.Items[at].Span, With: content}}, nil
	}
	spans := f.Spans(r, &r.Items[at])
	for n, q := range f.Patches {
		if q.Place == conversation.Behind {
			edits = append(edits, r.TakeBack(&r.Items[at], q.Text, f.Mark))
			continue
		}
		content, err := get(q.Artifact)
		if err != nil {
			return nil, fmt.Errorf("cannot find what message %d was: %w", at, err)
		}
		was := q.Restore(content)
		if q.Place == conversation.WholeContent && q.Spelling == span.AsJSON && was[0] == '[' {
			spans[n] = r.Items[at].Content // all of it gave way, whatever is the one text of it now
		}
		edits = append(edits, span.Edit{Span: spans[n], With: was})
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
			run, err := unfolded(s.forms, i, get)
			if err != nil {
				return nil, fmt.Errorf("cannot find what message %d stands for: %w", at, err)
			}
			edits = append(edits, run.edit(r, at))
			at, n = at+run.shown, run.end-i
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

// folded is a run of items that were taken out.
type folded struct {
	was   []byte          // all that stood there, from the end of the item before
	end   int             // the item behind it
	shown int             // messages that are sent in its place
	frame *decision.Frame // of its end
}

// unfolded is the run that begins at item i.
func unfolded(forms []*decision.Form, i int, get kept) (run folded, err error) {
	var f *decision.Form
	for tail := 0; i < len(forms) && forms[i] != nil && forms[i].Fold > 0; i += f.Fold {
		f = forms[i]
		content, err := get(f.Kept)
		if err != nil {
			return run, err
		}
		run.was = append(append(run.was[:len(run.was)-tail], f.Frame.Lead...), content...)
		tail = f.Frame.Tail
		if f.With != "" {
			run.shown++
		}
	}
	run.end, run.frame = i, f.Frame
	return run, nil
}

// edit puts what was back between the items around the run, the next of which is item at of what is sent, or its first
// message. Where there are none it goes to the ends of the first and last message, and of the last one shown if nothing
// stood behind it.
func (run folded) edit(r *conversation.Request, at int) span.Edit {
	list, next := r.Items, at+run.shown
	e := span.Edit{With: run.was}
	e.Start, e.End = list[0].Place().Start, list[len(list)-1].Place().End
	if at > 0 {
		e.Start = list[at-1].End
	}
	switch {
	case run.frame.Last:
		e.End, e.With = list[next-1].Place().End, append(e.With, run.frame.Gap...)
	case next < len(list):
		e.End, e.With = list[next].Place().Start, append(e.With, run.frame.Gap...)
		if run.frame.Inner {
			e.End = list[next].Start
		}
	}
	return e
}
