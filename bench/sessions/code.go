package sessions

// The made-up contents here depend on the dice and the arguments alone, to the byte.

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// Subject is what a file, a log or an answer is about.
type Subject struct {
	Package string // two letters or more
	Symbol  string // a function of it that is called everywhere
}

// Test returns the name of the test of the symbol.
func (s Subject) Test() string { return "Test" + s.Symbol }

// Dice returns the dice for one thing: what other things draw changes nothing here.
func Dice(seed uint64, of string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(of)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

var (
	verbs = [...]string{"settle", "post", "match", "accrue", "reverse", "allocate", "convert", "clear", "split",
		"carry", "quote", "reserve"}
	nouns = [...]string{"Batch", "Entry", "Invoice", "Charge", "Payout", "Fee", "Rate", "Window", "Balance", "Hold",
		"Refund", "Mandate"}
	locals = [...]string{"gross", "net", "rest", "share", "delta", "limit", "carry", "total", "amount", "quota",
		"spread", "margin"}
	methods = [...]string{"Scale", "Minus", "Plus", "Portion", "Convert", "Capped", "Rounded", "Per", "Floor",
		"Weighted"}
	reasons = [...]string{"the bank's cut-off has passed", "a fee may be negative", "the rate is of the day before",
		"an entry comes twice",
		"the batch was reopened", "currencies differ", "the hold has been lifted", "a mandate has ended"}
)

// Pick returns one of the texts.
func Pick(d *rand.Rand, from []string) string { return from[d.IntN(len(from))] }

// Source returns a Go file with functions functions.
func Source(d *rand.Rand, t Subject, functions int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"time\"\n\n\t\"settle/money\"\n)\n\n",
		t.Package)
	fmt.Fprintf(&b, "// %s rounds an amount to cents.\nfunc %s(a money.Amount) money.Amount {\n\tcents := "+
		"a.Scale(100)\n\treturn money.Of(cents.Floor(), a.Currency)\n}\n\n",
		t.Symbol, t.Symbol)
	for range functions {
		function(&b, t, d)
	}
	return b.String()
}

func function(b *strings.Builder, t Subject, d *rand.Rand) {
	verb, noun := Pick(d, verbs[:]), Pick(d, nouns[:])
	name := fmt.Sprintf("%s%s%d", verb, noun, d.IntN(900)+100)
	fmt.Fprintf(b, "// %s holds even when %s.\n", name, Pick(d, reasons[:]))
	fmt.Fprintf(b, "func (l *%s) %s(ctx context.Context, %s money.Amount, at time.Time) (money.Amount, error) {\n",
		noun, name, Pick(d, locals[:]))
	for range 3 + d.IntN(4) {
		v, u := Pick(d, locals[:]), Pick(d, locals[:])
		switch d.IntN(4) {
		case 0:
			fmt.Fprintf(b, "\t%s := %s.%s(l.%s, %d)\n", v, u, Pick(d, methods[:]), Pick(d, locals[:]), d.IntN(1000))
		case 1:
			fmt.Fprintf(b, "\tif %s.Cents() > %d {\n\t\t%s = %s(%s.%s(%d))\n\t}\n",
				v, d.IntN(100_000), v, t.Symbol, u, Pick(d, methods[:]), d.IntN(400))
		case 2:
			fmt.Fprintf(b, "\tif err := l.%s(ctx, %s, at); err != nil {\n\t\treturn money.Zero, fmt.Errorf(\"cannot "+
				"%s %s %%s: %%w\", l.ID, err)\n\t}\n",
				Pick(d, verbs[:]), v, verb, strings.ToLower(noun))
		case 3:
			fmt.Fprintf(b, "\tl.%s = append(l.%s, %s{At: at, Sum: %s, Reason: %q})\n",
				v, v, Pick(d, nouns[:]), u, Pick(d, reasons[:]))
		}
	}
	fmt.Fprintf(b, "\treturn %s(%s), nil\n}\n\n", t.Symbol, Pick(d, locals[:]))
}

