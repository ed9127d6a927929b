package inert

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestNoTerminalObeysJSON(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		came, _ := json.Marshal(text)
		sent := JSON(came)
		var got string
		if err := json.Unmarshal(sent, &got); err != nil || got != text {
			t.Errorf("%q comes as %q, %v", text, got, err)
		}
		if string(sent) != `"`+want+`"` {
			t.Errorf("%q is sent as %s, want %s", text, sent, want)
		}
	}
	f("", "")
	f("grüße, 日本 😀", "grüße, 日本 😀")
	f("a\x1b[31m\x00", `a\u001b[31m\u0000`)
	f("a\u009b31mb", `a\u009b31mb`) // the same in one character
	f("\x7f\u0085", `\u007f\u0085`) // at the beginning and the end
	f("a\u202eb\u2066", `a\u202eb\u2066`)
	f("\u200b\ufeff\u2028", `\u200b\ufeff\u2028`)
	f("\U000e0041z\ue000", `\udb40\udc41z\ue000`)
	long := strings.Repeat("é", 10_000)
	f(long+"\u009b"+long, long+`\u009b`+long)
}

// The ranges that are passed over have none of what is escaped.
func TestAllThatATerminalObeysIsEscaped(t *testing.T) {
	for r := rune(0x7f); r <= unicode.MaxRune; r++ {
		text, err := json.Marshal(string(r))
		if err != nil {
			t.Fatal(err)
		}
		if r == '\u2028' || r == '\u2029' { // encoding/json escapes them
			continue
		}
		sent := string(JSON(text))
		if obeyed := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co); obeyed == (sent == string(text)) {
			t.Fatalf("%U is sent as %s", r, sent)
		}
	}
}

func TestEscapesTakeNoMemoryEach(t *testing.T) {
	text := []byte(strings.Repeat("\x7f\u200b", 10_000))
	if n := testing.AllocsPerRun(10, func() { JSON(text) }); n > 10 {
		t.Errorf("%v allocations for 20 000 escapes", n)
	}
}

func TestWhatIsPrintedStandsInLines(t *testing.T) {
	var text bytes.Buffer
	err := Print(&text, map[string]any{"model": "m\u009b31m", "turns": 2})
	if want := "{\n  \"model\": \"m\\u009b31m\",\n  \"turns\": 2\n}\n"; err != nil || text.String() != want {
		t.Errorf("%v, %q, want %q", err, text.String(), want)
	}
	if err := Print(&text, func() {}); err == nil {
		t.Error("what is no JSON is printed")
	}
}
