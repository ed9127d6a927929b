// Package decision is in what form each item of a prefix is sent, and how that is recorded.
//
// It promises that a recorded form is sent again byte for byte by any later process, and that what it takes out stands
// in the artifacts that it names. A record that cannot be read is not found: a shallower one rules.
// Ledger and Shelf are declared here; the package does no I/O of its own.
package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/span"
)

// Form is how an item is sent when it is not sent whole. It holds all that is needed to send it again byte for byte.
type Form struct {
	Rung    Rung    `json:"r"`
	Patches []Patch `json:"p"`
	Whole   int     `json:"w"`           // tokens of the item as it came
	First   int     `json:"f"`           // tokens of the item as it was first sent
	Now     int     `json:"n"`           // tokens of the item in this form
	Fold    int     `json:"o,omitempty"` // items that stand in the message With, this one the first of them
	With    string  `json:"m,omitempty"` // as JSON
	Kept    string  `json:"k,omitempty"` // artifact with the bytes of all items that With stands for
	Over    int     `json:"v,omitempty"` // items of the segment of a compaction that begins here
	Told    string  `json:"d,omitempty"` // artifact with all of those, if some of them are sent
	Text    string  `json:"y,omitempty"` // artifact with the same as Told, or else as Kept, for a reader of lines
	At      int     `json:"c,omitempty"` // assistant's messages there were when the conversation was compacted
	Oldest  bool    `json:"b,omitempty"` // they are left out because they are old
	Gone    bool    `json:"g,omitempty"` // it stands in an earlier item's message
	Prose   string  `json:"z,omitempty"` // what a model says in the summary that it holds
	Until   int     `json:"u,omitempty"` // items behind the head of which that tells
	Said    string  `json:"t,omitempty"` // artifact with the item as it came, if what was thought in it is not sent
	Mark    string  `json:"q,omitempty"` // the client's mark for the provider's cache, on the text that it holds

	// why it was chosen; empty in records of an epitome that did not note it
	Why event.Code `json:"s,omitempty"`
	// for whoever reads the record without the request: the numbers of the first and last message that it is about, and
	// how many tokens all those had as they came; 0 in records of an epitome that did not note them
	Item  int `json:"i,omitempty"`
	Last  int `json:"j,omitempty"`
	Stood int `json:"a,omitempty"`

	Name Ref // under which it is recorded

	transcript []byte // of a new form: a long one is not made twice
}

// Came is how many tokens all items that the form is about had as they came; 0 if that was not noted.
func (f *Form) Came() int {
	if f.Stood == 0 && f.Fold <= 1 {
		return f.Whole
	}
	return f.Stood
}

// Patch puts a text in the place of a value of the item.
type Patch struct {
	Place    conversation.Place `json:"l"`
	Index    int                `json:"i,omitempty"` // of the part or call
	Text     string             `json:"t"`
	Artifact string             `json:"a"`           // name of what stood there
	Readable string             `json:"b,omitempty"` // artifact with the same as history.Readable makes it
}

// Rung is a step of the ladder.
type Rung uint8

// The rungs, by which an item got its form.
const (
	RungOffload Rung = iota + 1
	RungClear
	RungCompact
)

func (r Rung) String() string { return [...]string{"none", "offload", "clear", "compact"}[r] }