// TestSource returns a Go file that tests the symbol with many amounts.
func TestSource(d *rand.Rand, t Subject) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"testing\"\n\n\t\"settle/money\"\n)\n\n// %s holds the sums of the "+
		"package to the cent.\nfunc %s(t *testing.T) {\n"+
		"\tfor _, c := range []struct {\n\t\tname string\n\t\tin, want money.Amount\n\t}{\n",
		t.Package, t.Test(), t.Test())
	for range 60 {
		cents := d.IntN(1_000_000)
		fmt.Fprintf(&b, "\t\t{%q, money.Parse(\"%d.%03d EUR\"), money.Cents(%d, \"EUR\")},\n",
			Pick(d, verbs[:])+" when "+Pick(d, reasons[:]), cents/100, cents%100*10+5, cents)
	}
	fmt.Fprintf(&b, "\t} {\n\t\tif got := %s(c.in); got != c.want {\n\t\t\tt.Errorf(\"%%s: got %%v, want %%v\", "+
		"c.name, got, c.want)\n\t\t}\n\t}\n}\n", t.Symbol)
	return b.String()
}

// Failing returns a test's log, in the middle of which stands how it failed, with a trace. Its other lines name things
// by their number, from 1000.
func Failing(d *rand.Rand, t Subject, trace string, name func(i int) string) string {
	lines := 120 + 40*d.IntN(5)
	var b strings.Builder
	fmt.Fprintf(&b, "go test -race -v ./%s/...\n=== RUN   %s\n", t.Package, t.Test())
	for i := range lines {
		if i == lines/2 {
			cents := 100 + d.IntN(900_000)
			fmt.Fprintf(&b, "    %s_test.go:%d: %s trace=%s got %d.%02d EUR, want %d.%02d EUR\n",
				t.Package, 80+d.IntN(300), t.Test(), trace,
				cents/100, cents%100, (cents+1)/100, (cents+1)%100)
		}
		fmt.Fprintf(&b, "2026-03-14T09:%02d:%02d.%03dZ DEBUG %s.%s%s id=%s account=%d sum=%d.%02d span=%08x\n",
			i/60%60, i%60, d.IntN(1000), t.Package,
			Pick(d, verbs[:]), Pick(d, nouns[:]), name(1000+i), 10_000_000+d.IntN(90_000_000), d.IntN(10_000),
			d.IntN(100), d.Uint32())
	}
	fmt.Fprintf(&b, "--- FAIL: %s (%d.%02ds)\nFAIL\nFAIL\tsettle/%s\t%d.%03ds\nexit status 1\n",
		t.Test(), d.IntN(9), d.IntN(100), t.Package, d.IntN(9), d.IntN(1000))
	return b.String()
}

// Passing returns the output of a test that draws its progress.
func Passing(d *rand.Rand, t Subject) string {
	var b strings.Builder
	fmt.Fprintf(&b, "go test -race ./%s/...\n", t.Package)
	const steps = 90
	for i := range steps + 1 {
		done := i * 40 / steps
		fmt.Fprintf(&b, "\r[%s%s] %3d%% %s%s", strings.Repeat("#", done), strings.Repeat(".", 40-done), i*100/steps,
			Pick(d, verbs[:]), Pick(d, nouns[:]))
	}
	fmt.Fprintf(&b, "\nok  \tsettle/%s\t%d.%03ds\tcoverage: %d.%d%% of statements\nexit status 0\n",
		t.Package, d.IntN(9), d.IntN(1000), 70+d.IntN(29), d.IntN(10))
	return b.String()
}

const batchCount = 230

// StuckAt is the number of the batch that is stuck, of those that the service knows.
const StuckAt = 141

// Batches returns what the service answers: JSON without line ends.
func Batches(d *rand.Rand, pkg string, name func(i int) string) string {
	var b strings.Builder
	b.WriteString(`{"package":"` + pkg + `","data":[`)
	for i := range batchCount {
		state := Pick(d, []string{"settled", "settled", "settled", "open", "posted"})
		if i == StuckAt {
			state = "stuck"
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%q,"state":%q,"sum":"%d.%02d","currency":%q,"entries":%d,"span":"%08x"}`,
			name(i), state, d.IntN(100_000), d.IntN(100),
			Pick(d, []string{"EUR", "USD", "SEK", "CHF"}), 1+d.IntN(80), d.Uint32())
	}
	b.WriteString("]}")
	return b.String()
}
