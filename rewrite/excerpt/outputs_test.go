package excerpt

import (
	"strings"
	"testing"

	"epitome/rewrite/rewritetest"
	"epitome/tokenize"
)

// counter is the count of a large model.
func counter(tb testing.TB) Count {
	tb.Helper()
	c, err := new(tokenize.Counters).For(tokenize.O200k)
	if err != nil {
		tb.Fatal(err)
	}
	return c.CountString
}

// shows reports whether a line of an output is shown whole; of JSON also in another layout.
func shows(o rewritetest.FailingOutput, shown, line string) bool {
	bare := strings.NewReplacer(" ", "", "\n", ",")
	return strings.Contains("\n"+shown+"\n", "\n"+line+"\n") ||
		o.JSON && strings.Contains(bare.Replace(shown), strings.TrimSuffix(bare.Replace(line), ","))
}

// Real outputs of 62 tools fail in their middle half. Of what tells it, the first line is visible at first sight in 95 %
// of them, and 88 % of all such lines.
func TestTheFailingLineOfARealOutputIsVisible(t *testing.T) {
	const keep, slack = 2_000, 150 // tokens
	count := counter(t)
	first, lines, seen := 0, 0, 0
	all := rewritetest.Outputs(t)
	for _, o := range all {
		text := rewritetest.OutputText(t, o.Name)
		if laidOut, ok := LaidOut(text); ok {
			text = laidOut
		}
		shown, _ := Lines(text, keep, count)
		if n := count(shown); n == 0 || n > keep+slack {
			t.Errorf("%s: %d tokens are shown", o.Name, n)
		}
		for i, line := range o.Fails {
			lines++
			switch {
			case !shows(o, shown, line):
				t.Logf("%s: not shown: %s", o.Name, line)
			case i == 0:
				first++
				fallthrough
			default:
				seen++
			}
		}
	}
	t.Logf("first lines: %d of %d, all lines: %d of %d", first, len(all), seen, lines)
	if 100*first < 95*len(all) || 100*seen < 88*lines {
		t.Error("too few are shown")
	}
}
