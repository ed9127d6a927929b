package reply

import (
	"testing"

	"epitome/rewrite/jsonspan"
)

func TestTheLastMemberThatFitsIsFound(t *testing.T) {
	f := func(tail, want string) {
		t.Helper()
		v := LastMember([]byte(tail), "n", func(v jsonspan.Span) bool { return Closes([]byte(tail)[v.End:], 1) })
		if got := string(v.Of([]byte(tail))); got != want {
			t.Errorf("%s: got %q, want %q", tail, got, want)
		}
	}
	f(`{"n":1}`, "1")
	f(`..."b"}],"n" : {"a":[2]} , "c":3 }`, `{"a":[2]}`)
	f(`{"n":1,"c":{"n":2}}`, "1")                  // the last one is in another object
	f(`{"n":1,"c":["n","n"]}`, "1")                // a text, and no key
	f(`{"a":"\"n\":2","b":{"n":3}}`, "")           // a text in a text
	f(`{"n":1}}`, "")                              // it closes more
	f(`{"n":1,"c":"n","d":["n","n","n","n"]}`, "") // too far away
	f(`{"n":`, "")
}
