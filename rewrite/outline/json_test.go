package outline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
)

const manyBytes = 4 << 20

// corpusResults gives the texts of all results of real conversations to f.
func corpusResults(t *testing.T, f func(text string)) {
	t.Helper()
	rewritetest.Corpus(t, func(name string, body []byte) {
		r, err := chat.Read(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range r.Items {
			if r.Items[i].Role != conversation.Tool {
				continue
			}
			parts, err := r.Parts(&r.Items[i])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, p := range parts {
				if p.Kind == conversation.TextPart {
					f(string(span.TextOf(p.Value.Of(body))))
				}
			}
		}
	})
}

// outlineOf returns the outline of JSON.
func outlineOf(text string, keep int, count func(string) int) (string, bool) {
	o, ok := ofJSON(text, Hint{}, keep, count)
	return o.Text, ok
}

// size counts a token per byte.
func size(s string) int { return len(s) }

func TestOutlineShowsTheStructure(t *testing.T) {
	f := func(text string, keep int, want string) {
		t.Helper()
		got, ok := outlineOf(text, keep, size)
		if got != want || ok != (want != "") {
			t.Errorf("%.200q in %d: got\n%s\nwant\n%s", text, keep, got, want)
		}
	}
	f(`{}`, 10, `{}`)
	f(" [\n] ", 10, `[]`)
	f(`{"a":1,"b":[true,null,-1.50e3],"c":{"d":"x"}}`, 100, `{"a": 1, "b": [true, null, -1.50e3], "c": {"d": "x"}}`)
	f(`{"k\u0041":1,"k\u0041":"\ud83d\ude00"}`, 100, `{"k\u0041": 1, "k\u0041": "\ud83d\ude00"}`)
	wide := `{"a":{"b":1,"c":2},"d":[` + strings.Repeat(`"text",`, 9) + `""]}`
	f(wide, 41, `{"a": {… 2 keys}, "d": [… 10 items]}`)
	f(wide, 60, `{"a": {"b": 1, "c": 2}, "d": ["text", … 9 more items]}`)
	f(wide, 30, "")
	f(`[`+strings.Repeat(`1,`, 99)+`1]`, 40, "[1, 1, 1, 1, 1, 1, 1, … 93 more items]")
	f(`{"text":"`+strings.Repeat("é", 100)+`"}`, 110, `{"text": "`+strings.Repeat("é", 32)+`" … 68 more characters}`)
	f(`{"text":"`+strings.Repeat("é", 50)+`"}`, 120, "{\n \"text\": \""+strings.Repeat("é", 50)+"\"\n}")
	f(`["x`+strings.Repeat(`\ud83d\ude00`, 100)+`"]`, 410, "[\n \"x"+strings.Repeat(`\ud83d\ude00`, 31)+"\" … 69 more characters\n]")
	f(`[`+strings.Repeat(`12345,`, 99)+`1]`, 250, "["+strings.Repeat("12345, ", 33)+"… 67 more items]")
	f(`[`+strings.Repeat("7", 70)+`]`, 40, "[… a number of 70 characters]")
	f("{\"a\":1}\n\n {\"a\":2}\r\n[3]", 100, "{\"a\": 1}\n{\"a\": 2}\n[3]")
	f(strings.Repeat("{\"a\":1}\n", 9), 30, "{\"a\": 1}\n… 8 more lines")
	for _, text := range []string{``, ` `, `7`, `"text"`, `{"a":1} x`, `{"a":1`, `[1,]`, "{\"a\":1}\n7",
		"{\"a\":1}\ntext", "[\n1\n]\n[2]", "[1]é"} {
		f(text, 1000, "")
	}
	f(`{"a":1}`, 1, "")
	f(`{"a":1}`, 0, "")
	f(`{"a":1}`, -1, "")
}

func TestLongTextIsCutBetweenCharacters(t *testing.T) {
	f := func(inner string, chars int, want string, missing int) {
		t.Helper()
		if end, n := cutText([]byte(inner), chars); inner[:end] != want || n != missing {
			t.Errorf("%s in %d: got %s and %d more, want %s and %d", inner, chars, inner[:end], n, want, missing)
		}
	}
	e := func(n int) string { return strings.Repeat("é", n) }
	f("", 0, "", 0)
	f(e(50), 10, e(10), 40)
	f(e(10+wholeAnyway), 10, e(10+wholeAnyway), 0)
	f(e(11+wholeAnyway), 10, e(10), 1+wholeAnyway)
	escapes := strings.Repeat(`\n\"\\\u00e9\uD83D\uDE00\ud83d`, 10)
	f(escapes, 5, `\n\"\\\u00e9\uD83D\uDE00`, 55)
	f(escapes, 6, `\n\"\\\u00e9\uD83D\uDE00\ud83d`, 54)
}

// A usual answer of an interface, with more than fits.
func TestOutlineGrowsInBreadthAndDepth(t *testing.T) {
	var items []string
	for i := range 120 {
		items = append(items, fmt.Sprintf(`{"id":%d,"user":{"login":"ann","id":7,"site_admin":false},"labels":["bug","ui"],"body":%q}`, i, strings.Repeat("It is broken. ", 30)))
	}
	text := `{"total":120,"data":{"wrapped":{"items":[` + strings.Join(items, ",") + `]}},"next":null}`
	f := func(keep int, want string) {
		t.Helper()
		if got, _ := outlineOf(text, keep, size); got != want {
			t.Errorf("in %d: got\n%s\nwant\n%s", keep, got, want)
		}
	}
	f(80, `{"total": 120, "data": {… 1 key}, "next": null}`)
	f(900, `{
 "total": 120,
 "data": {
  "wrapped": {
   "items": [
    {
     "id": 0,
     "user": {"login": "ann", "id": 7, "site_admin": false},
     "labels": ["bug", … 1 more item],
     "body": "It is broken. It is broken. It i" … 388 more characters
    },
    {
     "id": 1,
     "user": {"login": "ann", "id": 7, "site_admin": false},
     "labels": ["bug", … 1 more item],
     "body": "It is broken. It is broken. It i" … 388 more characters
    },
    {
     "id": 2,
     "user": {"login": "ann", "id": 7, "site_admin": false},
     "labels": ["bug", … 1 more item],
     "body": "It is broken. It is broken. It i" … 388 more characters
    },
    … 117 more items
   ]
  }
 },
 "next": null
}
.data.wrapped.items has 120 items. Their fields:
 id: 0 to 119
 user.login: "ann" ×120
 user.id: 7 ×120
 user.site_admin: false ×120
 labels: ["bug","ui"] ×120
`)
}

// outlineParts match what an outline is made of.
func outlineParts() (quoted, note, bare *regexp.Regexp) {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`), regexp.MustCompile(`… (?:\d+ (?:more )?(?:key|item|line|character)s?|a number of \d+ characters)`), regexp.MustCompile(`[^\s,:{}\[\]]+`)
}

// toldParts matches what is told of a list beside the outline.
func toldParts() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(\S+ has )?\d+ (item|key|line)s(\. Their fields:)?\n(?s:.*)`)
}

