package conversation

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"epitome/internal/jsonspan"
)

// Drop takes items [First, First+Count) out of a request. Message, if not nil, is the JSON of a message in their place.
type Drop struct {
	First, Count int
	Message      []byte
}

// DropItems returns the edits for all drops, which must be in order and must not overlap. The edits also remove commas
// that would be left over, and a message whose items are all dropped.
func DropItems(r *Request, drops []Drop) (edits []jsonspan.Edit, err error) {
	isDropped, messages, err := r.dropped(drops)
	if err != nil {
		return nil, err
	}
	var removed []jsonspan.Span // without a replacement
	for first, end := 0, 0; first < len(r.Items); first = end {
		for end = first + 1; end < len(r.Items) && r.Items[end].Number == r.Items[first].Number; {
			end++
		}
		message := r.Items[first].MessageSpan()
		stays := slices.Contains(isDropped[first:end], false)
		for i := first; i < end && stays; i++ {
			if isDropped[i] {
				removed = append(removed, r.Items[i].Span)
			}
		}
		isNone := func(m string) bool { return m == "" }
		with := strings.Join(slices.DeleteFunc(slices.Clone(messages[first:end]), isNone), ",")
		switch {
		case !stays && with != "":
			edits = append(edits, jsonspan.Edit{Span: message, With: []byte(with)})
		case !stays:
			removed = append(removed, message)
		case messages[first] != "": // the message loses its first item: the replacement goes before it
			edits = append(edits, jsonspan.Insert(message.Start, with+","))
		case with != "":
			edits = append(edits, jsonspan.Insert(message.End, ","+with))
		}
	}
	return append(edits, jsonspan.TakeOut(r.Body, removed...)...), nil
}

// dropped reports which items the drops take out, and returns Drop.Message of each drop by its first item.
func (r *Request) dropped(drops []Drop) (isDropped []bool, messages []string, err error) {
	isDropped = make([]bool, len(r.Items))
	messages = make([]string, len(r.Items))
	next := 0 // the first item that the next drop may have
	for _, d := range drops {
		if d.First < next || d.First+d.Count > len(r.Items) {
			const problem = "cannot drop %d items from item %d on: they overlap others, or do not exist"
			return nil, nil, fmt.Errorf(problem, d.Count, d.First)
		}
		if d.Count > 0 {
			messages[d.First] = string(d.Message)
		}
		for next = d.First; next < d.First+d.Count; next++ {
			isDropped[next] = true
		}
	}
	return isDropped, messages, nil
}

// Source returns the bytes of items [first, end), which are hashed or kept as an artifact: messages with commas between
// them, but only the part with these items of a message at either end that has other items too. Cache marks are left
// out, as clients move them from turn to turn: hashes and names of artifacts must stay the same.
func (r *Request) Source(first, end int) []byte {
	sourceOf := func(i int) jsonspan.Span {
		number := r.Items[i].Number
		if first > 0 && r.Items[first-1].Number == number || end < len(r.Items) && r.Items[end].Number == number {
			return r.Items[i].Span
		}
		return r.Items[i].MessageSpan()
	}
	run := jsonspan.Span{Start: sourceOf(first).Start, End: sourceOf(end - 1).End}
	var marks []jsonspan.Span
	for i := range r.Items[first:end] {
		marks = append(marks, r.Items[first+i].Marks...)
	}
	return r.without(marks, run)
}

// ContentSource returns the JSON of an item's content to be kept as an artifact, without cache marks and other spans.
func (r *Request) ContentSource(it *Item, others []jsonspan.Span) []byte {
	all := append(others, it.Marks...)
	slices.SortFunc(all, func(a, b jsonspan.Span) int { return a.Start - b.Start })
	return r.without(all, it.Content)
}

// without returns a copy of the bytes in span without those of other spans, in their order, that lie in it.
func (r *Request) without(others []jsonspan.Span, span jsonspan.Span) []byte {
	source := make([]byte, 0, span.Len())
	copied := span.Start // all in span before copied is done
	for _, other := range others {
		if other.Start >= copied && other.End <= span.End {
			source = append(source, r.Body[copied:other.Start]...)
			copied = other.End
		}
	}
	return append(source, r.Body[copied:span.End]...)
}

// MessagesIn returns how many messages items [first, end) belong to, in whole or in part.
func (r *Request) MessagesIn(first, end int) int {
	end = min(end, len(r.Items))
	if first >= end {
		return 0
	}
	return r.Items[end-1].Number - r.Items[first].Number + 1
}

// ReplaceText returns the edit that replaces the text of a text part. Text for an Encoded part may be JSON already.
func ReplaceText(p *Part, text string) jsonspan.Edit {
	with := jsonspan.AppendQuoted(nil, text)
	if p.Encoded && !jsonspan.Valid([]byte(text)) { // the API parses the text as JSON
		with = jsonspan.AppendQuoted(nil, string(with))
	}
	return jsonspan.Edit{Span: p.Value, With: with}
}

