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
	of, at := make([]int, len(r.Items)), 0 // for each item, the number of its drop, from 1 on; 0 if it stays
	texts := make([][]byte, len(drops)+1)  // by number, the messages that have no place yet
	for k, d := range drops {
		if d.First < at || d.First+d.Count > len(r.Items) {
			return nil, fmt.Errorf("cannot drop %d items from item %d on: they overlap others, or do not exist", d.Count, d.First)
		}
		for at = d.First; at < d.First+d.Count; at++ {
			of[at] = k + 1
		}
		texts[k+1] = d.Message
	}
	var gone []jsonspan.Span
	for i := 0; i < len(r.Items); {
		place := r.Items[i].Place()
		_, end := r.message(i)
		hasText := func(k int) bool { return texts[k] != nil }
		switch k := slices.IndexFunc(of[i:end], hasText); {
		case slices.Contains(of[i:end], 0): // something of the message stays
			for ; i < end; i++ {
				if of[i] > 0 {
					gone = append(gone, r.Items[i].Span)
				}
			}
		case k >= 0:
			edits = append(edits, jsonspan.Edit{Span: place, With: texts[of[i+k]]})
			texts[of[i+k]] = nil
		default:
			gone = append(gone, place)
		}
		i = end
	}
	for k, d := range drops {
		if text := texts[k+1]; text != nil { // beside a message of which something stays
			place := r.Items[d.First].Place()
			if r.sharesMessage(d.First-1, d.First) {
				edits = append(edits, jsonspan.Insert(place.End, ","+string(text)))
			} else {
				edits = append(edits, jsonspan.Insert(place.Start, string(text)+","))
			}
		}
	}
	return append(edits, jsonspan.TakeOut(r.Body, gone...)...), nil
}

// message returns the items [first, end) that share the message of item i.
func (r *Request) message(i int) (first, end int) {
	first, end = i, i+1
	for r.sharesMessage(first-1, first) {
		first--
	}
	for r.sharesMessage(end-1, end) {
		end++
	}
	return first, end
}

func (r *Request) sharesMessage(i, k int) bool {
	return i >= 0 && k < len(r.Items) && !r.Items[i].Message.Empty() && r.Items[i].Message == r.Items[k].Message
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
func (r *Request) MessagesIn(first, end int) (n int) {
	for i := first; i < end; i++ {
		if i == first || !r.sharesMessage(i-1, i) {
			n++
		}
	}
	return n
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
