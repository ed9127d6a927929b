package conversation

import (
	"bytes"
	"fmt"

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
func DropItems(r *Request, drops []Drop) ([]jsonspan.Edit, error) {
	d := dropper{request: r, drops: drops, dropOf: make([]int, len(r.Items))}
	at := 0
	for k, drop := range drops {
		if drop.First < at || drop.First+drop.Count > len(r.Items) {
			return nil, fmt.Errorf("cannot drop %d items from item %d on: they overlap others, or do not exist",
				drop.Count, drop.First)
		}
		at = drop.First + drop.Count
		for i := drop.First; i < at; i++ {
			d.dropOf[i] = k + 1
		}
	}
	return d.edit(), nil
}

// dropper makes the edits of one request.
type dropper struct {
	request *Request
	drops   []Drop
	dropOf  []int // for each item, the number of its drop, from 1 on; 0 if it stays
	edits   []jsonspan.Edit
}

func (d *dropper) edit() []jsonspan.Edit {
	items := d.request.Items
	placed := make([]bool, len(d.drops)) // drops whose message stands where the items were
	for i := 0; i < len(items); {
		first, end := d.request.message(i)
		k := d.wholeMessage(first, end)
		if k == 0 {
			d.dropWithin(first, end)
			i = end
			continue
		}
		i = d.dropMessages(first, k)
		placed[k-1] = true
	}
	for k, drop := range d.drops {
		if !placed[k] && drop.Message != nil {
			d.insert(drop)
		}
	}
	return d.edits
}

func (d *dropper) replace(from, to int, with []byte) {
	d.edits = append(d.edits, jsonspan.Edit{Span: jsonspan.Span{Start: from, End: to}, With: with})
}

// wholeMessage returns the number of the drop to which a message [first, end) belongs of which nothing stays; 0 if
// something does. A drop with a message of its own is preferred.
func (d *dropper) wholeMessage(first, end int) int {
	k := d.dropOf[first]
	for _, of := range d.dropOf[first:end] {
		if of == 0 {
			return 0
		}
		if d.drops[k-1].Message == nil {
			k = of
		}
	}
	return k
}

// dropMessages takes out the run of whole messages of drop k that begins with item i, and returns the item behind it.
func (d *dropper) dropMessages(i, k int) int {
	message := d.drops[k-1].Message
	end := i
	for end < len(d.request.Items) {
		first, next := d.request.message(end)
		of := d.wholeMessage(first, next)
		if of == 0 || of != k && (message != nil || d.drops[of-1].Message != nil) {
			break
		}
		end = next
	}
	from, to := d.request.Items[i].Place().Start, d.request.Items[end-1].Place().End
	switch {
	case message != nil:
	case end < len(d.request.Items):
		to = d.request.Items[end].Place().Start
	case i > 0: // nothing follows, so the comma before goes
		from = d.request.Items[i-1].Place().End
	}
	d.replace(from, to, message)
	return end
}

// dropWithin takes items out of a message of which something stays.
func (d *dropper) dropWithin(first, end int) {
	items := d.request.Items
	for i := first; i < end; i++ {
		if d.dropOf[i] == 0 {
			continue
		}
		from := i
		for i < end && d.dropOf[i] != 0 {
			i++
		}
		if i < end {
			d.replace(items[from].Start, items[i].Start, nil)
		} else {
			d.replace(items[from-1].End, items[end-1].End, nil)
		}
	}
}

// insert puts the message of a drop beside a message of which something stays.
func (d *dropper) insert(drop Drop) {
	place := d.request.Items[drop.First].Place()
	if !d.request.sharesMessage(drop.First-1, drop.First) {
		d.replace(place.Start, place.Start, append(bytes.Clone(drop.Message), ','))
	} else {
		d.replace(place.End, place.End, append([]byte{','}, drop.Message...))
	}
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
	run := jsonspan.Span{Start: r.Items[first].Start, End: r.Items[end-1].End}
	if !r.sharesMessage(first-1, first) && !r.sharesMessage(first, end) {
		run.Start = r.Items[first].Place().Start
	}
	if !r.sharesMessage(end-1, end) && !r.sharesMessage(first-1, end-1) {
		run.End = r.Items[end-1].Place().End
	}
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
func DropThinking(r *Request, it *Item) (edits []jsonspan.Edit) {
	for k := 0; k < len(it.Thinking); {
		run := it.Thinking[k].Span
		next := jsonspan.SkipSpace(r.Body, run.End)
		for k++; k < len(it.Thinking) && r.Body[next] == ','; k++ {
			if jsonspan.SkipSpace(r.Body, next+1) != it.Thinking[k].Start {
				break
			}
			run.End = it.Thinking[k].End
			next = jsonspan.SkipSpace(r.Body, run.End)
		}
		if r.Body[next] == ',' {
			run.End = jsonspan.SkipSpace(r.Body, next+1)
		} else { // the last of the list: the comma before it goes
			run.Start = len(bytes.TrimRight(r.Body[:run.Start], " \t\r\n,"))
		}
		edits = append(edits, jsonspan.Edit{Span: run})
	}
	return edits
}
