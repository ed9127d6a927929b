package overflow

import "github.com/tidwall/gjson"

// mostMembers is how many members of an answer are kept. Nearly all answers have fewer.
const mostMembers = 16

// outline is the members of an answer, in their order: it is gone through once, and asked often.
type outline struct {
	keys   [mostMembers]string
	values [mostMembers]gjson.Result
	count  int
	known  bool // it has all of them
}

// read takes the members of a value, and reports whether that is an object, and there is room for them.
func (o *outline) read(v gjson.Result) bool {
	o.known = v.IsObject()
	v.ForEach(func(key, member gjson.Result) bool {
		if o.known = o.known && o.count < mostMembers; o.known {
			o.keys[o.count], o.values[o.count] = key.Str, member
			o.count++
		}
		return o.known
	})
	return o.known
}

// get is the first member of that name.
func (o *outline) get(key string) (v gjson.Result) {
	for i, k := range o.keys[:o.count] {
		if k == key {
			return o.values[i]
		}
	}
	return v
}

// readOutline reads what stands in an answer, as readValue does.
func (c *complaint) readOutline() {
	o, inside := &c.answer, c.failed
	for i := 0; i < o.count && !inside; i++ {
		inside = saysError(o.keys[i], o.values[i])
	}
	for i := range o.count {
		c.readMember(o.keys[i], o.values[i], inside, 1)
	}
}

// isAnswer reports whether the outline shows that something was made, and is there.
func (o *outline) isAnswer() bool {
	if !o.known {
		return false
	}
	usage := o.get("usage")
	made := firstOf(usage, "completion_tokens", "output_tokens")
	if !made.Exists() {
		made = o.get("eval_count")
	}
	content := o.get("content")
	return made.Int() != 0 && (!content.IsArray() || content.Get("0").Exists()) &&
		o.get("incomplete_details").Get("reason").Str == ""
}
