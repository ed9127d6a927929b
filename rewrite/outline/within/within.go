// Package within finds where a value of JSON stands in another one: under which keys, and which one names an object.
//
// It promises that a path leads to the value, as jq has it, and that it goes over the outer value once for each level.
package within

import (
	"strconv"
	"strings"

	"epitome/rewrite/span"
)

// NameOf returns the text that names an object, or the one of its metadata, or else the first one of a field that has
// a name, an identity or an address by what it is called and is another in each of the objects, as tells says of a key;
// an empty span if there is none.
func NameOf(body []byte, item span.Span, tells func(key string) bool) (found span.Span) {
	for _, key := range [...]string{"name", "id", "title", "path", "file", "key"} {
		if at := Under(body, item, key); !at.Empty() && body[at.Start] == '"' {
			return at
		}
	}
	if meta := Under(body, item, "metadata"); !meta.Empty() && body[meta.Start] == '{' {
		if at := Under(body, meta, "name"); !at.Empty() && body[at.Start] == '"' {
			return at
		}
	}
	if body[item.Start] != '{' {
		return found
	}
	_, _ = span.Entries(body, item.Start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err == nil && found.Empty() && body[i] == '"' && namesByKey(string(key)) && tells(string(key)) {
			found = span.Span{Start: i, End: end}
		}
		return end, err
	})
	return found
}

// namesByKey reports whether a field has what names an object, by what it is called: logicalResourceId, Relation Name.
func namesByKey(key string) bool {
	key = strings.ToLower(key)
	for _, end := range [...]string{"name", "id", "identifier", "arn", "url", "address", "email"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// Under returns the value under a key of an object; an empty span if it has none.
func Under(body []byte, object span.Span, key string) (found span.Span) {
	if body[object.Start] != '{' {
		return found
	}
	_, _ = span.Entries(body, object.Start, func(k []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err == nil && string(k) == key {
			found = span.Span{Start: i, End: end}
		}
		return end, err
	})
	return found
}

// StepsTo returns the path from a value to one in it, as jq has it; ok is false if it does not lead there by plain
// keys.
func StepsTo(body []byte, from, to span.Span) (path string, ok bool) {
	for from != to {
		next, step, n := span.Span{}, "", 0
		note := func(key []byte, i int) (int, error) {
			end, err := span.EndOfValue(body, i)
			if err == nil && i <= to.Start && to.End <= end {
				next = span.Span{Start: i, End: end}
				if step = "[" + strconv.Itoa(n) + "]"; key != nil {
					step = "." + string(key)
				}
				if key != nil && !IsWord(string(key)) {
					step = ""
				}
			}
			n++
			return end, err
		}
		switch body[from.Start] {
		case '{':
			_, _ = span.Entries(body, from.Start, note)
		case '[':
			_, _ = span.Elements(body, from.Start, func(i int) (int, error) { return note(nil, i) })
		}
		if step == "" {
			return "", false
		}
		path, from = path+step, next
	}
	return path, true
}

// IsWord reports whether jq takes the key without quotes.
func IsWord(key string) bool {
	for i, r := range key {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return key != ""
}
