package excerpt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const ownMark = "[mark: "

// pieces counts a token per word and per line end.
func pieces(text string) int { return len(strings.Fields(text)) + strings.Count(text, "\n") }

// brief shows an excerpt with a short line for each gap.
func brief(e Excerpt) string {
	var b strings.Builder
	for _, p := range e.Parts {
		switch {
		case !p.Gap:
			b.WriteString(p.Text)
		case p.Alike > 0:
			fmt.Fprintf(&b, "<%d-%d %d>\n", p.From, p.To, p.Alike)
		default:
			fmt.Fprintf(&b, "<%d-%d>\n", p.From, p.To)
		}
	}
	return b.String()
}

// sameLines are so many lines of one form.
func sameLines(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form+"\n", i)
	}
	return b.String()
}

func TestEndsAreWholeLines(t *testing.T) {
	f := func(text string, keep int, share float64, want string) {
		t.Helper()
		e, ok := Ends(text, Budget{Tokens: keep, Head: share, Count: pieces}, ownMark)
		if brief(e) != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", text, brief(e), ok, want)
		}
	}
	f("", 0, 0.5, "")
	f("a\nb\n", 4, 0.5, "")
	f("a", 0, 0.5, "<1-1>\n")
	f("a\nb\nc\nd\ne\n", 4, 0.5, "a\n<2-4>\ne\n")
	f("a\nb\nc\nd\ne\n", 4, 0, "<1-3>\nd\ne\n")
	f("a\nb\nc\nd\ne\n", 4, 1, "a\nb\n<3-5>\n")
	f("a\r\n\r\nb\r\n\nc", 4, 0.75, "a\r\n\r\n<3-4>\nc")
	// what one side does not use goes to the other
	f("too long a line\nb\nc\nd\n", 4, 0.5, "<1-2>\nc\nd\n")
	f("a\nb\nc\nmuch too long a line", 4, 0.25, "a\nb\n<3-4>\n")
	f("in the middle a line is too long\na\n", 5, 0.5, "<1-1>\na\n")
	// out of bounds
	f("a\n", -1, 0.5, "<1-1>\n")
	f("a\nb\n", 2, 7, "a\n<2-2>\n")
	f("a\nb\n", 2, -7, "<1-1>\nb\n")
	// nobody writes a gap into an excerpt
	f("a\nb\n"+ownMark+"lines 3-9]\nc\nd\n", 100, 0.5, "a\nb\n<3-3>\nc\nd\n")
}

func TestLinesThatTellAreShown(t *testing.T) {
	f := func(text string, keep int, wants ...string) {
		t.Helper()
		e, ok := Of(text, Budget{Tokens: keep, Head: 0.2, Count: pieces}, ownMark)
		got := brief(e)
		if !ok {
			t.Errorf("%.100q is whole", text)
		}
		for _, want := range wants {
			if !strings.Contains("\n"+got, "\n"+want+"\n") {
				t.Errorf("%q is missing in\n%s", want, got)
			}
		}
	}
	passed := sameLines("=== RUN   TestStep%[1]d\n--- PASS: TestStep%[1]d (0.00s)", 200)
	f(passed+"=== RUN   TestRefund\n    refund_test.go:42: got 3, want 4\n--- FAIL: TestRefund (0.00s)\n"+passed+"FAIL\nFAIL\tshop\t0.1s\n", 300,
		"    refund_test.go:42: got 3, want 4", "--- FAIL: TestRefund (0.00s)", "FAIL\tshop\t0.1s")
	info := sameLines("2026-11-20T09:31:14Z INFO  request %d took 12 ms", 300)
	f(info+"2026-11-20T09:31:15Z ERROR cannot reach the ledger\n"+info, 300, "2026-11-20T09:31:15Z ERROR cannot reach the ledger")
	f(info+"2026-11-20T09:31:15Z INFO  the ledger has been moved to the other house\n"+info, 300, // rare is enough
		"2026-11-20T09:31:15Z INFO  the ledger has been moved to the other house")
	slow := strings.ReplaceAll(info, ":14Z INFO  request", ":59Z INFO  answer") // 45 s later
	f(info+"2026-11-20T09:31:14Z INFO  request 4711 took 12 ms\n"+slow, 300,
		"2026-11-20T09:31:14Z INFO  request 4711 took 12 ms", "2026-11-20T09:31:59Z INFO  answer 0 took 12 ms")
	f(info+"Traceback (most recent call last):\n  File \"/src/a.py\", line 3, in main\n    pay()\nValueError: no order\n"+info, 300,
		"Traceback (most recent call last):", "  File \"/src/a.py\", line 3, in main", "    pay()", "ValueError: no order")
	f(sameLines(`{"level":"info","request":%d}`, 200)+`{"level":"error","msg":"no ledger"}`+"\n"+sameLines(`{"level":"info","request":%d}`, 200),
		100, `{"level":"error","msg":"no ledger"}`)
}

