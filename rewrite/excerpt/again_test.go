package excerpt

import (
	"fmt"
	"strings"
	"testing"
)

func TestOfLikeWarningsTheFirstAndTheLastAreShown(t *testing.T) {
	f := func(warnings, shown int, want ...Hidden) {
		t.Helper()
		var b strings.Builder
		for i := range 600 {
			fmt.Fprintf(&b, "[%3d%%] Building CXX object src/CMakeFiles/shop.dir/cart_%d.cc.o\n", i/6, i*7)
			if i >= 20 && (i-20)%15 == 0 && (i-20)/15 < warnings {
				fmt.Fprintf(&b, "/srv/shop/src/cart.cc:%d:%d: warning: unused variable 'cart_%d' [-Wunused-variable]\n", i, i%70, i)
			}
		}
		b.WriteString("[100%] Built target shop\n")
		e, ok := Of(b.String(), Budget{Tokens: 1500, Head: .2, Count: func(s string) int { return len(s)/4 + 1 }}, "")
		var got []Hidden
		hidden := 0
		for _, p := range e.Parts {
			if p.Hidden.N > 0 {
				got = append(got, p.Hidden)
			}
			if p.Gap {
				hidden += strings.Count(p.Text, "warning:")
			}
		}
		if n := strings.Count(e.Join(false), "warning:"); !ok || n != shown || hidden != warnings-shown ||
			fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of %d warnings %d are shown and %v told, want %d and %v, in\n%s", warnings, n, got, shown, want, e.Join(false))
		}
	}
	f(34, 2, Hidden{32, 22})
	f(12, 2, Hidden{10, 22})
	f(8, 2)
	f(5, 5)
	f(0, 0)
}
