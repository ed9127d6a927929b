package excerpt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestALineThatSaysAnotherThingIsShown(t *testing.T) {
	names := strings.Fields("auth billing cart catalog checkout coupon delivery email fraud gateway index invoice ledger" +
		" login menu notify order")
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
	name := func() string { return names[random.IntN(len(names))] }
	f := func(what, other string, usual func(i int) string, want bool) {
		t.Helper()
		var b strings.Builder
		const n = 400
		for i := range n {
			if line := usual(i); i != n/2 {
				b.WriteString(line + "\n")
			} else {
				b.WriteString(other + "\n")
			}
		}
		e, ok := Of(b.String(), Budget{Tokens: 600, Head: .2, Count: func(s string) int { return len(s)/4 + 1 }}, "")
		shown, alike := e.Join(false), 0
		for _, p := range e.Parts {
			alike += p.Alike
		}
		if !ok || strings.Contains(shown, other) != want || want && alike < n/2 {
			t.Errorf("%s: %d are alike in\n%s", what, alike, shown)
		}
	}
	f("behind a service", "2026-11-24T10:02:10Z gateway readiness probe of gateway-20931 returned 503, rolled back to rev 77",
		func(i int) string {
			return fmt.Sprintf("2026-11-24T10:%02d:%02dZ %s rolled pod %s-%d in %d ms", i/60, i%60, name(), name(), i*37, i)
		}, true)
	f("a state behind names", "0318_wallet_settlements_v3  PENDING", func(i int) string {
		return fmt.Sprintf("%04d_%s_%s_%s  applied 2026-01-%02d", i, name(), name(), name(), 1+i%28)
	}, true)
	f("among random words", "here stands one more of them", func(i int) string {
		return strings.NewReplacer("0", "g", "1", "h", "2", "k ", "3", "l", "4", "m ", "5", "n", "6", "o ", "7", "p",
			"8", "q", "9", "r").Replace(fmt.Sprint(i * i * 7919 * 31337))
	}, false)
}