// outlineLaws holds what is true of any text that has an outline.
func outlineLaws(t interface{ Fatalf(string, ...any) }, text string, keep int) {
	got, ok := outlineOf(text, keep, size)
	again, _ := outlineOf(text, keep, size)
	if got != again || ok != (got != "") || len(got) > max(keep, 0) {
		t.Fatalf("%q: %d bytes of %d: %q", text, len(got), keep, got)
	}
	if utf8.ValidString(text) != utf8.ValidString(got) && utf8.ValidString(text) {
		t.Fatalf("%q: got %q", text, got)
	}
	quoted, note, bare := outlineParts()
	before, _, after := cutJSON(text)
	got = toldParts().ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(got, before), after), "")
	for _, s := range quoted.FindAllString(got, -1) {
		if !json.Valid([]byte(s)) || !strings.Contains(text, s[:len(s)-1]) {
			t.Fatalf("%q: %s is made up in %q", text, s, got)
		}
	}
	for _, s := range bare.FindAllString(note.ReplaceAllString(quoted.ReplaceAllString(got, ""), ""), -1) {
		if !json.Valid([]byte(s)) || !strings.Contains(text, s) {
			t.Fatalf("%q: %s is made up in %q", text, s, got)
		}
	}
	if whole := note.FindString(quoted.ReplaceAllString(got, "")) == ""; ok && whole && json.Valid([]byte(text)) &&
		!sameJSON(got, text) {
		t.Fatalf("%q: nothing is said to be missing, but %q is something else", text, got)
	}
}

