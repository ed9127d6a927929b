package excerpt

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/jsonspan"
)

// Bounds of a preview.
const (
	mostJSON    = 16 << 20 // bytes of a text
	deepestJSON = 12       // objects and lists in one another
	flatJSON    = 200      // bytes up to which an object or list stands in one line
	longestJSON = 400      // bytes of a string
	mostFields  = 10_000   // whose values are compared
	mostValues  = 6        // of a field that tells items apart by its values
)

// JSON previews a JSON text within about budget tokens: lines of it, as a longer layout has them, that are chosen as
// Lines chooses them. Items of a list that differ in short values from the others are rare. Notes of what is left out
// stand outside of quotes. ok is false if the text is no JSON object or list.
func JSON(text string, budget int, count Count) (preview string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || len(text) > mostJSON || !jsonspan.Valid([]byte(text)) {
		return "", false
	}
	l, root := layout{values: map[string]map[string]bool{}}, gjson.Parse(text)
	eachValue(root, "", 0, l.learn)
	l.add(root, "", "", 0)
	l.lines[len(l.lines)-1] = strings.Replace(l.lines[len(l.lines)-1], ",\n", "\n", 1) // nothing follows
	x := newChoice(l.lines, l.shapes, budget, count)
	x.choose()
	preview, _ = x.join(false)
	return preview, true
}

// layout is a JSON text in lines.
type layout struct {
	values        map[string]map[string]bool // of each field, by its path: up to one more than tell items apart
	lines, shapes []string
}

// eachValue calls f with the path and the text of each scalar in a value.
func eachValue(v gjson.Result, path string, depth int, f func(path, value string)) {
	switch {
	case v.Type != gjson.JSON:
		f(path, v.Raw)
	case depth < deepestJSON:
		v.ForEach(func(key, item gjson.Result) bool {
			eachValue(item, path+"."+key.Str, depth+1, f)
			return true
		})
	}
}

// learn notes a value of a field.
func (l *layout) learn(path, value string) {
	if l.values[path] == nil && len(l.values) < mostFields {
		l.values[path] = map[string]bool{}
	}
	if values := l.values[path]; values != nil && len(values) <= mostValues {
		values[value[:min(len(value), longestJSON)]] = true
	}
}

// add adds the lines of a value behind its name, if it has one.
func (l *layout) add(v gjson.Result, name, path string, depth int) {
	start := strings.Repeat(" ", depth) + name
	switch {
	case v.Type == gjson.String && len(v.Str) > longestJSON:
		shown := strings.ToValidUTF8(v.Str[:longestJSON], "")
		l.line(fmt.Sprintf("%s%s… %d more bytes,", start, jsonspan.AppendQuoted(nil, shown), len(v.Str)-len(shown)), v, path)
	case v.Type != gjson.JSON:
		l.line(start+v.Raw+",", v, path)
	case len(v.Raw) <= flatJSON:
		l.line(start+v.Get("@ugly").Raw+",", v, path)
	case depth == deepestJSON:
		l.line(fmt.Sprintf("%s… %d bytes,", start, len(v.Raw)), gjson.Result{}, path)
	default:
		l.line(start+v.Raw[:1], gjson.Result{}, path)
		v.ForEach(func(key, item gjson.Result) bool {
			name := ""
			if v.IsObject() {
				name = key.Raw + ": "
			}
			l.add(item, name, path+"."+key.Str, depth+1)
			return true
		})
		l.line(strings.Repeat(" ", depth)+v.Raw[len(v.Raw)-1:]+",", gjson.Result{}, path)
	}
}

// line adds a line that holds a value. Its shape are the fields in it, with those values that are few or speak of
// failure.
func (l *layout) line(line string, v gjson.Result, path string) {
	shape := ""
	eachValue(v, path, 0, func(path, value string) {
		shape += path + ":"
		value = value[:min(len(value), longestJSON)]
		if n := len(l.values[path]); n > 0 && n <= mostValues || speaksOfFailure(strings.ToLower(value)) {
			shape += value
		}
	})
	l.lines, l.shapes = append(l.lines, line+"\n"), append(l.shapes, shape)
}
