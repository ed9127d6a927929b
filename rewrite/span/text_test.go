package span

import (
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