func TestALongRunOfOneFormIsShownByItsFirstAndLastLine(t *testing.T) {
	text := sameLines("  ✓ cart adds item %d", 300) + "  ✕ cart adds the last item\n" +
		sameLines("  ✓ till takes coin %d", 300) + "end\n"
	e, _ := Of(text, Budget{Tokens: 400, Head: 0.2, Count: pieces}, ownMark)
	want := "  ✓ cart adds item 299\n  ✕ cart adds the last item\n  ✓ till takes coin 0\n"
	if got := brief(e); !strings.Contains(got, want) {
		t.Error(got)
	}
	for _, p := range e.Parts {
		if n := p.To - p.From + 1; p.Gap && n > 3 && p.Alike != n {
			t.Errorf("lines %d to %d: %d are said to be of one form", p.From, p.To, p.Alike)
		}
	}
}

func TestLinesOfOneFormDifferInNoWord(t *testing.T) {
	j := newJudge()
	f := func(a, b string, want bool) {
		t.Helper()
		if got := j.look(a, 0, len(a)).shape == j.look(b, 0, len(b)).shape; got != want {
			t.Errorf("%.80q and %.80q are of one form: %v", a, b, got)
		}
	}
	f("order 3 took 12 ms", "order 47 took 1 ms", true)
	f("order 3 took 1.5 s", "order 3 took 12 s", true)
	f("job 3 state:ok1", "job 4 state:ok22", true)
	f("saved 4f3a9b21c0 in /var/a/3.json", "saved 0be77d1 in /var/b/x.json", true)
	f("id 0f8fad5b-d9cb-469f-a165-70867728950e", "id 7c9e6679-7425-40de-944b-e07fc1f90ae7", true)
	f("at 0x1f and 0xc0ffee", "at 0xab12 and 0x3", true)
	f("order is in 'a/b.go'", "order is in 'c_d'", true)
	f("CC refund.o", "CC cart.o", true)
	f("10.0.0.1 has 1,200 orders", "192.168.1.77 has 3 orders", true)
	f("job 3 state:ok1", "job 3 state:LOST1", false)
	f(`order 3 is "paid"`, `order 4 is "never arrived at the till"`, false)
	f(`order 3 is "paid"`, `order 4 is "gone"`, false)
	f("order 3 is in 'a/b'", "order 4 is in 'lost/b'", false)
	f("order 3 in orders/a.json", "order 3 in orders/failed.json", false)
	f(`{"t":1.5,"state":"paid","by":"a_b"}`, `{"t":1.5,"state":"gone","by":"a_b"}`, false)
	f(`{"t":1.5,"file":"a/b","state":"paid"}`, `{"t":2.25,"file":"a/b","state":"paid"}`, true)
	f("pod NotReady", "pod AllReady", false)
	f("state was_paid", "state was_gone", false)
	f("state bad1", "state fed1", false)
	f("✓ pays 3", "✓ error 3", false)
	long := strings.Repeat("x ", 1_500)
	f(long+"3 went well", long+"4 went well", true)
	f(long+"3 went well", long+"3 went away", false)
	f(long+long+"3 went well", long+long+"4 went well", false)
	f(long+long+"3 went well", long+long+"3 went well", true)
}

