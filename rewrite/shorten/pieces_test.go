package shorten

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLongJSONIsTakenApart(t *testing.T) {
	const longest = 160
	f := func(text string, want ...string) {
		t.Helper()
		got := Pieces(text, longest)
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngives %q\nwant  %q", text, got, want)
		}
		for _, p := range got {
			if !strings.Contains(text, p) || len(p) > longest && p != text {
				t.Errorf("%q is no part of %s", p, text)
			}
		}
	}
	f("a\nb", "a", "b")
	f(`{"short": 1}`, `{"short": 1}`)
	pad := strings.Repeat("x", 155)
	f(`{"data": [{"id": "po_1", "state": "held"}, {"id":"po_2"}, 1, 2, "`+pad+`"], "next": null, "page" : 3}`,
		`{"id": "po_1", "state": "held"}`, `{"id":"po_2"}`, `1, 2`, `"`+pad+`"`, `"next": null, "page" : 3`)
	f(`{"text":"`+pad+pad+`","id":"id","deep":{"id":"`+pad+`"}}`, `"id":"id"`) // no member is torn
	f(`{"no":"`+pad+pad, `{"no":"`+pad+pad)
	keys := `"caf\u00e9":1,"a\"":2,"a\"":3,"id":"id"` // however they are written
	f(`{"text":"`+pad+pad+`",`+keys+`}`, keys)
	f(strings.Repeat("[", 100) + `"` + pad + `",1` + strings.Repeat("]", 100)) // it would be read a hundred times
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":%d}`, i)
	}
	f(`[`+strings.Join(many, ",")+`]`, many...)
}