// sameJSON takes numbers as they are written: some are too large for any type.
func sameJSON(a, b string) bool {
	read := func(text string) (v any, err error) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		err = d.Decode(&v)
		return v, err
	}
	x, err := read(a)
	y, other := read(b)
	return err == nil && other == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func TestOutlineInventsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := []any{rewritetest.RandomValue(t, 4), strings.Repeat("é\"", rapid.IntRange(0, 100).Draw(t, "long")),
			make([]bool, rapid.IntRange(0, 50).Draw(t, "list"))}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		outlineLaws(t, string(raw), rapid.IntRange(0, 2*len(raw)).Draw(t, "keep"))
	})
}

func TestRealResultsHaveOutlines(t *testing.T) {
	outlines := 0
	corpusResults(t, func(text string) {
		if len(text) > 1000 {
			outlineLaws(t, text, 900)
		}
		if _, ok := outlineOf(text, 900, size); ok {
			outlines++
		}
	})
	if outlines == 0 {
		t.Error("no result has an outline")
	}
}

func TestDeepJSONIsOutlinedInOnePass(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 4_999) + strings.Repeat(`]}`, 4_999)
	got, ok := outlineOf(deep, 2000, size)
	if !ok || !strings.Contains(got, "… 1 key}") {
		t.Errorf("got %v %q", ok, got)
	}
	o := outliner{body: []byte("[" + strings.Repeat("1,", 100) + "1]"), most: 10}
	root, _ := o.root()
	if o.findValues(&root); root.n != 101 || len(root.first) != o.most {
		t.Errorf("%d values of %d are remembered, at most %d should be", len(root.first), root.n, o.most)
	}
	if _, ok := outlineOf(strings.Repeat("[", 1_000_000), 2000, size); ok {
		t.Error("what is no JSON has an outline")
	}
	for _, text := range []string{
		`["` + strings.Repeat(`\u00e9`, manyBytes/6) + `"]`, "[" + strings.Repeat("1", manyBytes) + "]",
		`{"` + strings.Repeat("k", manyBytes) + `":1}`,
		`[` + strings.Repeat(`{"a":1},`, manyBytes/8) + `1]`, `{` + strings.Repeat(`"a":{},`, manyBytes/7) + `"b":1}`,
		strings.Repeat("{\"a\":1}\n", manyBytes/8),
	} {
		if got, ok := outlineOf(text, 500, size); !ok || len(got) < 20 || len(got) > 500 {
			t.Errorf("%.40q: %d bytes of outline", text, len(got))
		}
	}
}

func FuzzOutline(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c\u00e9"}],"d":null}`, 30)
	f.Add("{\"a\":1}\n{\"b\":[2]}\n", 20)
	f.Fuzz(func(t *testing.T, text string, keep int) {
		if keep < 1<<16 {
			outlineLaws(t, text, keep)
		}
	})
}

func BenchmarkOutline(b *testing.B) {
	count := rewritetest.Scale(b, "gpt-4o").Counter.CountString
	var items []string
	random := rand.New(rand.NewPCG(1, 2))
	for size := 0; size < manyBytes; {
		line := fmt.Sprintf("2026-11-20T09:%02d:%02dZ [worker-%d] order %d in /var/lib/orders/%d.json (%d ms)",
			random.IntN(60), random.IntN(60), random.IntN(32), random.IntN(1e8), random.IntN(1e4), random.IntN(1e3))
		quoted := string(span.AppendQuoted(nil, line))
		size += len(line)
		items = append(items, fmt.Sprintf(`{"id":%d,"line":%s,"of":{"size":%d,"tags":["a","b"]}}`, len(items), quoted, len(line)))
	}
	f := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, ok := outlineOf(text, 2000, count); !ok {
					b.Fatal("no outline")
				}
			}
		})
	}
	f("array", "["+strings.Join(items, ",")+"]")
	f("lines", strings.Join(items, "\n"))
	f("small", "["+strings.Join(items[:200], ",")+"]")
}

// Of JSON that is very long, its shape and its first items are shown, and no list is told: that would cost a second.
func TestTheListOfVeryLongJSONIsNotTold(t *testing.T) {
	list := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"id": 1, "state": "settled"},`+"\n", n), ",\n") + "]"
	}
	const told = "Their fields"
	for n, want := range map[int]bool{1_000: true, (mostTold + mostTold/8) / 31: false} {
		text := list(n)
		o, ok := Of(text, Hint{}, 500, func(s string) int { return len(s) / 4 })
		if !ok || o.Kind != JSON || strings.Contains(o.Text, told) != want || !strings.Contains(o.Text, " more items") {
			t.Errorf("%d items: %v, %.600s", n, ok, o.Text)
		}
	}
}
