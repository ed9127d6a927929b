package wording

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// names are what texts speak of.
var names = strings.Fields("auth billing cart catalog checkout coupon delivery email fraud gateway index invoice ledger" +
	" login menu notify order")

func TestFewTextsThatSayAnotherThingAreOdd(t *testing.T) {
	f := func(what string, text func(i int, name func() string) string, want ...int) {
		t.Helper()
		const n = 260
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
		name := func() string { return names[random.IntN(len(names))] }
		texts, all := Texts{}, make([]string, n)
		for i := range all {
			all[i] = text(i, name)
			texts.Add([]byte(all[i]))
		}
		var odd []int
		for i, s := range all {
			if texts.Odd(i, []byte(s)) > 0 {
				odd = append(odd, i)
			}
		}
		if fmt.Sprint(odd) != fmt.Sprint(want) {
			t.Errorf("%s: %v are odd, want %v", what, odd, want)
		}
	}
	but := func(at int, other string, usual func(i int, name func() string) string) func(int, func() string) string {
		return func(i int, name func() string) string {
			if s := usual(i, name); i != at {
				return s
			}
			return other
		}
	}
	rolled := func(i int, name func() string) string {
		return fmt.Sprintf("rolled pod %s-%d in %d ms", name(), i*7, i)
	}
	f("a message alone of its kind", but(130, "readiness probe of gateway-20931 returned 503, rolled back", rolled), 130)
	f("the first one", but(0, "readiness probe of gateway-20931 returned 503, rolled back", rolled), 0)
	f("a very long one", but(7, strings.Repeat("it goes on ", 90), rolled), 7)
	f("a word alone in its place", but(9, "evicted pod cart-7 in 12 ms", rolled), 9)
	f("a word in a short line", but(99, "0318 PENDING", func(i int, _ func() string) string {
		return fmt.Sprintf("%04d applied", i)
	}), 99)
	f("behind a service", but(50, "gateway readiness probe failed twice", func(i int, name func() string) string {
		return fmt.Sprint(name(), " rolled pod ", name(), " in ", i, " ms")
	}), 50)
	f("a state behind names", but(18, "0318_wallet_settlements  PENDING", func(i int, name func() string) string {
		return fmt.Sprintf("%04d_%s_%s  applied 2026-01-%02d", i, name(), name(), i%28)
	}), 18)
	f("numbers alone differ", rolled)
	ping := func(i int, _ func() string) string {
		return fmt.Sprintf("64 bytes from db (10.2.0.5): icmp_seq=%d ttl=63 time=0.%d ms", i, 300+i*37%600)
	}
	f("a number far greater than others", but(77, "64 bytes from db (10.2.0.5): icmp_seq=77 ttl=63 time=4112 ms", ping), 77)
	f("numbers of one size", ping)
	code := func(i int, _ func() string) string { return fmt.Sprintf("%d shop/%d in %dms", 200+i%2*104, i, 90+i%50) }
	f("a number alone in its place", but(31, "503 shop/31 in 97ms", code), 31)
	f("a share of nothing", but(8, "hop 8 lost 62.0% of 100", func(i int, _ func() string) string {
		return fmt.Sprintf("hop %d lost 0.0%% of 100", i)
	}), 8)
	f("numbers alone", but(40, "rx_40: 88120", func(i int, _ func() string) string { return fmt.Sprintf("rx_%d: 0", i) }), 40)
	f("numbers in order", func(i int, _ func() string) string { return fmt.Sprintf("step %d of 260, %d done", i, i*i) })
	f("times of day", func(i int, _ func() string) string { return fmt.Sprintf("begun at %d:%02d:00", 9+i/255, i%60) })
	f("as many numbers as may be", func(i int, _ func() string) string {
		return fmt.Sprintf("row %s of it", strings.Repeat(fmt.Sprint(i, " a "), 14))
	})
	f("numbers that often are others", func(i int, _ func() string) string {
		return fmt.Sprintf("part %d: %d %d %d %d", i, i%40/39, i%41/40, i%43/42, i%44/43)
	})
	f("a tag's word", but(12, "<item id=\"12\"><state>held</state></item>", func(i int, _ func() string) string {
		return fmt.Sprintf("<item id=\"%d\"><state>open</state></item>", i)
	}), 12)
	f("one kind", func(int, func() string) string { return "the same words" })
	f("three kinds", func(i int, name func() string) string {
		return []string{"opened " + name(), "sent a letter to " + name(), "closed it"}[i%3]
	})
	f("random words", func(int, func() string) string {
		return strings.Join([]string{word(), word(), word(), word()}, " ")
	})
	f("random words behind a fixed one", func(int, func() string) string { return "at " + word() })
	f("random lengths", func(i int, _ func() string) string { return strings.Repeat(word()+" ", i%29+1) })
	f("names of two words", func(_ int, name func() string) string { return name() + " " + word() })
}

// word returns a random word.
func word() string {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte('g' + rand.IntN(20)) //nolint:gosec // no secret
	}
	return string(b)
}

func TestWordingsAreCounted(t *testing.T) {
	texts := Texts{}
	for i := range 100 {
		switch {
		case i == 40:
			texts.Add([]byte("gave up at last"))
		case i%4 == 0:
			texts.Add(fmt.Appendf(nil, "closed order %d", i))
		default:
			texts.Add(fmt.Appendf(nil, "took %d of %d from the shelf", i, i+1))
		}
	}
	common, others := texts.Common()
	if got, want := fmt.Sprint(common, others), "[{closed order 0 24 false} {took 1 of 2 from the shelf 75 true}] 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	few := Texts{}
	for i := range 10 {
		few.Add(fmt.Append(nil, "closed order ", i))
	}
	if common, others := few.Common(); common != nil || others != 0 {
		t.Errorf("ten texts: %v and %d", common, others)
	}
}
