package jsonspan

import "github.com/tidwall/gjson"

// Object is a JSON object to be read by its keys. An object that is not there has no keys.
type Object struct {
	Span
	body    []byte
	members []member
}

type member struct{ key, value Span } // the key without its quotes

// ObjectAt reads the object that begins at body[i], which is valid JSON.
func ObjectAt(body []byte, i int) (o *Object, err error) {
	o = &Object{Span: Span{Start: i}, body: body, members: make([]member, 0, 8)} // most have no more
	o.End, err = members(body, i, func(key Span, i int) (int, error) {
		end, err := EndOfValue(body, i)
		o.members = append(o.members, member{key, Span{Start: i, End: end}})
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

func (o *Object) member(key string) (m member) {
	for _, m := range o.members {
		if string(m.key.Of(o.body)) == key {
			return m
		}
	}
	return m
}

// Value is the value of a key; empty if the object has no such key.
func (o *Object) Value(key string) Span { return o.member(key).value }

// Member is a key that the object has, with its value and the comma that separates it from others.
func (o *Object) Member(key string) Span {
	m := o.member(key)
	return TakeOut(o.body, Span{Start: m.key.Start - 1, End: m.value.End})[0].Span
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

// In is the object under a key.
func (o *Object) In(key string) *Object {
	if v := o.Value(key); !v.Empty() {
		if in, err := ObjectAt(o.body, v.Start); err == nil {
			return in
		}
	}
	return &Object{}
}
