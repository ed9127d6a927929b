package span

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestArtifactsMakeTheirValueAgainToTheByte(t *testing.T) {
	holds := func(t interface{ Fatalf(string, ...any) }, v []byte) Spelling {
		content, s := Unspell(v)
		again := content
		if s != AsJSON {
			again = s.Spell(nil, string(content))
		}
		if string(again) != string(v) {
			t.Fatalf("%s is made again as %s by rule %d", v, again, s)
		}
		return s
	}
	f := func(value, content string) {
		t.Helper()
		got, _ := Unspell([]byte(value))
		if holds(t, []byte(value)); string(got) != content {
			t.Errorf("%s is kept as %q, want %q", value, got, content)
		}
	}
	f(`"a \"b\"\n"`, "a \"b\"\n")
	f(`"caf\u00e9 \ud83d\ude00"`, "café 😀")
	f(`"\u003cb\u003e \u0026"`, "<b> &")
	f(`"a\/b"`, `"a\/b"`) // nobody's rule
	f(`"\u00E9"`, `"\u00E9"`)
	f(`"lone \ud800"`, `"lone \ud800"`)
	f(`{"a": 1}`, `{"a": 1}`)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(rapid.String().Draw(t, "text"), "?")
		for s := canonical; s <= htmlSafe; s++ {
			if holds(t, s.Spell(nil, text)) == AsJSON {
				t.Fatalf("%q, written by rule %d, is kept as JSON", text, s)
			}
		}
		goes, _ := json.Marshal(text)
		if holds(t, goes) == AsJSON {
			t.Fatalf("%s is kept as JSON", goes)
		}
	})
}

// A long text is compared in pieces, and wherever it is written otherwise.
func TestLongTextsAreUnspelled(t *testing.T) {
	long := strings.Repeat("é<数>\n\"all is well\" 😀 ", 4_000)
	for s := canonical; s <= htmlSafe; s++ {
		v := s.Spell(nil, long)
		if content, got := Unspell(v); got != s || string(content) != long {
			t.Errorf("%d: %d bytes by rule %d", s, len(content), got)
		}
	}
	for _, at := range []int{0, 16 << 10, len(long) - 1} {
		at = max(strings.LastIndexByte(long[:at+1], 'a'), 0)
		v := string(AppendQuoted(nil, long[:at]))
		v = v[:len(v)-1] + `\u0061` + string(AppendQuoted(nil, long[at:])[1:])
		if content, got := Unspell([]byte(v)); got != AsJSON || string(content) != v {
			t.Errorf("an escape at %d: %d bytes by rule %d", at, len(content), got)
		}
	}
}
