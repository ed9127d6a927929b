package rewrite

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// isPreviewed reports whether a line below a mark that tells of a preview is a value of the text's JSON behind its
// path.
func isPreviewed(before, line, text string) bool {
	line, isQuoted := strings.CutPrefix(line, "> ")
	ofAll := strings.Contains(before, ". A preview of it follows]\n")
	if !isQuoted || !ofAll && !strings.Contains(before, ". A preview of what differs most in it follows]\n") {
		return false
	}
	if ofAll && answered([]string{text}, line) {
		return true
	}
	for at := strings.Index(line, ": "); at >= 0; {
		if value, ok := decoded(line[at+2:]); ok {
			return standsAt(text, line[:at], value)
		}
		next := strings.Index(line[at+1:], ": ")
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// decoded is a JSON value that is all of the text.
func decoded(text string) (value any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&value)
	return value, err == nil && json.Valid([]byte(text))
}

// standsAt reports whether a value stands at the path in JSON that begins with a line of the text.
func standsAt(text, path string, value any) bool {
	for ; text != ""; _, text, _ = strings.Cut(text, "\n") {
		var root any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&root) != nil {
			continue
		}
		if found, ok := valueAt(root, path); ok && reflect.DeepEqual(found, value) {
			return true
		}
	}
	return false
}

var pathStep = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\.?\[(\d+)\]|\.?\[("(?:[^"\\]|\\.)*")\])`)

// valueAt is what stands at a path, as jq has it.
func valueAt(root any, path string) (any, bool) {
	for path != "" {
		m := pathStep.FindStringSubmatch(path)
		if m == nil {
			return nil, false
		}
		path = path[len(m[0]):]
		list, _ := root.([]any)
		object, _ := root.(map[string]any)
		key := m[1]
		if m[3] != "" && json.Unmarshal([]byte(m[3]), &key) != nil {
			return nil, false
		}
		n, err := strconv.Atoi(m[2])
		switch {
		case err == nil && n < len(list):
			root = list[n]
		case err != nil && object[key] != nil:
			root = object[key]
		default:
			return nil, false
		}
	}
	return root, true
}

func TestAPreviewIsHeldAgainstTheValueAtItsPath(t *testing.T) {
	const mark = "[epitome: bash `curl shop`, cleared: old. A preview of what differs most in it follows]\n"
	const text = "HTTP/1.1 200 OK\n\n" + `{"data":[{"id":1},{"id":2,"a: b":"held"}],"by day":{"1":{"n":1.50}}}`
	f := func(want bool, before, line string) {
		t.Helper()
		if isPreviewed(before, line, text) != want {
			t.Errorf("%s%s: want %v", before, line, want)
		}
	}
	f(true, mark, `> .data[1]: {"id": 2, "a: b": "held"}`)
	f(true, mark, `> .["by day"]["1"]: {"n": 1.50}`)
	f(false, mark, `> .data[0]: {"id": 2, "a: b": "held"}`)
	f(false, mark, `> .data[1]: {"id": 2, "a: b": "settled"}`)
	f(false, mark, `> .data[1]: {"id": 2}`)
	f(false, mark, `> .["by day"]["1"]: {"n": 1.5}`)
	f(false, mark, `.data[0]: {"id": 1}`)
	f(false, mark, `> .data[2]: {"id": 1}`)
	f(false, strings.Replace(mark, "A preview of what", "What", 1), `> .data[0]: {"id": 1}`)
}
