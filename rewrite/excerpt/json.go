package excerpt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"epitome/rewrite/jsonspan"
)

// Bounds of a preview.
const (
	mostJSON    = 16 << 20 // bytes of a text
	deepestJSON = 12       // objects and lists in one another
	flatJSON    = 200      // bytes up to which an object or list stands in one line
	firstItems  = 3        // of a list
	leastList   = 5        // items of a list whose values are counted
	mostValues  = 6        // of a field that are told with how often they occur
	longestOf   = 60       // bytes of such a value
	mostFields  = 40       // of an item that are looked at
)

// JSON previews a JSON text within budget tokens: its keys with short values, the first items of each list, how often
// short values occur in the items of its largest list, and those items that differ from the others, whole. Notes of
// what is left out stand outside of quotes. ok is false if the text is no JSON object or list, or if nothing fits.
func JSON(text string, budget int, count Count) (preview string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || len(text) > mostJSON || !jsonspan.Valid([]byte(text)) {
		return "", false
	}
	root := gjson.Parse(text)
	list, at := largestList(root, "", 0)
	told := ""
	if list.Exists() {
		told = tellList(list, cmp.Or(at, "."), budget/2, count)
	}
	for _, d := range []detail{{60, 400}, {40, 100}, {20, 40}, {8, 20}} {
		var b strings.Builder
		d.write(&b, root, 0)
		if preview = b.String() + "\n" + told; count(preview) <= budget {
			return preview, true
		}
	}
	return "", false
}

// detail is how many keys of an object and bytes of a string are shown.
type detail struct{ keys, bytes int }

// write writes a value that stands in so many others.
func (d detail) write(b *strings.Builder, v gjson.Result, depth int) {
	indent := "\n" + strings.Repeat(" ", depth+1)
	flat := len(v.Raw) <= flatJSON
	switch {
	case v.Type == gjson.String && len(v.Raw) > d.bytes+20:
		cut := v.Str[:min(len(v.Str), d.bytes)]
		for cut != "" && !utf8.ValidString(cut[max(0, len(cut)-utf8.UTFMax):]) {
			cut = cut[:len(cut)-1]
		}
		fmt.Fprintf(b, "%s… %d more bytes", jsonspan.AppendQuoted(nil, cut), len(v.Str)-len(cut))
	case !v.IsObject() && !v.IsArray():
		b.WriteString(v.Raw)
	case flat && (depth > 0 || v.IsObject()):
		b.WriteString(compact(v.Raw))
	case depth >= deepestJSON:
		fmt.Fprintf(b, "… %d bytes", len(v.Raw))
	default:
		most, of, brackets := firstItems, "items", "[]"
		if v.IsObject() {
			most, of, brackets = d.keys, "keys", "{}"
		}
		b.WriteString(brackets[:1])
		n := 0
		v.ForEach(func(key, value gjson.Result) bool {
			if n++; n <= most {
				b.WriteString(indent)
				if v.IsObject() {
					b.WriteString(key.Raw + ": ")
				}
				d.write(b, value, depth+1)
				b.WriteByte(',')
			}
			return true
		})
		if n > most {
			fmt.Fprintf(b, "%s… %d more %s", indent, n-most, of)
		}
		b.WriteString(indent[:len(indent)-1] + brackets[1:])
	}
}

// compact is a value in one line.
func compact(raw string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(raw)) != nil {
		return raw
	}
	return b.String()
}

// largestList is the list of objects with the most bytes in a value, and its path.
func largestList(v gjson.Result, path string, depth int) (list gjson.Result, at string) {
	if depth > deepestJSON/2 {
		return list, ""
	}
	n, isRecords := 0, true
	v.ForEach(func(key, value gjson.Result) bool {
		step := fmt.Sprintf("%s[%d]", path, n)
		if v.IsObject() {
			step = path + "." + key.Str
		}
		n++
		isRecords = isRecords && v.IsArray() && value.IsObject()
		if value.IsObject() || value.IsArray() {
			if l, p := largestList(value, step, depth+1); len(l.Raw) > len(list.Raw) {
				list, at = l, p
			}
		}
		return true
	})
	if isRecords && n >= leastList {
		return v, path
	}
	return list, at
}

// tellList says of the list at a path how often the short values of its items occur, and shows those items that differ:
// a value of theirs, or a field, is rare.
func tellList(list gjson.Result, at string, budget int, count Count) string {
	items, fields := list.Array(), map[string]map[string]int{}
	var names []string
	for _, item := range items {
		eachField(item, "", 0, func(name, value string) {
			if fields[name] == nil {
				fields[name] = map[string]int{}
				names = append(names, name)
			}
			if values := fields[name]; len(values) <= mostValues {
				values[value]++
			}
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %d items. Values of their fields:\n", at, len(items))
	for _, name := range names {
		if values := fields[name]; len(values) <= mostValues {
			var told []string
			for v := range values {
				told = append(told, v)
			}
			slices.SortFunc(told, func(a, b string) int { return cmp.Or(values[b]-values[a], cmp.Compare(a, b)) })
			for i, v := range told {
				told[i] = fmt.Sprintf("%s ×%d", v, values[v])
			}
			fmt.Fprintf(&b, " %s: %s\n", name, strings.Join(told, ", "))
		} else {
			delete(fields, name)
		}
	}
	rare := max(1, len(items)/20)
	budget -= count(b.String())
	for i, item := range items[min(firstItems, len(items)):] {
		var odd []string
		eachField(item, "", 0, func(name, value string) {
			if n := fields[name][value]; n > 0 && n <= rare && !slices.Contains(odd, name) {
				odd = append(odd, name)
			}
		})
		if len(odd) == 0 {
			continue
		}
		line := fmt.Sprintf("%s[%d] differs (%s): %s\n", at, i+firstItems, strings.Join(odd, ", "), compact(item.Raw))
		if budget -= count(line); budget < 0 {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// eachField gives f the path and the value, as it is written, of each short scalar in an item and the objects in it.
func eachField(v gjson.Result, path string, n int, f func(name, value string)) int {
	v.ForEach(func(key, value gjson.Result) bool {
		n++
		switch {
		case value.IsObject():
			n = eachField(value, path+key.Str+".", n, f)
		case value.IsArray():
		case len(value.Raw) <= longestOf:
			f(path+key.Str, value.Raw)
		default:
			f(path+key.Str, "longer text")
		}
		return n < mostFields
	})
	return n
}
