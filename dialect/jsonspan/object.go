package jsonspan

import "github.com/tidwall/gjson"

// Object is a JSON object whose values are found by their keys. In represents a missing object as one without keys.
type Object struct {
	Span
	body    []byte
	members []member
}

type member struct{ key, value Span } // the key without its quotes

// ObjectAt reads the object that begins at body[start]. It finds the values and does not validate them.
func ObjectAt(body []byte, start int) (o *Object, err error) {
	o = &Object{Span: Span{Start: start}, body: body, members: make([]member, 0, 8)} // room for those of most objects
	o.End, err = members(body, start, func(key Span, valueStart int) (valueEnd int, err error) {
		valueEnd, err = EndOfValue(body, valueStart)
		o.members = append(o.members, member{key: key, value: Span{Start: valueStart, End: valueEnd}})
		return valueEnd, err
	})
	return o, err
}

// WholeObject reads body, which must be one valid JSON object.
func WholeObject(body []byte) (*Object, error) {
	if !Valid(body) {
		return nil, ErrNoJSON
	}
	return ObjectAt(body, SkipSpace(body, 0))
}

func (o *Object) member(key string) member {
	for _, m := range o.members {
		if string(m.key.Of(o.body)) == key {
			return m
		}
	}
	return member{}
}

// Value returns the value of a key; an empty span if the object has no such key.
func (o *Object) Value(key string) Span { return o.member(key).value }

// Member returns the span to cut out so that the object loses a key, which it must have: key, value and one comma.
func (o *Object) Member(key string) Span {
	m := o.member(key)
	return TakeOut(o.body, Span{Start: m.key.Start - 1, End: m.value.End})[0].Span // with the key's opening quote
}

// Find returns the value of the first key that exists with a value other than null; an empty span if there is none.
func (o *Object) Find(keys ...string) Span {
	for _, key := range keys {
		if v := UnlessNull(o.body, o.Value(key)); !v.Empty() {
			return v
		}
	}
	return Span{}
}

// Raw returns the JSON source of a key's value.
func (o *Object) Raw(key string) string { return string(o.Value(key).Of(o.body)) }

// Text returns the text of a key's value; "" if the value is no string. Unlike TextOf it keeps invalid UTF-8.
func (o *Object) Text(key string) string { return gjson.ParseBytes(o.Value(key).Of(o.body)).Str }

// In returns the object that is a key's value; an object without keys if the value is missing or no object.
func (o *Object) In(key string) *Object {
	if v := o.Value(key); !v.Empty() {
		if in, err := ObjectAt(o.body, v.Start); err == nil {
			return in
		}
	}
	return &Object{}
}
