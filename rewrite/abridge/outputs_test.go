package abridge

import (
	"strings"
	"testing"

	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/rewritetest"
)

// outputLimit is the limit of a result in a large window, in tokens.
const outputLimit = 8_000

// holdMiddle holds that the output is as the manifest says: over the limit, and silent of its failure at both ends.
func holdMiddle(t *testing.T, o rewritetest.FailingOutput, text string, tokens int) {
	t.Helper()
	if tokens <= outputLimit {
		t.Errorf("%d tokens are no more than %d", tokens, outputLimit)
	}
	for _, line := range o.Fails {
		at := strings.Index("\n"+text, "\n"+line+"\n")
		if at < len(text)/4 || at > len(text)*3/4 {
			t.Errorf("%q stands at byte %d of %d", line, at, len(text))
		}
		if again := strings.LastIndex("\n"+text, "\n"+line+"\n"); again > len(text)*3/4 {
			t.Errorf("%q stands at byte %d of %d again", line, again, len(text))
		}
	}
}

// TestRealOutputsFailInTheirMiddle holds what the manifest says of each output.
func TestRealOutputsFailInTheirMiddle(t *testing.T) {
	for _, o := range rewritetest.Outputs(t) {
		t.Run(o.Name, func(t *testing.T) {
			text := rewritetest.OutputText(t, o.Name)
			p := planned(t, plantest.Command(o.Command, text))
			holdMiddle(t, o, text, shortening(t, p, 0, 0, 0).Tokens)
		})
	}
}
