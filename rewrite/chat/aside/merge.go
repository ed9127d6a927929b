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
			mergeText(to, key, v)
		case map[string]any:
			before, said := to[key].(map[string]any)
			if !said {
				before = map[string]any{}
				to[key] = before
			}
			merge(before, v)
		case []any:
			if before, _ := to[key].([]any); len(v) > 0 { // none says nothing, and would be null
				to[key] = mergeList(before, v)
			}
		default:
			to[key] = v
		}
	}
}

// pieces is a text that comes in many pieces. Adding one costs no copy of those before it.
type pieces struct{ all []byte }

// MarshalText has it written as the text that it is.
func (p *pieces) MarshalText() ([]byte, error) { return p.all, nil }

// mergeText puts a piece of a text behind what came of it before.
func mergeText(to map[string]any, key, piece string) {
	switch before := to[key].(type) {
	case *pieces:
		before.all = append(before.all, piece...)
	case string:
		switch {
		case before == "":
			to[key] = piece
		case piece != "" && !isName(key):
			to[key] = &pieces{append([]byte(before), piece...)}
		}
	default:
		to[key] = piece
	}
}

// textOf is a text, in one piece or in several; empty if a value is none.
func textOf(v any) string {
	if p, ok := v.(*pieces); ok {
		return string(p.all)
	}
	text, _ := v.(string)
	return text
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
	index, ok := m["index"].(json.Number)
	if !ok {
		return nil
	}
	for _, v := range list {
		if other, _ := v.(map[string]any); other != nil && other["index"] == index {
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
