package replay

import (
	"strings"
	"testing"

	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/bench/replay/figures"
)

// What an answer needs and its request lacks is asked for by its artifact; what that takes is told beside the cost.
func TestReadingBackIsPaidFor(t *testing.T) {
	f := func(content string, reads, answer int) figures.Row {
		t.Helper()
		row, _ := replayOne(t, benchtest.Needy(), 300, policy.Shaping{
			Shaper: benchtest.Replacing(`"2"`, `src/old other_name\n`+benchtest.Line+`\n`, benchtest.Stub),
			Artifact: func(name string) ([]byte, bool) {
				return []byte(content), name == benchtest.Stub[4:]
			},
		})
		tokens := 0
		if reads > 0 {
			asked := `{"name":"recall","arguments":{"artifact":"` + benchtest.Stub[4:] + `","grep":"src/old"}}`
			tokens = policy.TokensOf(len(asked)) + policy.TokensOf(answer) + policy.MessageTokens
		}
		if row.Reads != reads || row.ReadTokens != tokens {
			t.Errorf("%.40q: %d reads of %d tokens, want %d of %d", content, row.Reads, row.ReadTokens, reads, tokens)
		}
		return row
	}
	if row := f("something else", 0, 0); *row.CostRead != *row.Cost {
		t.Errorf("nothing is read, and it costs %g, without %g", *row.CostRead, *row.Cost)
	}
	short := f("src/old\nanother line\n", 1, len("src/old\n"))
	long := f("src/old"+strings.Repeat("!", 72)+"\nanother line\n", 1, 80)
	longer := f("src/old"+strings.Repeat("!", 152)+"\nanother line\n", 1, 160)
	if *short.CostRead <= *short.Cost || *long.Cost != *short.Cost {
		t.Errorf("%+v, %+v", short.ReadBack, long.ReadBack)
	}
	// What was brought is new once, and cached in the one request behind it: each token costs alike.
	first, second := *long.CostRead-*short.CostRead, *longer.CostRead-*long.CostRead
	near(t, "a token", &first, second/float64(longer.ReadTokens-long.ReadTokens)*float64(long.ReadTokens-short.ReadTokens))
	f(strings.Repeat("src/old"+strings.Repeat("!", 92)+"\n", 1000), 1, (24<<10/100+1)*100)
	f(strings.Repeat("a", 5000)+" src/old "+strings.Repeat("b", 5000), 1, 401)
}
