package excerpt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	mostValues  = 6        // of a field whose values are counted
	longestOf   = 60       // bytes of such a value
	mostFields  = 40       // of an item that are read
)

// JSON previews a JSON text within budget tokens: its keys with short values, the first items of each list, how often
// short values occur in the items of its largest list, and the items that differ from the others, whole. Notes of
// what is left out stand outside of quotes. ok is false if the text is no JSON object or list, or if nothing fits.
func JSON(text string, budget int, count Count) (preview string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || len(text) > mostJSON || !jsonspan.Valid([]byte(text)) {
		return "", false
	}
	root := gjson.Parse(text)
	items := ""
	if list, path := largestList(root, "", 0); list.Exists() {
		items = describe(list.Array(), cmp.Or(path, "."), budget/2, count)
	}
	for _, d := range []detail{{60, 400}, {40, 100}, {20, 40}, {8, 20}} {
		var b strings.Builder
		d.write(&b, root, 0)
		if preview = b.String() + "\n" + items; count(preview) <= budget {
			return preview, true
		}
	}
	return "", false
}

// detail is how many keys of an object and bytes of a string are shown.
type detail struct{ keys, bytes int }

// write writes a value that stands in depth others.
func (d detail) write(b *strings.Builder, v gjson.Result, depth int) {
	switch {
	case v.Type == gjson.String && len(v.Raw) > d.bytes+20:
		shown := strings.ToValidUTF8(v.Str[:min(len(v.Str), d.bytes)], "")
		fmt.Fprintf(b, "%s… %d more bytes", jsonspan.AppendQuoted(nil, shown), len(v.Str)-len(shown))
	case v.Type != gjson.JSON:
		b.WriteString(v.Raw)
	case len(v.Raw) <= flatJSON && (depth > 0 || v.IsObject()):
		b.WriteString(compact(v))
	case depth >= deepestJSON:
		fmt.Fprintf(b, "… %d bytes", len(v.Raw))
	case v.IsObject():
		d.writeMembers(b, v, depth, d.keys, "{}", "keys")
	default:
		d.writeMembers(b, v, depth, firstItems, "[]", "items")
	}
}

func (d detail) writeMembers(b *strings.Builder, v gjson.Result, depth, most int, brackets, unit string) {
	indent, n := "\n"+strings.Repeat(" ", depth), 0
	b.WriteString(brackets[:1])
	v.ForEach(func(key, value gjson.Result) bool {
		if n++; n <= most {
			b.WriteString(indent + " ")
			if v.IsObject() {
				b.WriteString(key.Raw + ": ")
			}
			d.write(b, value, depth+1)
			b.WriteByte(',')
		}
		return true
	})
	if n > most {
		fmt.Fprintf(b, "%s … %d more %s", indent, n-most, unit)
	}
	b.WriteString(indent + brackets[1:])
}

// compact returns a value in one line.
func compact(v gjson.Result) string { return v.Get("@ugly").Raw }

// largestList returns the list of objects with the most bytes in a value, and its path.
func largestList(v gjson.Result, path string, depth int) (list gjson.Result, at string) {
	n, hasObjects := 0, v.IsArray()
	v.ForEach(func(key, value gjson.Result) bool {
		step := fmt.Sprintf("%s[%d]", path, n)
		if v.IsObject() {
			step = path + "." + key.Str
		}
		n++
		hasObjects = hasObjects && value.IsObject()
		if value.Type == gjson.JSON && depth < deepestJSON/2 {
			if l, p := largestList(value, step, depth+1); len(l.Raw) > len(list.Raw) {
				list, at = l, p
			}
		}
		return true
	})
	if hasObjects && n >= leastList {
		return v, path
	}
	return list, at
}

// describe says how often the short values of a list's items occur, and shows the items with a rare value.
func describe(items []gjson.Result, path string, budget int, count Count) string {
	fields := map[string]map[string]int{} // how often each value occurs, up to one more than are shown
	var names []string
	for _, item := range items {
		eachField(item, "", 0, func(name, value string) {
			if fields[name] == nil {
				fields[name] = map[string]int{}
				names = append(names, name)
			}
			if len(fields[name]) <= mostValues {
				fields[name][value]++
			}
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %d items. Values of their fields:\n", path, len(items))
	for _, name := range names {
		values := fields[name]
		if len(values) > mostValues {
			delete(fields, name)
			continue
		}
		list := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
			return cmp.Or(values[b]-values[a], cmp.Compare(a, b))
		})
		for i, v := range list {
			list[i] = fmt.Sprintf("%s ×%d", v, values[v])
		}
		fmt.Fprintf(&b, " %s: %s\n", name, strings.Join(list, ", "))
	}
	rare := max(1, len(items)/20)
	budget -= count(b.String())
	for i := firstItems; i < len(items) && budget > 0; i++ {
		var odd []string
		eachField(items[i], "", 0, func(name, value string) {
			if n := fields[name][value]; n > 0 && n <= rare {
				odd = append(odd, name)
			}
		})
		if odd == nil {
			continue
		}
		line := fmt.Sprintf("%s[%d] differs (%s): %s\n", path, i, strings.Join(odd, ", "), compact(items[i]))
		if budget -= count(line); budget >= 0 {
			b.WriteString(line)
		}
	}
	return b.String()
}

// eachField calls f with the path and the value, as it is written, of each short scalar in an item and the objects in
// it. It returns how many fields were read, n before the item among them.
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
