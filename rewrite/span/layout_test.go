package span

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLayoutHasAValueInALine(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if got := string(Layout([]byte(body))); got != want {
			t.Errorf("%.200s: got\n%s\nwant\n%s", body, got, want)
		}
	}
	wide := `"` + strings.Repeat("x", flatValue) + `"`
	f(`{}`, "{}\n")
	f(`{"a":1,"b":[1,2,"c,d:e"]}`, "{\"a\": 1, \"b\": [1, 2, \"c,d:e\"]}\n")
	f(`[{"id":1,"of":{"b":true}},`+wide+`]`, "[\n {\"id\": 1, \"of\": {\"b\": true}},\n "+wide+"\n]\n")
	f(`{"a":{"b":[`+wide+`]}}`, "{\n \"a\": {\n  \"b\": [\n   "+wide+"\n  ]\n }\n}\n")
	f("{\"a\":1}\n{\"a\":2}\n", "{\"a\": 1}\n{\"a\": 2}\n")
	long := strings.Repeat("y", longText)
	f(`{"out":"first\n\"b\": 1,\n`+long+`\n","exit":0}`,
		"{\n \"out\": text:\n  | first\n  | \"b\": 1,\n  | "+long+",\n \"exit\": 0\n}\n")
	f(`{"k":`, `{"k":`) // what is no JSON stays
}

// TestLayoutSaysTheSame reads it again: only white space is new, where no string was spelled out.
func TestLayoutSaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) any
		value = func(depth int) any {
			switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case kind == 0 && depth > 0:
				m := map[string]any{}
				for range rapid.IntRange(0, 6).Draw(t, "keys") {
					m[rapid.String().Draw(t, "key")] = value(depth - 1)
				}
				return m
			case kind <= 2 && depth > 0:
				var list []any
				for range rapid.IntRange(0, 6).Draw(t, "items") {
					list = append(list, value(depth-1))
				}
				return list
			case kind == 3:
				return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
			}
			return rapid.StringN(0, 30, longText/2).Draw(t, "text")
		}
		raw, err := json.Marshal(value(4))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Compact(&got, Layout(raw)); err != nil || got.String() != string(raw) {
			t.Fatalf("%s became %s: %v", raw, Layout(raw), err)
		}
	})
}

func TestDeepAndLongLayoutsStaySmall(t *testing.T) {
	const many = 1 << 20
	for _, body := range []string{
		strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"[" + strings.Repeat("1,", many) + "1]",
		`{"a":"` + strings.Repeat(`\n`, many) + `"}`,
		strings.Repeat("[", many), strings.Repeat(`{"a":`, many),
	} {
		if got := Layout([]byte(body)); len(got) > 30*len(body)+100 {
			t.Errorf("%.20q: %d bytes became %d", body, len(body), len(got))
		}
	}
}

func BenchmarkLayout(b *testing.B) {
	body := []byte("[" + strings.Repeat(`{"id":12345,"name":"something","of":{"state":"open","tags":["a","b"]}},`, 1_400) + "1]")
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Layout(body)
	}
}
