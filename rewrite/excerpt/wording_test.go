package excerpt

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
	f("a number far away", "64 bytes from db (10.2.0.5): icmp_seq=200 ttl=63 time=4112 ms", func(i int) string {
		return fmt.Sprintf("64 bytes from db (10.2.0.5): icmp_seq=%d ttl=63 time=0.%d ms", i, 300+i*37%600)
	}, true)
	f("a code", "503 https://shop.test/pay/200", func(i int) string { return fmt.Sprint("200 https://shop.test/", name(), "/", i) }, true)
	f("among random words", "here stands one more of them", func(i int) string {
		return strings.NewReplacer("0", "g", "1", "h", "2", "k ", "3", "l", "4", "m ", "5", "n", "6", "o ", "7", "p",
			"8", "q", "9", "r").Replace(fmt.Sprint(i * i * 7919 * 31337))
	}, false)
}

func TestTheOnlyLineThatTellsIsOdd(t *testing.T) {
	f := func(odd string, usual func(i int) string, want ...string) {
		t.Helper()
		var b strings.Builder
		for i := range 200 {
			if b.WriteString(usual(i) + "\n"); i == 100 {
				b.WriteString(odd + "\n")
			}
		}
		if got := Odd(b.String(), 240); !slices.Equal(got, want) {
			t.Errorf("%q: odd is %q, want %q", odd, got, want)
		}
	}
	updated := func(i int) string { return fmt.Sprint("UPDATE ", 10+i) }
	for _, odd := range []string{
		"psql:fill.sql:101: WARNING:  there is no transaction in progress", "Request timeout for icmp_seq 100", "ROLLBACK of 7",
	} {
		f(odd, updated, odd)
	}
	f("0 rows are left", func(i int) string { return fmt.Sprint("UPDATE ", i, "\nwarning: ", i, " is old") }, "0 rows are left")
	f("done", updated) // a word alone says nothing
}

func TestWhatIsOddInATreeOfLikeLinesIsShown(t *testing.T) {
	plan := func(odd string) string {
		var b strings.Builder
		b.WriteString("Append  (actual time=0.1..48811.3 rows=90 loops=1)\n")
		for i := range 100 {
			if i == 50 {
				b.WriteString(odd)
				continue
			}
			fmt.Fprintf(&b, "        ->  Index Scan using p%d_idx on p%d  (actual time=0.1..%d.7 rows=7 loops=1)\n", i, i, 3+i%9)
			fmt.Fprintf(&b, "              Index Cond: (region = 'eu')\n")
		}
		return b.String()
	}
	for _, odd := range []string{
		"        ->  Seq Scan on p50  (actual time=0.1..9.7 rows=7 loops=1)\n",
		"        ->  Index Scan using p50_idx on p50  (actual time=0.1..46112.8 rows=7 loops=1)\n",
	} {
		e, _ := Of(plan(odd), Budget{Tokens: 600, Head: .2, Count: func(s string) int { return len(s)/4 + 1 }}, "")
		if shown := e.Join(false); !strings.Contains(shown, odd) {
			t.Errorf("%q is not seen in\n%s", odd, shown)
		}
	}
}