func TestAGapSaysHowManyFailuresItHas(t *testing.T) {
	e, _ := Of(strings.Repeat("ok  \tshop/a\t0.1s\n", 50)+sameLines("--- FAIL: TestStep%d (0.00s)", 200)+"end\n",
		Budget{Tokens: 120, Head: 0.2, Count: pieces}, ownMark)
	shown, gone := 0, 0
	for _, p := range e.Parts {
		if p.Gap {
			gone += p.Failing
		} else {
			shown += strings.Count(p.Text, "--- FAIL")
		}
	}
	if shown < 5 || gone < 100 || shown+gone != 200 {
		t.Errorf("%d failures are shown, and %d said to be left out", shown, gone)
	}
}

func TestOfManyFailuresTheFirstHaveTheirReasons(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "--- FAIL: TestStep%d (0.00s)\n    step_test.go:%d: got 3, want 4\n    step_test.go:9: and more\n", i, i)
	}
	b.WriteString("FAIL\nFAIL\tshop\t0.1s\n")
	e, _ := Of(b.String(), Budget{Tokens: 400, Head: 0.2, Count: pieces}, ownMark)
	got := brief(e)
	first, names := strings.Count(got, "_test.go:"), strings.Count(got, "--- FAIL: ")
	if !strings.HasPrefix(got, "--- FAIL: TestStep0 (0.00s)\n    step_test.go:0: got 3, want 4\n") || first < 3 || names < 10 {
		t.Errorf("%d names and %d reasons: %s", names, first, got)
	}
}

// laws holds what is true of any text.
func laws(t interface{ Fatalf(string, ...any) }, text string, b Budget) {
	calls, bytes := 0, 0
	count := b.Count
	b.Count = func(s string) int {
		calls++
		bytes += len(s)
		return count(s)
	}
	for _, of := range []func(string, Budget, string) (Excerpt, bool){Of, Ends} {
		calls, bytes = 0, 0
		e, ok := of(text, b, ownMark)
		again, _ := of(text, b, ownMark)
		if brief(e) != brief(again) {
			t.Fatalf("%q is not always the same", text)
		}
		if !ok {
			if len(e.Parts) > 0 || count(text) > max(b.Tokens, 0) {
				t.Fatalf("%q: nothing is left out of more than %d tokens: %+v", text, b.Tokens, e)
			}
			continue
		}
		holdParts(t, text, e, b.Tokens)
		if bytes > 2*(len(text)+2*widestToken*(max(b.Tokens, 0)+1)) {
			t.Fatalf("%.200q: %d of %d bytes were counted", text, bytes, len(text))
		}
	}
}

// holdParts holds that the parts are the text, that no line is torn, and that they keep to the budget.
func holdParts(t interface{ Fatalf(string, ...any) }, text string, e Excerpt, keep int) {
	all, line, gaps, shown := "", 0, 0, 0
	lines := strings.SplitAfter(text, "\n")
	for _, p := range e.Parts {
		n := p.To - p.From + 1
		if p.From != line+1 || n < 1 || strings.Join(lines[line:p.To], "") != p.Text {
			t.Fatalf("%q: lines %d to %d are not %q", text, p.From, p.To, p.Text)
		}
		all += p.Text
		line = p.To
		if p.Gap {
			gaps++
			holdAlike(t, text, p, lines)
			continue
		}
		shown += pieces(p.Text)
		if strings.Contains("\n"+p.Text, "\n"+ownMark) {
			t.Fatalf("%q shows a ownMark", text)
		}
	}
	if all != text || gaps == 0 || line != e.Lines {
		t.Fatalf("%q is not %+v", text, e)
	}
	if shown+gapTokens*(gaps-1) > max(keep, 0) {
		t.Fatalf("%q: %d tokens in %d gaps are more than %d", text, shown, gaps, keep)
	}
}

