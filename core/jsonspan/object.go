package jsonspan

import (
	"bytes"
	"slices"
)

// Object is a JSON object of which members are to be set or taken out. All that is not, white space too, stays as it
// is.
type Object struct {
	Span
	members []setting
	inside  int    // where its first member begins, or would
	added   []byte // what comes behind the last member, each with a comma before it
}

// setting is a member of an object.
type setting struct {
	Span       // from its key on
	key        []byte
	value      Span
	with       []byte // nil: its value stays
	isTakenOut bool
}

// ObjectAt reads the members of the object that begins at body[i], which is valid JSON.
func ObjectAt(body []byte, i int) (*Object, error) {
	const few = 8 // members of most objects
	o := &Object{members: make([]setting, 0, few)}
	if i >= len(body) || body[i] != '{' {
		return nil, errNoObject
	}
	o.inside = SkipSpace(body, i+1)
	o.Start = i
	var err error
	o.End, err = Members(body, i, func(key []byte, i int) (int, error) {
		end, err := EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		colon := bytes.LastIndexByte(body[:i], ':')
		start := bytes.LastIndexByte(body[:colon], '"') - len(key) - 1
		m := setting{Span: Span{Start: start, End: end}, key: key, value: Span{Start: i, End: end}}
		o.members = append(o.members, m)
		return end, nil
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// WholeObject reads the members of the one object that body is.
func WholeObject(body []byte) (*Object, error) {
	if !Valid(body) {
		return nil, ErrNoJSON
	}
	return ObjectAt(body, SkipSpace(body, 0))
}

func (o *Object) member(key string) *setting {
	for i := range o.members {
		if string(o.members[i].key) == key {
			return &o.members[i]
		}
	}
	return nil
}

// Value is the value of a key; empty if the object has no such key.
func (o *Object) Value(key string) Span {
	if m := o.member(key); m != nil {
		return m.value
	}
	return Span{}
}

// Find is the value of the first of some keys that has one; null is none. It is empty if there is no such key.
func (o *Object) Find(body []byte, keys ...string) Span {
	for _, key := range keys {
		if v := UnlessNull(body, o.Value(key)); !v.Empty() {
			return v
		}
	}
	return Span{}
}

// Text is the text of a short string under a key; empty if the key has no string.
func (o *Object) Text(body []byte, key string) string {
	text, _ := ShortText(o.Value(key).Of(body))
	return text
}

// HasOnly reports whether the object has no keys but these.
func (o *Object) HasOnly(keys ...string) bool {
	for i := range o.members {
		if !slices.Contains(keys, string(o.members[i].key)) {
			return false
		}
	}
	return true
}

// WithComma is the member with a key, and the comma that parts it from a neighbor; empty if there is no such key.
func (o *Object) WithComma(key string) (member Span) {
	for i := range o.members {
		switch m := &o.members[i]; {
		case string(m.key) != key:
		case i > 0:
			return Span{Start: o.members[i-1].End, End: m.End}
		case len(o.members) > 1:
			return Span{Start: m.Start, End: o.members[1].Start}
		default:
			return m.Span
		}
	}
	return Span{}
}

// Set gives a key a value, which is JSON: in the place of the one that it has, or else behind all others.
func (o *Object) Set(key, value string) {
	if m := o.member(key); m != nil {
		m.with, m.isTakenOut = []byte(value), false
		return
	}
	o.added = append(append(AppendQuoted(append(o.added, ','), key), ':'), value...)
}

// TakeOut takes keys out, as far as the object has them.
func (o *Object) TakeOut(keys ...string) {
	for _, key := range keys {
		if m := o.member(key); m != nil {
			m.isTakenOut = true
		}
	}
}

// TakeOutIn takes a key out of the object that another key has for its value. Where that is none, nothing changes.
func (o *Object) TakeOutIn(body []byte, outer, key string) error {
	v := o.Value(outer)
	if v.Empty() || body[v.Start] != '{' {
		return nil
	}
	in, err := ObjectAt(body, v.Start)
	if err != nil || in.Value(key).Empty() {
		return err
	}
	in.TakeOut(key)
	edits := in.Edits()
	for i := range edits {
		edits[i].Start, edits[i].End = edits[i].Start-v.Start, edits[i].End-v.Start
	}
	left, err := Splice(v.Of(body), edits)
	if err == nil {
		o.Set(outer, string(left))
	}
	return err
}

// Edits are what makes the object so. What goes takes its comma with it.
func (o *Object) Edits() (edits []Edit) {
	stay := len(o.members) - 1 // the last member that stays
	for stay >= 0 && o.members[stay].isTakenOut {
		stay--
	}
	for i := range o.members[:stay+1] {
		switch m := &o.members[i]; {
		case m.isTakenOut:
			edits = append(edits, Edit{Span: Span{Start: m.Start, End: o.members[i+1].Start}})
		case m.with != nil:
			edits = append(edits, Edit{Span: m.value, With: m.with})
		}
	}
	behind, added := Span{Start: o.inside, End: o.inside}, o.added
	if n := len(o.members); n > 0 {
		behind.End = o.members[n-1].End
	}
	if stay >= 0 {
		behind.Start = o.members[stay].End
	} else if len(added) > 0 {
		added = added[1:]
	}
	if len(added) > 0 || !behind.Empty() {
		edits = append(edits, Edit{Span: behind, With: added})
	}
	return edits
}
