package rewrite

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// form is how an item is sent when it is not sent whole. It holds all that is needed to send it again byte for byte, and
// to make the original of it with the artifacts it names.
type form struct {
	Rung    rung    `json:"r"`
	Patches []patch `json:"p"`
	Whole   int     `json:"w"`           // tokens of the item as it came
	First   int     `json:"f"`           // tokens of the item as it was first sent
	Now     int     `json:"n"`           // tokens of the item in this form
	Fold    int     `json:"o,omitempty"` // items that stand in the message With, this one the first of them
	With    string  `json:"m,omitempty"` // as JSON
	Kept    string  `json:"k,omitempty"` // artifact with the bytes of all items that With stands for
	Gap     string  `json:"x,omitempty"` // what parted them from the next item, if nothing is sent for them
	Over    int     `json:"v,omitempty"` // items of the segment of a compaction that begins here
	Told    string  `json:"d,omitempty"` // artifact with all of those, if some of them are sent
	Text    string  `json:"y,omitempty"` // artifact with the same as Told, or else as Kept, for a reader of lines
	At      int     `json:"c,omitempty"` // assistant's messages there were when the conversation was compacted
	Oldest  bool    `json:"b,omitempty"` // they are left out because they are old
	Gone    bool    `json:"g,omitempty"` // it stands in an earlier item's message
	Prose   string  `json:"z,omitempty"` // what a model says in the summary that it holds
	Until   int     `json:"u,omitempty"` // items behind the head of which that tells
	Refers  []int   `json:"e,omitempty"` // items behind the head that hold what this one only refers to

	name ref // under which it is recorded
}

// patch puts a text in the place of a value of the item.
type patch struct {
	Place    place    `json:"l"`
	Index    int      `json:"i,omitempty"` // of the part or call
	Text     string   `json:"t"`
	Artifact string   `json:"a"` // name of what stood there
	Spelling spelling `json:"s"` // how what stood there is made of the artifact
}

// place is a kind of value that a patch may replace; each is replaced by a string.
type place uint8

const (
	wholeContent place = iota // the item's content, whatever it is
	partText                  // the text of a part of the content
	callInput                 // the arguments of a call
	behind                    // nothing: the text comes behind what the content says
)

// rung is a step of the ladder.
type rung uint8

// The rungs, by which an item got its form.
const (
	rungOffload rung = iota + 1
	rungClear
	rungCompact
)

func (r rung) String() string { return [...]string{"none", "offload", "clear", "compact"}[r] }

