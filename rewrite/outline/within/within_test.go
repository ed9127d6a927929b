package within

import (
	"strings"
	"testing"

	"epitome/rewrite/span"
)

func TestAPathLeadsToTheValue(t *testing.T) {
	f := func(text, value, path, name string) {
		t.Helper()
		body, whole := []byte(text), span.Span{End: len(text)}
		at := strings.LastIndex(text, value)
		got, _ := StepsTo(body, whole, span.Span{Start: at, End: at + len(value)})
		if named := NameOf(body, whole); got != path || string(named.Of(body)) != name {
			t.Errorf("%s: %q and %s, want %q and %s", text, got, named.Of(body), path, name)
		}
	}
	f(`{"a":{"b":[1,{"c":7}]},"name":"x"}`, `7`, ".a.b[1].c", `"x"`)
	f(`{"metadata":{"name":"pod-1"},"v":7}`, `7`, ".v", `"pod-1"`)
	f(`{"id":3,"title":"t","v":[[7]]}`, `7`, ".v[0][0]", `"t"`)
	f(`{"a b":{"c":7}}`, `7`, "", "")
	f(`[1,2,7]`, `7`, "[2]", "")
	f(`[1,2,77]`, `7`, "", "")
}
