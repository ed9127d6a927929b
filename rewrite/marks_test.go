package rewrite

import (
	"strings"
	"testing"

	"epitome/rewrite/plan"
)

// lasting is a mark for an hour.
const lasting = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`

// mark marks the last block of message n.
func (c *coder) mark(n int, mark string) {
	c.items[n] = strings.TrimSuffix(c.items[n], "}]}") + mark + "}]}"
}

// marksOf are how many marks a body has.
func marksOf(body []byte) int { return strings.Count(string(body), `"cache_control"`) }

// summaryOf is the block with the summary in a body.
func summaryOf(t *testing.T, out Output) string {
	t.Helper()
	_, rest, found := strings.Cut(string(out.Body), "[epitome: summary ")
	if !found {
		t.Fatalf("there is no summary: %.2000s", out.Body)
	}
	text, _, _ := strings.Cut(rest, `}]}`)
	return text + "}"
}

// If no mark of the messages is sent any more, the last one of the client's moves to the summary, as it is.
func TestTheLastMarkMovesToTheSummary(t *testing.T) {
	f := func(name string, at func(c *coder), want string) {
		t.Helper()
		c := newCoder(20_000, userBlocks(textBlock(theTask)))
		c.work(1, 900)
		c.work(1, 900)
		at(c)
		for !compacts(c.ask(t)) {
			c.work(1, 900)
		}
		out := c.ask(t)
		got := summaryOf(t, out)
		if _, mark, _ := strings.Cut(got, `]"`); mark != want {
			t.Errorf("%s: behind the summary stands %q, want %q", name, mark, want)
		}
		c.restart()
		c.work(1, 300)
		next := c.ask(t)
		if stable := strings.TrimSuffix(string(out.Body), `],"stream":true}`); !strings.HasPrefix(string(next.Body), stable) {
			t.Errorf("%s: the summary is sent another way: %s", name, firstDifference(stable, string(next.Body)))
		}
	}
	f("no mark", func(*coder) {}, "}")
	f("a mark on a result", func(c *coder) { c.mark(2, lasting) }, lasting+"}")
	f("two marks", func(c *coder) { c.mark(2, movingMark); c.mark(4, lasting) }, lasting+"}")
	f("a mark that stays", func(c *coder) { c.mark(0, movingMark); c.mark(4, lasting) }, "}")
	f("marks before the messages alone", func(c *coder) {
		c.settings = `"system":[{"type":"text","text":"x"` + lasting + `}],`
	}, "}")
}

// A mark that moved is left out where the client has as many of its own as there may be, and stands there again
// afterwards.
func TestThereIsNeverAFifthMark(t *testing.T) {
	c := newCoder(20_000, userBlocks(textBlock(theTask)))
	c.work(1, 900)
	c.mark(2, lasting)
	for !compacts(c.ask(t)) {
		c.work(1, 900)
	}
	own := func(before, behind, want int) {
		t.Helper()
		was, settings := c.items, c.settings
		c.items = append([]string(nil), was...)
		for range behind {
			c.work(1, 100)
			c.mark(len(c.items)-1, movingMark)
		}
		tools := strings.Repeat(`{"name":"x","input_schema":{}`+lasting+`},`, before)
		c.settings = `"tools":[` + strings.TrimSuffix(tools, ",") + `],`
		out := c.ask(t)
		isThere := strings.Contains(summaryOf(t, out), lasting)
		if got := marksOf(out.Body); got != want || isThere != (want > before+behind) {
			t.Errorf("%d marks before and %d behind: %d marks are sent, want %d", before, behind, got, want)
		}
		c.items, c.settings = was, settings
	}
	own(0, 0, 1)
	own(2, 1, 4)
	own(2, 2, 4)
	own(3, 1, 4)
	own(1, 2, 4)
	own(0, 1, 2)
}

// Where all calls and results go, the mark of the newest goes to the summary that stands last, too.
func TestTheMovingMarkStaysWhereAllElseGoes(t *testing.T) {
	c := newCoder(1_000_000, userBlocks(textBlock(theTask)))
	c.marked = true
	for range 10 {
		c.work(2, 900)
	}
	c.ask(t)
	out := c.rescue(t, plan.Rescue{Most: 3_000, From: plan.StageBare})
	if out.Report.Stage != plan.StageBare || marksOf(out.Body) != 1 ||
		!strings.HasSuffix(summaryOf(t, out), movingMark+"}") {
		t.Errorf("stage %s, %d marks: %.3000s", out.Report.Stage, marksOf(out.Body), out.Body)
	}
	c.restart()
	c.work(1, 300)
	next := c.ask(t)
	stable := strings.TrimSuffix(string(out.Body), `],"stream":true}`)
	if marksOf(next.Body) != 2 || !strings.HasPrefix(string(next.Body), stable) {
		t.Errorf("%d marks: %s", marksOf(next.Body), firstDifference(stable, string(next.Body)))
	}
}

// A result that is cleared keeps its mark.
func TestClearedResultsKeepTheirMarks(t *testing.T) {
	c := newCoder(20_000, userBlocks(textBlock(theTask)))
	c.limits.ClearAt = .5
	c.work(1, 1_900)
	c.mark(2, lasting)
	out := c.ask(t)
	for !strings.Contains(rungs(out), "clear") {
		c.work(1, 1_900)
		out = c.ask(t)
	}
	if !strings.Contains(string(out.Body), lasting) || strings.Contains(string(out.Body), "part_1 line 50") {
		t.Errorf("the mark is gone, or its result is there: %.1500s", out.Body)
	}
}