// artifacts are the names of what the form speaks of, first the one to be read.
func (f *form) artifacts() (names []string) {
	for _, name := range []string{f.Text, f.Told, f.Kept} {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, q := range f.Patches {
		if q.Artifact != "" {
			names = append(names, q.Artifact)
		}
	}
	return names
}

// replaces reports whether nothing is left of the item's content.
func (f *form) replaces() bool {
	return f.Gone || f.Fold > 0 || len(f.Patches) > 0 && f.Patches[0].Place == wholeContent
}

// kept is the content that each artifact of item i must hold.
func (f *form) kept(r *Request, i int) (list []ware) {
	if f.Fold > 0 {
		list = append(list, ware{f.Kept, r.run(i, f.Fold)})
	}
	if f.Told != "" {
		list = append(list, ware{f.Told, r.run(i, f.Over)})
	}
	if f.Text != "" {
		list = append(list, ware{f.Text, f.transcript(r, i)})
	}
	spans := f.spans(r, &r.Items[r.Head+i])
	for n, q := range f.Patches {
		if q.Place == behind {
			continue
		}
		content, _ := keepsake(spans[n].Of(r.Body))
		list = append(list, ware{q.Artifact, content})
	}
	return list
}

// run is the bytes of n items behind the head, from item i on, as they are kept.
func (r *Request) run(i, n int) []byte { return r.Dialect.Run(r, r.Head+i, n).Of(r.Body) }

// without takes away again what was appended to what the item says.
func (r *Request) without(it *Item, text string) Edit {
	e, ok := r.Dialect.Append(r, it, text)
	if !ok {
		return Edit{}
	}
	return Edit{Span{e.End - len(e.With), e.End}, nil}
}

// gap is what parts item i behind the head from the one before it.
func (r *Request) gap(i int) string {
	return string(r.Body[r.Items[r.Head+i-1].End:r.Items[r.Head+i].Start])
}

// spelling is how a text was written as a JSON string. One text can be written in many ways, and the original is made
// again to the byte.
type spelling uint8

const (
	asJSON    spelling = iota // the artifact is the value itself as it stood in the body
	canonical                 // as appendQuoted writes
	asciiLow                  // \u00e9 for whatever is not ASCII, as Python writes it
	forHTML                   // \u003c for <, > and &, as Go writes it
)

// spellingOf says how the value v, a JSON string that says text, was written; asJSON if by none of the known rules.
func spellingOf(v []byte, text string) spelling {
	for s := canonical; s <= forHTML; s++ {
		if spelled := s.append(make([]byte, 0, len(v)), text); string(spelled) == string(v) {
			return s
		}
	}
	return asJSON
}

// append writes text as a JSON string by the rule.
func (s spelling) append(dst []byte, text string) []byte {
	if s == canonical {
		return appendQuoted(dst, text)
	}
	quoted := appendQuoted(nil, text)
	for len(quoted) > 0 {
		r, n := utf8.DecodeRune(quoted)
		switch {
		case s == asciiLow && (r >= utf8.RuneSelf || r == 0x7f):
			dst = appendEscaped(dst, r)
		case s == forHTML && (r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029'):
			dst = appendEscaped(dst, r)
		default:
			dst = append(dst, quoted[:n]...)
		}
		quoted = quoted[n:]
	}
	return dst
}

// appendEscaped writes a character as one or two \u escapes.
func appendEscaped(dst []byte, r rune) []byte {
	if r < 0x10000 {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	r -= 0x10000
	return fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
}

// original is the value that stood where the patch is, made of the artifact's content.
func (p patch) original(content []byte) []byte {
	if p.Spelling == asJSON {
		return content
	}
	return p.Spelling.append(make([]byte, 0, len(content)+len(content)/8+2), string(content))
}

// keepsake is the content that the artifact of a value must hold, and how the value is made of it.
func keepsake(v []byte) (content []byte, s spelling) {
	if len(v) < 2 || v[0] != '"' {
		return v, asJSON
	}
	text, err := unquote(v)
	if err != nil {
		return v, asJSON
	}
	if s := spellingOf(v, text); s != asJSON {
		return []byte(text), s
	}
	return v, asJSON
}

// spans are the values that the patches replace in the item; empty where it has no such value. The content is read once.
func (f *form) spans(r *Request, it *Item) []Span {
	all := make([]Span, len(f.Patches))
	var texts []Span
	for n, p := range f.Patches {
		switch {
		case p.Place == wholeContent:
			all[n] = r.whole(it)
		case p.Place == callInput && p.Index < len(it.Calls):
			all[n] = it.Calls[p.Index].Arguments
		case p.Place == partText:
			if texts == nil {
				texts = r.texts(it)
			}
			if p.Index < len(texts) {
				all[n] = texts[p.Index]
			}
		}
	}
	return all
}

// whole is an item's content, or the one text that is all of it.
func (r *Request) whole(it *Item) Span {
	if it.Content.Empty() {
		return it.Content
	}
	if text, ok := r.Dialect.WholeText(r.Body, it.Content); ok {
		return text
	}
	return it.Content
}

// texts are the texts of the content's parts; empty where a part is none.
func (r *Request) texts(it *Item) []Span {
	parts, _ := r.Parts(it) // what cannot be read has no such part
	all := make([]Span, len(parts))
	for n, p := range parts {
		if p.Kind == TextPart {
			all[n] = p.Value
		}
	}
	return all
}

// edits are what sends item i, behind the head, in this form.
func (f *form) edits(r *Request, i int) ([]Edit, error) {
	switch {
	case f.Gone:
		return nil, nil
	case f.Fold > 0 && i+f.Fold <= len(r.Items)-r.Head:
		return r.Dialect.Remove(r, r.Head+i, f.Fold, []byte(f.With)), nil
	}
	it := &r.Items[r.Head+i]
	list := make([]Edit, 0, len(f.Patches))
	spans := f.spans(r, it)
	for n, p := range f.Patches {
		if p.Place == behind {
			e, ok := r.Dialect.Append(r, it, p.Text)
			if !ok {
				return nil, errors.New("cannot send a message in its recorded form: nothing can be put behind what it says")
			}
			list = append(list, e)
			continue
		}
		v := spans[n]
		if v.Empty() {
			return nil, fmt.Errorf("cannot send a message in its recorded form: it has no value %d of kind %d", p.Index, p.Place)
		}
		with := make([]byte, 0, len(p.Text)+len(p.Text)/16+2)
		list = append(list, Edit{v, r.Dialect.Value(with, p.Place, p.Text)})
	}
	return list, nil
}

// encode is the form as it is recorded.
func (f *form) encode() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("BUG: a form cannot be written as JSON: " + err.Error())
	}
	return b
}

func decodeForm(b []byte) (*form, error) {
	var f form
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("cannot read a recorded form: %w", err)
	}
	return &f, nil
}
