package jsonspan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// Promise 2: outside of the edits a spliced body is the original, to the byte.
func TestSpliceChangesOnlySpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "body")
		cuts := rapid.SliceOfNDistinct(rapid.IntRange(0, len(body)), 0, 12, rapid.ID[int]).Draw(t, "cuts")
		slices.Sort(cuts)
		var edits []Edit
		var want []byte
		at := 0
		for i := 0; i+1 < len(cuts); i += 2 {
			e := Edit{Span: Span{Start: cuts[i], End: cuts[i+1]},
				With: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "with")}
			want = append(append(want, body[at:e.Start]...), e.With...)
			at = e.End
			edits = append(edits, e)
		}
		want = append(want, body[at:]...)
		slices.Reverse(edits)
		if got, err := Splice(body, edits, nil); err != nil || string(got) != string(want) {
			t.Fatalf("got %q (%v), want %q", got, err, want)
		}
	})
	for _, edits := range [][]Edit{{{Span: Span{0, 2}}, {Span: Span{1, 3}}}, {{Span: Span{2, 1}}}, {{Span: Span{0, 9}}},
		{{Span: Span{-1, 1}}}} {
		if _, err := Splice([]byte("abcd"), edits, nil); err == nil {
			t.Errorf("edits %v were taken", edits)
		}
	}
}

func TestObjectsAreEditedAndAllElseStays(t *testing.T) {
	f := func(body, want string, change func(body []byte) []byte) {
		t.Helper()
		if got := change([]byte(body)); string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	set := func(list ...string) func([]byte) []byte {
		return func(body []byte) []byte {
			for i := 0; i < len(list); i += 2 {
				body = Set(body, list[i], list[i+1])
			}
			return body
		}
	}
	without := func(paths ...string) func([]byte) []byte {
		return func(body []byte) []byte { return Delete(body, paths...) }
	}
	f(`{"a":1}`, `{"a":1}`, without("b", "a.b"))
	f(` { "a" : 1 , "b":2 } `, `{ "a" : 10 , "b":2 ,"c":3}`, set("a", "10", "c", "3"))
	f(`{"a":1, "b":2 , "c":3}`, `{ "b":2 }`, without("a", "c", "d"))
	f(`{"a":1, "b":2 , "c":3}`, `{"a":1 , "c":3}`, without("b"))
	f(`{"a":1, "b":2 }`, `{ }`, without("a", "b"))
	f(`{ }`, `{ "a":1}`, set("a", "1"))
	f(` {"c":1,"a":{ "b":{}, "d":2 }}`, ` {"c":1,"a":{ "d":2 }}`, without("a.b", "x.y"))
	f(`{"a":[],"b":1}`, `{"a":[],"b":1}`, without("a.b"))
	f(`{"a":"\"b\":1,","b":"}"}`, `{"a":"\"b\":1,"}`, without("b"))
}

func TestQuotedTextIsReadBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		quoted := AppendQuoted(nil, s)
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil || want != string([]rune(s)) {
			t.Fatalf("%q is written as %s: %v", s, quoted, err)
		}
		if got := TextOf(quoted); string(got) != want {
			t.Fatalf("%q is read back as %q", s, got)
		}
		if other := gjson.AppendJSONString(nil, s); !bytes.Equal(quoted, other) { // as which texts were sent before
			t.Fatalf("%q is written as %s, and by gjson as %s", s, quoted, other)
		}
	})
	if got := string(AppendQuoted(nil, "<a href=\"x\">&\x00\x7f/\n")); got != "\"<a href=\\\"x\\\">&\\u0000\x7f/\\n\"" {
		t.Errorf("got %s", got)
	}
}

// What is read here is read as encoding/json reads it, and what is refused by it stays as it is.
func TestStringsAreReadAsTheStandardLibraryReadsThem(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "line", `\n`, `\"`, `\\`, `\/`, `\t`, `\u00e9`, `\ud83d\ude00`, `\uD83D\uDe00`, `\u004A`,
		`\u00g0`, `\u+123`, `\u12`, `\x`, `\`, `"`, "\n", "\x00", "\x1f", "é", "\u2028", "\ufffd", " ", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{`"`, `"`, `"`, ""}).Draw(t, "end")
		b := []byte(`"` + strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "") + end)
		var want string
		if json.Unmarshal(b, &want) != nil {
			want = string(b)
		}
		if got := string(TextOf(b)); got != want {
			t.Fatalf("%q is read as %q, want %q", b, got, want)
		}
		if got := string(TextOf(Unescaped(b))); got != want {
			t.Fatalf("%q is read as %q where its escapes are letters, want %q", b, got, want)
		}
	})
}

func TestWhatIsKeptOfAStringIsItsTextIfThatIsAllOfIt(t *testing.T) {
	f := func(value, content string) {
		t.Helper()
		if got := string(ContentOfText([]byte(value), string(TextOf([]byte(value))))); got != content {
			t.Errorf("of %s %q is kept, want %q", value, got, content)
		}
	}
	f(`"a \"b\"\n"`, "a \"b\"\n")
	f(`"caf\u00e9 \ud83d\ude00 \/ \uFFFD"`, "café 😀 / \uFFFD")
	f(`"lone \ud800"`, `"lone \ud800"`)
	f(`"lone \ud800\u2026"`, `"lone \ud800\u2026"`)
	f("\"\xff \uFFFD\"", "\"\xff \uFFFD\"")
}