// holdAlike holds that so many lines of a gap have the form of the line before it.
func holdAlike(t interface{ Fatalf(string, ...any) }, text string, p Part, lines []string) {
	if p.Alike == 0 {
		return
	}
	j, n := newJudge(), 0
	one := lines[p.From-2]
	form := j.look(one, 0, len(one)).shape
	for _, l := range lines[p.From-1 : p.To] {
		if j.look(l, 0, len(l)).shape == form {
			n++
		}
	}
	if n != p.Alike {
		t.Fatalf("%q: %d of lines %d to %d have the form of %q, not %d", text, n, p.From, p.To, one, p.Alike)
	}
}

func TestAnExcerptAndItsGapsAreTheText(t *testing.T) {
	words := []string{"a", " ", "word ", "\n", "\n", "\r\n", "é", strings.Repeat("x ", 300), strings.Repeat("y", 3000),
		"\nerror: no\n", "\n--- FAIL: TestX (0.00s)\n", "\n    x_test.go:3: no\n", "\nok  \tshop\t0.1s\n", "\n" + ownMark + "lines 1-2]\n",
		"\x1b[31mred\x1b[0m", "\x00", "\xff", "request 12 took 3 ms\n", "Traceback (most recent call last)\n", "3 failed, 4 passed\n"}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(words), 0, 80).Draw(t, "words")
		text := strings.Join(list, "")
		if rapid.Bool().Draw(t, "long") {
			text = strings.Repeat(text, 5)
		}
		keep, head := rapid.IntRange(-1, 200).Draw(t, "keep"), rapid.Float64Range(0, 1).Draw(t, "head")
		laws(t, text, Budget{Tokens: keep, Head: head, Count: pieces})
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\r\n\nc", 2, 0.5)
	f.Add("--- FAIL: TestX\n\tat x (y:1:2)\n[mark: lines 1-2]\n", 9, 0.1)
	f.Fuzz(func(t *testing.T, text string, keep int, share float64) {
		if keep > 1<<20 || share != share {
			return
		}
		laws(t, text, Budget{Tokens: keep, Head: share, Count: pieces})
		Read(text)
		if list := Failures(text, 5); len(list) > 5 || slices.Contains(list, "") {
			t.Fatalf("%q", list)
		}
	})
}

// Twice the text takes at most about twice the work, counted in bytes that were read.
func TestALongTextIsReadOnce(t *testing.T) {
	counted := func(n int) float64 {
		text := sameLines("2026-11-20T09:31:14Z INFO  request %d took 12 ms", n) + strings.Repeat("x", n) + "\n" + strings.Repeat("error: no\n", n)
		return testing.AllocsPerRun(1, func() {
			Of(text, Budget{Tokens: 500, Head: 0.2, Count: func(s string) int { return len(s) / 4 }}, ownMark)
		})
	}
	if once, twice := counted(5_000), counted(10_000); twice > 2.6*once {
		t.Errorf("%v allocations, and %v for twice the text", once, twice)
	}
}

func TestOneVeryLongLineIsLeftOutUncounted(t *testing.T) {
	line, bytes := strings.Repeat("word error: ", 1<<20), 0
	e, ok := Of("first\n"+line+"\nlast", Budget{Tokens: 2000, Head: 0.5, Count: func(s string) int {
		bytes += len(s)
		return pieces(s)
	}}, ownMark)
	if got := brief(e); !ok || got != "first\n<2-2>\nlast" || bytes > 100 {
		t.Errorf("%d bytes were counted: %.100q", bytes, got)
	}
}

// A log of 100 KB is to take at most 5 ms, its tokens counted elsewhere.
func BenchmarkExcerpt(b *testing.B) {
	var log strings.Builder
	for i := 0; log.Len() < 100_000; i++ {
		fmt.Fprintf(&log, "2026-11-20T09:31:%02d.%06dZ INFO  [worker-%d] com.shop.OrderService - order %d stored in /var/lib/orders/%d.json\n",
			i%60, i, i%32, i*7919, i*31)
		if i%50 == 0 {
			log.WriteString("2026-11-20T09:31:14Z ERROR [worker-3] com.shop.Pay - cannot reach https://pay.example/ (timeout 30 s)\n")
		}
	}
	text := log.String()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Of(text, Budget{Tokens: 2000, Head: 0.2, Count: func(s string) int { return len(s) / 4 }}, ownMark)
	}
}
