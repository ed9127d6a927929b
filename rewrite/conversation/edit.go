package conversation

import (
	"fmt"
	"slices"

	"epitome/rewrite/jsonspan"
)

// Drop takes the items [First, First+Count) out of a request. Message, if not nil, is what stands in their place: a
// message of the list.
type Drop struct {
	First, Count int
	Message      []byte
}

// DropItems returns the edits for all drops, which are in order and do not overlap. Commas and messages of which
// nothing is left go with the items.
func DropItems(r *Request, drops []Drop) (edits []jsonspan.Edit, err error) {
	goes, at := make([]bool, len(r.Items)), 0
	texts := map[int][]byte{} // by item, what comes before it or in its place
	for _, d := range drops {
		if d.First < at || d.First+d.Count > len(r.Items) {
			return nil, fmt.Errorf("cannot drop %d items from item %d on: they overlap others, or do not exist", d.Count, d.First)
		}
		for at = d.First; at < d.First+d.Count; at++ {
			goes[at] = true
		}
		texts[d.First] = d.Message
	}
	var gone []jsonspan.Span
	for first, end := 0, 0; first < len(r.Items); first = end {
		_, end = r.message(first)
		place := r.Items[first].Place()
		isWhole, instead := !slices.Contains(goes[first:end], false), []byte(nil)
		for i := first; i < end; i++ {
			switch text := texts[i]; {
			case text == nil:
			case isWhole:
				instead = append(append(instead, text...), ',')
			case i > first:
				edits = append(edits, jsonspan.Insert(place.End, ","+string(text)))
			default:
				edits = append(edits, jsonspan.Insert(place.Start, string(text)+","))
			}
			if goes[i] && !isWhole {
				gone = append(gone, r.Items[i].Span)
			}
		}
		switch {
		case len(instead) > 0:
			edits = append(edits, jsonspan.Edit{Span: place, With: instead[:len(instead)-1]})
		case isWhole:
			gone = append(gone, place)
		}
	}
	return append(edits, jsonspan.TakeOut(r.Body, gone...)...), nil
}

// message returns the items [first, end) that share the message of item i.
func (r *Request) message(i int) (first, end int) {
	number := r.Items[i].Number
	for first = i; first > 0 && r.Items[first-1].Number == number; {
		first--
	}
	for end = i + 1; end < len(r.Items) && r.Items[end].Number == number; {
		end++
	}
	return first, end
}

// Source returns items [first, end) as JSON: whole messages where all items of a message are among them. Marks for the
// cache, which clients move, are left out, so that the same items are the same in every request.
func (r *Request) Source(first, end int) []byte {
	place := func(i int) jsonspan.Span {
		if a, b := r.message(i); a >= first && b <= end {
			return r.Items[i].Place()
		}
		return r.Items[i].Span
	}
	run := jsonspan.Span{Start: place(first).Start, End: place(end - 1).End}
	return r.unmarked(run, r.Items[first:end])
}

// ContentSource returns the content of an item as JSON, without marks for the cache.
func (r *Request) ContentSource(it *Item) []byte { return r.unmarked(it.Content, []Item{*it}) }

// unmarked copies a run of bytes without the marks of items in it.
func (r *Request) unmarked(run jsonspan.Span, items []Item) []byte {
	source, at := make([]byte, 0, run.End-run.Start), run.Start
	for i := range items {
		for _, mark := range items[i].Marks {
			if mark.Start >= at && mark.End <= run.End {
				source, at = append(source, r.Body[at:mark.Start]...), mark.End
			}
		}
	}
	return append(source, r.Body[at:run.End]...)
}

// MessagesIn returns how many messages items [first, end) are in.
func (r *Request) MessagesIn(first, end int) int {
	if end = min(end, len(r.Items)); first >= end {
		return 0
	}
	return r.Items[end-1].Number - r.Items[first].Number + 1
}

// ReplaceText returns the edit that puts text in the place of the text of a part.
func ReplaceText(p *Part, text string) jsonspan.Edit {
	with := jsonspan.AppendQuoted(nil, text)
	if p.Encoded {
		with = jsonspan.AppendQuoted(nil, string(with))
	}
	return jsonspan.Edit{Span: p.Value, With: with}
}

// DropThinking returns the edits that take all counted reasoning of an item out.
func DropThinking(r *Request, it *Item) []jsonspan.Edit {
	var gone []jsonspan.Span
	for _, t := range it.Thinking {
		gone = append(gone, t.Span)
	}
	return jsonspan.TakeOut(r.Body, gone...)
}
