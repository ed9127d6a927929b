package span

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestQuotedTextIsReadBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if got, err := Unquote(AppendQuoted(nil, s)); err != nil || got != strings.ToValidUTF8(s, "\ufffd") {
			t.Fatalf("%q is read back as %q (%v)", s, got, err)
		}
	})
	if got := string(AppendQuoted(nil, "<a href=\"x\">&\u2028\x00\x7f\n")); got != "\"<a href=\\\"x\\\">&\u2028\\u0000\x7f\\n\"" {
		t.Errorf("got %s", got)
	}
}

// What is read here is read as encoding/json reads it, and what is refused is refused by it.
func TestStringsAreReadAsTheStandardLibraryReadsThem(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "line", `\n`, `\"`, `\\`, `\/`, `\t`, `\u00e9`, `\ud83d\ude00`, `\ud83d`,
		`\uDC00`, `\uD83D\uDe00`, `\u004A`, `\u00g0`, `\u12`, `\x`, `\`, `"`, "\n",
		"\x00", "\x1f",
		"é", "\u2028", "\ufffd", "\xff", "\xc3", " ", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		quote := rapid.SampledFrom([]string{`"`, `"`, `"`, ""})
		b := []byte(quote.Draw(t, "begin") + strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "") + quote.Draw(t, "end"))
		var want string
		err := json.Unmarshal(b, &want)
		if got, e := Unquote(b); got != want && err == nil || (e == nil) != (err == nil) {
			t.Fatalf("%q is read as %q (%v), want %q (%v)", b, got, e, want, err)
		}
	})
}

// A text is written as one character after the other is.
func TestTextsAreQuotedOneCharacterAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		want := []byte{'"'}
		for _, r := range s {
			one := AppendQuoted(nil, string(r))
			want = append(want, one[1:len(one)-1]...)
		}
		if got := AppendQuoted(nil, s); string(got) != string(want)+`"` {
			t.Fatalf("%q is written as %s, want %s", s, got, want)
		}
	})
}

func BenchmarkUnquote(b *testing.B) {
	text := AppendQuoted(nil, strings.Repeat("\tif err != nil {\n\t\treturn \"none\", err // ü\n\t}\n", 2_000))
	f := func(name string, read func([]byte) (string, error)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	f("here", Unquote)
	f("encoding_json", func(text []byte) (s string, err error) { return s, json.Unmarshal(text, &s) })
}

func TestWhatIsKeptOfAValueIsItsTextIfThatIsAllOfIt(t *testing.T) {
	f := func(value, content string) {
		t.Helper()
		if got := string(ContentOf([]byte(value))); got != content {
			t.Errorf("of %s %q is kept, want %q", value, got, content)
		}
	}
	f(`"a \"b\"\n"`, "a \"b\"\n")
	f(`"caf\u00e9 \ud83d\ude00 \/ \uFFFD"`, "café 😀 / \uFFFD")
	f(`"lone \ud800"`, `"lone \ud800"`)
	f("\"\xff \uFFFD\"", "\"\xff \uFFFD\"")
	f(`{"a": 1}`, `{"a": 1}`)
	f("", "")
}
