package inert

import (
	"encoding/json"
	"strings"
	"testing"
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