// ReplaceContent returns the edits that replace the whole content of an item, pictures too, by one text; none for an
// item whose content no text can replace. Of the outputs of a command the first becomes the text and the others
// nothing, which keeps its exit codes.
func (r *Request) ReplaceContent(it *Item, text string) (edits []jsonspan.Edit) {
	if it.Content.Empty() || it.Locked {
		return nil
	}
	api := r.Dialect.API()
	isText := len(it.Parts) > 0 && it.Parts[0].Kind == TextPart
	isOutput := isText && it.Parts[0].Empty() // no other texts are in no part of a list
	if isOutput || isText && len(it.Parts) == 1 && api.KeepsPart {
		for k := range it.Parts {
			edits = append(edits, ReplaceText(&it.Parts[k], text))
			text = ""
		}
		return edits
	}
	if !api.HasBlocks {
		return []jsonspan.Edit{{Span: it.Content, With: jsonspan.AppendQuoted(nil, text)}}
	}
	if len(it.Calls) > 0 || len(it.Thinking) > 0 { // they stand in the list that would be replaced
		return nil
	}
	block := WithMark(api.TextPart(text), r.Mark(it, it.Content))
	if r.Body[it.Content.Start] == '[' { // else the item is a run of blocks within the list of its message
		block = slices.Concat([]byte("["), block, []byte("]"))
	}
	return []jsonspan.Edit{{Span: it.Content, With: block}}
}

// Mark returns the last cache mark of an item within a span, behind a comma; it is empty if there is none.
func (r *Request) Mark(it *Item, in jsonspan.Span) string {
	for _, mark := range slices.Backward(it.Marks) {
		if mark.Start > in.Start && mark.End < in.End {
			return "," + strings.Trim(string(mark.Of(r.Body)), ", \t\r\n")
		}
	}
	return ""
}

// WithMark returns JSON that ends with a text's block, as a message does, with a mark as Mark returns it in that block.
func WithMark(block []byte, mark string) []byte {
	end := bytes.LastIndex(block, []byte(`"}`)) + 1
	return slices.Concat(block[:end], []byte(mark), block[end:])
}

// DropThinking returns the edits that remove all blocks of reasoning from an item; one that OnlyThinks must be dropped.
func DropThinking(r *Request, it *Item) []jsonspan.Edit {
	var blocks []jsonspan.Span
	for _, t := range it.Thinking {
		blocks = append(blocks, t.Span)
	}
	return jsonspan.TakeOut(r.Body, blocks...)
}

// Checker collects the flaws of a request: sentences that say how it breaks a rule of its API, the same for the same
// flaw.
type Checker struct {
	Flaws   []string
	waiting map[string][2]int // by ID of a call without a result so far: its item, and its place there
	open    [][2]int          // the same of calls that have none where it has to be
	orphans []int             // indexes of results that answer no call
}

// Check finds how a request breaks rules of its API, among the rules that an edit could break.
func (r *Request) Check() *Checker {
	c := &Checker{waiting: map[string][2]int{}}
	for i := range r.Items {
		r.Dialect.Check(c, r, i)
		c.pair(i, &r.Items[i])
	}
	c.Close()
	return c
}

// Unpaired returns the calls without results, each as its item and its place there, and the items of results without
// calls.
func (r *Request) Unpaired() (calls [][2]int, results []int) {
	c := r.Check()
	return c.open, c.orphans
}

// Add adds a flaw. id is that of the call concerned; empty if there is none.
func (c *Checker) Add(flaw, id string) {
	if id != "" {
		flaw += " (" + id + ")"
	}
	c.Flaws = append(c.Flaws, flaw)
}

// pair notes the calls of item i. For a result it returns the call that it answers, as the call's item and its place
// there, and adds a flaw if the call that it names does not wait for one.
func (c *Checker) pair(i int, it *Item) (call [2]int, waits bool) {
	for k, call := range it.Calls {
		c.waiting[call.ID] = [2]int{i, k}
	}
	if it.Role != Tool {
		return call, false
	}
	call, waits = c.waiting[it.Answers]
	if !waits && it.Answers != "" { // some kinds of results name no call
		c.Add("a tool's result answers no call that waits for it", it.Answers)
		c.orphans = append(c.orphans, i)
	}
	delete(c.waiting, it.Answers)
	return call, waits
}

// Close adds a flaw for each call that still waits for a result. Dialects call it where no more results are allowed.
func (c *Checker) Close() {
	for _, id := range slices.Sorted(maps.Keys(c.waiting)) { // sorted, so that equal requests have equal errors
		c.Add("a call is not answered", id)
		if id != "" { // else no result could name it
			c.open = append(c.open, c.waiting[id])
		}
	}
	clear(c.waiting)
}

// Worse returns an error if a rewritten request is not JSON or has a flaw that the original did not have. Flaws of the
// original may stay: epitome repairs a flaw only after a provider has refused it.
func Worse(original, rewritten *Request) error {
	if !jsonspan.Valid(rewritten.Body) { // reading it has not validated all values
		return jsonspan.ErrNoJSON
	}
	remaining := map[string]int{} // how often the rewritten request may still have a flaw
	for _, f := range original.Check().Flaws {
		remaining[f]++
	}
	for _, f := range rewritten.Check().Flaws {
		remaining[f]--
		if remaining[f] < 0 {
			return fmt.Errorf("the rewritten request breaks a rule: %s", f)
		}
	}
	return nil
}
