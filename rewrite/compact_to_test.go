package rewrite_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite"
)

// worked returns a body of about 35,000 tokens: a user, an agent that runs commands and tells of each, and new words of
// the user at the end.
func (api *keepAPI) worked() []byte {
	items := []string{api.said("Fix the shop, and tell me how it went.")}
	for i := range 40 {
		var result strings.Builder
		for line := range 30 {
			fmt.Fprintf(&result, "part %d of the shop, line %d: the price of item %d was read again\n", i, line, i*line)
		}
		items = append(items, api.called(4*i, result.String()), api.agents(fmt.Sprintf("Part %d is as it should be. ", i)))
		if i%8 == 7 {
			items = append(items, api.said(fmt.Sprintf("Well. Part %d must not lose its prices, 19.%d0 among them.", i, i)))
		}
	}
	items = append(items, api.called(1000, "NEWEST: all 40 parts are checked."), api.said("Go on, please."))
	return []byte(`{"model":"m",` + api.before + strings.Join(items, ",") + `]}`)
}

// A compaction that the client asks for leaves the size that it names, or at most three fifths, at any window. The
// newest group stays whole. Where that is too much, the report says how much has to stay.
func TestAskedCompactionReachesItsSize(t *testing.T) {
	for name, api := range keepAPIs {
		t.Run(name, func(t *testing.T) {
			body := api.worked()
			for _, c := range []struct {
				to, most int // most is 0 where to is out of reach
				why      string
			}{
				{0, -1, ""}, {20_000, 20_000, ""}, {8_000, 8_000, ""}, {3_000, 3_000, ""},
				{100, 0, "the aim was 100 tokens, and "}, {100_000, 1 << 30, " were asked for"},
			} {
				p, limits := start(newStorage()), defaultLimits()
				p.window.Store(128_000)
				limits.Rent = 0 // nothing is cleared
				out := p.Shape(rewrite.Input{Dialect: api.dialect, Body: body, Limits: &limits, Compact: true, CompactTo: c.to})
				r := &out.Report
				before, after := r.TokensBefore.Total(), r.TokensAfter.Total()
				if c.most < 0 {
					c.most = before * 3 / 5
				}
				t.Logf("to %d: %d > %d, %s", c.to, before, after, r.Reason)
				switch {
				case r.Err != nil || before < 30_000 || before > 40_000:
					t.Fatalf("%d tokens, %v", before, r.Err)
				case c.most > 0 && after > c.most, c.most > 0 && c.most < 1<<30 && r.Action != "compact":
					t.Errorf("to %d: %s leaves %d tokens, %s", c.to, r.Action, after, r.Reason)
				case c.most > 0 && c.most < before && after < c.most/2:
					t.Errorf("to %d: only %d tokens are left", c.to, after)
				case c.most == 1<<30 && out.Changed:
					t.Errorf("to %d: %s leaves %d tokens", c.to, r.Action, after)
				case !strings.Contains(r.Reason, c.why) || c.why == "" && r.Reason != "":
					t.Errorf("to %d: the reason is %q", c.to, r.Reason)
				case !bytes.Contains(out.Body, []byte("NEWEST: all 40")) || !bytes.Contains(out.Body, []byte("Go on, please.")):
					t.Errorf("to %d: the newest group is not whole", c.to)
				}
			}
		})
	}
}

// One more compaction goes on from the summary of the one before, and makes it smaller where it has to.
func TestAskedCompactionAfterAnother(t *testing.T) {
	api := keepAPIs["chat"]
	p, limits := start(newStorage()), defaultLimits()
	p.window.Store(128_000)
	for _, to := range []int{0, 8_000, 3_000} {
		out := p.Shape(rewrite.Input{Dialect: api.dialect, Body: api.worked(), Limits: &limits, Compact: true, CompactTo: to})
		if after := out.Report.TokensAfter.Total(); out.Report.Err != nil || to > 0 && after > to {
			t.Errorf("to %d: %d tokens, %s", to, after, out.Report.Reason)
		}
	}
}