// Artifacts are the names of what the form speaks of, first the one to be read.
func (f *Form) Artifacts() (names []string) {
	for _, name := range []string{f.Text, f.Told, f.Kept} {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, q := range f.Patches {
		for _, name := range [...]string{q.Artifact, q.Readable} {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	if f.Said != "" {
		names = append(names, f.Said)
	}
	return names
}

// ReplacesContent reports whether nothing is left of the item's content.
func (f *Form) ReplacesContent() bool {
	return f.Gone || f.Fold > 0 || len(f.Patches) > 0 && f.Patches[0].Place == conversation.WholeContent
}

// IsWhole reports whether the item is sent as it came, and it is recorded that it is.
func (f *Form) IsWhole() bool { return !f.ReplacesContent() && len(f.Patches) == 0 && f.Said == "" }

// KeptArtifacts is the content that each artifact of item i must hold.
func (f *Form) KeptArtifacts(r *conversation.Request, i int) (list []Artifact) {
	if f.Fold > 0 {
		list = append(list, Artifact{f.Kept, r.BytesOf(i, f.Fold)})
	}
	if f.Told != "" {
		list = append(list, Artifact{f.Told, r.BytesOf(i, f.Over)})
	}
	if f.Text != "" {
		text := f.transcript
		if text == nil {
			text = f.madeTranscript(r, i)
		} else { // others may have a form that is sent, and it stays as it is
			f.transcript = nil
		}
		list = append(list, Artifact{f.Text, text})
	}
	it := &r.Items[r.Head+i]
	if f.Said != "" && len(it.Thinking) > 0 { // else the client has left it out itself
		list = append(list, Artifact{f.Said, r.BytesOf(i, 1)})
	}
	spans := f.Spans(r, it)
	for n, q := range f.Patches {
		if q.Place == conversation.Behind {
			continue
		}
		list = append(list, Artifact{q.Artifact, conversation.ContentOf(r, spans[n])})
		if q.Readable != "" {
			list = append(list, Artifact{q.Readable, history.Readable(r, spans[n])})
		}
	}
	return list
}

// Spans are the values that the patches replace in the item; empty where it has no such value. The content is read
// once.
func (f *Form) Spans(r *conversation.Request, it *conversation.Item) []span.Span {
	return f.appendSpans(make([]span.Span, 0, len(f.Patches)), r, it)
}

func (f *Form) appendSpans(all []span.Span, r *conversation.Request, it *conversation.Item) []span.Span {
	var texts []span.Span
	for n := range f.Patches {
		var v span.Span
		switch p := &f.Patches[n]; {
		case p.Place == conversation.WholeContent:
			v = r.WholeContent(it)
		case p.Place == conversation.CallInput && p.Index < len(it.Calls):
			v = it.Calls[p.Index].Arguments
		case p.Place == conversation.PartText, p.Place == conversation.EncodedText:
			if texts == nil {
				texts = r.TextSpans(it)
			}
			if p.Index < len(texts) {
				v = texts[p.Index]
			}
		}
		all = append(all, v)
	}
	return all
}

// Edits are what sends the request with its items, behind the head, in these forms. Those from item to on are not sent,
// if it has so many. A form's mark is sent where the request has room for one more.
func Edits(r *conversation.Request, forms []*Form, to int) ([]span.Edit, error) {
	return Spelled(nil).Edits(r, forms, to)
}

// Spelled are the texts of patches as JSON strings, of a conversation that one goroutine has. What was sent once is not
// spelled again. Nil remembers nothing.
type Spelled map[*Patch][]byte

// Edits are those of the package's Edits.
func (s Spelled) Edits(r *conversation.Request, forms []*Form, to int) ([]span.Edit, error) {
	plain, err := s.edits(r, forms, to, false)
	isMarked := func(f *Form) bool { return f != nil && f.Mark != "" }
	m, marks := r.Dialect.(conversation.Marker)
	if err != nil || !marks || !slices.ContainsFunc(forms, isMarked) {
		return plain, err
	}
	if outside, most := m.Marks(r); outside+MarksLeft(r, plain) >= most {
		return plain, nil
	}
	return s.edits(r, forms, to, true)
}

// MarksLeft is how many of the marks in messages are sent after the edits.
func MarksLeft(r *conversation.Request, edits []span.Edit) (n int) {
	for _, m := range r.Marks {
		if !slices.ContainsFunc(edits, func(e span.Edit) bool { return e.Start <= m.Start && m.End <= e.End }) {
			n++
		}
	}
	return n
}

// edits are those with the mark of a form or without.
func (s Spelled) edits(r *conversation.Request, forms []*Form, to int, marked bool) ([]span.Edit, error) {
	var list []conversation.Removal
	var edits []span.Edit
	all := len(r.Items) - r.Head
	for i, f := range forms[:min(to, len(forms))] {
		switch {
		case f == nil || f.Gone:
		case f.Fold > 0 && i+f.Fold <= all:
			list = append(list, conversation.Removal{First: r.Head + i, N: f.Fold,
				With: withMark(r, f, []byte(f.With), marked)})
		default:
			var err error
			if edits, err = f.patch(edits, &r.Items[r.Head+i], sending{r, s, marked}); err != nil {
				return nil, err
			}
		}
	}
	if to < all {
		list = append(list, conversation.Removal{First: r.Head + to, N: all - to})
	}
	if len(list) == 0 {
		return edits, nil
	}
	removed, err := conversation.Remove(r, list)
	return append(edits, removed...), err
}

// withMark is a text of the form's as it is sent, with its mark or without.
func withMark(r *conversation.Request, f *Form, text []byte, marked bool) []byte {
	if m, marks := r.Dialect.(conversation.Marker); marks && marked && f.Mark != "" {
		text, _ = m.Mark(text, f.Mark)
	}
	return text
}

// sending is a request whose forms become edits: with their marks or without.
type sending struct {
	request *conversation.Request
	known   Spelled
	marked  bool
}

// patch adds the edits of the form's patches, and those that take out what was thought.
func (f *Form) patch(list []span.Edit, it *conversation.Item, to sending) ([]span.Edit, error) {
	r := to.request
	if f.Said != "" {
		list = append(list, conversation.WithoutThinking(r, it)...)
	}
	var few [4]span.Span
	spans := f.appendSpans(few[:0], r, it)
	for n := range f.Patches {
		p := &f.Patches[n]
		if p.Place == conversation.Behind {
			e, ok := r.Dialect.Append(r, it, p.Text)
			if !ok {
				return nil, errors.New("cannot send a message in its recorded form: nothing can be put behind what it says")
			}
			e.With = withMark(r, f, e.With, to.marked)
			list = append(list, e)
			continue
		}
		v := spans[n]
		if v.Empty() {
			return nil, fmt.Errorf("cannot send a message in its recorded form: it has no value %d of kind %d", p.Index, p.Place)
		}
		list = append(list, span.Edit{Span: v, With: to.known.value(r, v, p)})
	}
	return list, nil
}

// value is what a patch puts in the place of v. Where that is more than a string, it may hold a mark for the provider's
// cache, which comes and goes: it is made anew.
func (s Spelled) value(r *conversation.Request, v span.Span, p *Patch) []byte {
	if with, ok := s[p]; ok && r.Body[v.Start] == '"' {
		return with
	}
	with := r.Dialect.Value(make([]byte, 0, len(p.Text)+len(p.Text)/16+2), v.Of(r.Body), p.Place, p.Text)
	if s != nil && r.Body[v.Start] == '"' {
		s[p] = with
	}
	return with
}

// encode is the form as it is recorded.
func (f *Form) encode() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("BUG: a form cannot be written as JSON: " + err.Error())
	}
	return b
}

func decodeForm(b []byte) (*Form, error) {
	var f Form
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("cannot read a recorded form: %w", err)
	}
	return &f, nil
}

// Artifact is content for the shelf.
type Artifact struct {
	Name    string
	Content []byte
}

// Transcript is the text for a reader of lines of what the segment of a compaction that item i begins holds. A new form
// that is to be named has it until it is among what is kept.
func (f *Form) Transcript(r *conversation.Request, i int) []byte {
	f.transcript = f.madeTranscript(r, i)
	return f.transcript
}

func (f *Form) madeTranscript(r *conversation.Request, i int) []byte {
	n, name := f.Fold, f.Kept
	if f.Told != "" {
		n, name = f.Over, f.Told
	}
	return history.Transcript(r, i, n, name)
}
