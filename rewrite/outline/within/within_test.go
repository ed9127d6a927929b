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
		named := NameOf(body, whole, func(key string) bool { return key != "stackName" })
		if got != path || string(named.Of(body)) != name {
			t.Errorf("%s: %q and %s, want %q and %s", text, got, named.Of(body), path, name)
		}
	}
	f(`{"a":{"b":[1,{"c":7}]},"name":"x"}`, `7`, ".a.b[1].c", `"x"`)
	f(`{"metadata":{"name":"pod-1"},"v":7}`, `7`, ".v", `"pod-1"`)
	f(`{"id":3,"title":"t","v":[[7]]}`, `7`, ".v[0][0]", `"t"`)
	f(`{"stackName":"all","state":"up","LogicalResourceId":"Fees","v":7}`, `7`, ".v", `"Fees"`)
	f(`{"Relation Name":"p7","identity":"a","v":7}`, `7`, ".v", `"p7"`)
	f(`{"state":"up","serverId":3,"valid":"yes","v":7}`, `7`, ".v", `"yes"`) // who calls says whether it tells
	f(`{"a b":{"c":7}}`, `7`, "", "")
	f(`[1,2,7]`, `7`, "[2]", "")
	f(`[1,2,77]`, `7`, "", "")
}
