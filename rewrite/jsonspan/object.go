package jsonspan

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// Object is a JSON object to be read by its keys, or edited. What is neither set nor taken out, white space too, stays
// as it is. An object that is not there has no keys.
type Object struct {
	Span
	body    []byte
	members []member
	inner   []*Object // those in it that were asked for
	added   []byte    // what comes behind the last member, each with a comma before it
}

type member struct {
	start int // of the key, with its quote
	key   []byte
	value Span
	with  []byte // in the place of the value; nil if that stays
	goes  bool
}

// ObjectAt reads the object that begins at body[i], which is valid JSON.
func ObjectAt(body []byte, i int) (o *Object, err error) {
	o = &Object{Span: Span{Start: i}, body: body, members: make([]member, 0, 8)} // most have no more
	o.End, err = members(body, i, func(key Span, i int) (int, error) {
		end, err := EndOfValue(body, i)
		o.members = append(o.members, member{start: key.Start - 1, key: key.Of(body), value: Span{Start: i, End: end}})
		return end, err
	})
	return o, err
}

// WholeObject reads the one object that body is.
func WholeObject(body []byte) (*Object, error) {
	if !Valid(body) {
		return nil, ErrNoJSON
	}
	return ObjectAt(body, SkipSpace(body, 0))
}

func (o *Object) member(key string) *member {
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

// Find is the value of the first of some keys that has one; null is none.
func (o *Object) Find(keys ...string) Span {
	for _, key := range keys {
		if v := UnlessNull(o.body, o.Value(key)); !v.Empty() {
			return v
		}
	}
	return Span{}
}

// Raw is the value of a key as it is written.
func (o *Object) Raw(key string) string { return string(o.Value(key).Of(o.body)) }

// Text is the text of a short string under a key; empty if the key has no string.
func (o *Object) Text(key string) string { return gjson.ParseBytes(o.Value(key).Of(o.body)).Str }

// In is the object under a key. Its edits are among those of the object that it is in.
func (o *Object) In(key string) *Object {
	if v := o.Value(key); !v.Empty() {
		if in, err := ObjectAt(o.body, v.Start); err == nil {
			o.inner = append(o.inner, in)
			return in
		}
	}
	return &Object{}
}

// Set gives a key a value, which is JSON: in the place of the one that it has, or else behind all others.
func (o *Object) Set(key, value string) {
	if m := o.member(key); m != nil {
		m.with, m.goes = []byte(value), false
		return
	}
	o.added = append(append(AppendQuoted(append(o.added, ','), key), ':'), value...)
}

// TakeOut takes keys out, as far as the object has them.
func (o *Object) TakeOut(keys ...string) {
	for _, key := range keys {
		if m := o.member(key); m != nil {
			m.goes = true
		}
	}
}

// Edits are what makes the object so. What goes takes its comma with it.
func (o *Object) Edits() (edits []Edit) {
	for _, in := range o.inner {
		edits = append(edits, in.Edits()...)
	}
	var gone []Span
	at, added := o.Start+1, bytes.TrimPrefix(o.added, []byte{','})
	for _, m := range o.members {
		if m.goes {
			gone = append(gone, Span{Start: m.start, End: m.value.End})
			continue
		}
		if m.with != nil {
			edits = append(edits, Edit{Span: m.value, With: m.with})
		}
		at, added = m.value.End, o.added
	}
	if len(added) > 0 {
		edits = append(edits, Insert(at, string(added)))
	}
	return append(edits, TakeOut(o.body, gone...)...)
}
