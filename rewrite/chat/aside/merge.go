package aside

import (
	"bytes"
	"encoding/json"
	"strings"
)

// merge puts a piece of a streamed message behind what came of it before: texts behind texts, what has an index to
// what has the same, and all else in the place of what was.
func merge(to, piece map[string]any) {
	for key, v := range piece {
		switch v := v.(type) {
		case nil:
		case string:
			before, said := to[key].(string)
			if said && (isName(key) || v == "") {
				continue
			}
			to[key] = before + v
		case map[string]any:
			before, said := to[key].(map[string]any)
			if !said {
				before = map[string]any{}
				to[key] = before
			}
			merge(before, v)
		case []any:
			before, _ := to[key].([]any)
			to[key] = mergeList(before, v)
		default:
			to[key] = v
		}
	}
}

// isName reports whether a text under a key comes whole, and maybe more than once.
func isName(key string) bool {
	switch key {
	case "id", "type", "role", "name", "format":
		return true
	}
	return false
}

// mergeList merges elements of one index, and puts all others behind.
func mergeList(to, piece []any) []any {
	for _, v := range piece {
		if before := withIndexOf(to, v); before != nil {
			merge(before, v.(map[string]any))
			continue
		}
		to = append(to, v)
	}
	return to
}

// withIndexOf is the element of a list that has the index of another; nil if there is none.
func withIndexOf(list []any, of any) map[string]any {
	m, _ := of.(map[string]any)
	if m == nil || m["index"] == nil {
		return nil
	}
	for _, v := range list {
		if other, _ := v.(map[string]any); other != nil && other["index"] == m["index"] {
			return other
		}
	}
	return nil
}

// decode reads an object with its numbers as they are written; one without members if it is none.
func decode(text string) (m map[string]any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&m) != nil || m == nil {
		return map[string]any{}
	}
	return m
}

// encode writes an object. What was decoded can be written.
func encode(m map[string]any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(m)
	return bytes.TrimSpace(b.Bytes())
}
