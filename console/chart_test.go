package console

import (
	"slices"
	"strings"
	"testing"

	"epitome/event"
	"epitome/event/journal"
)

// A long session is on its chart from the first turn to the last: no peak is lost, nothing is cut without its true
// number, and the turn is marked at which it passes the window.
func TestChartKeepsTheWholeSession(t *testing.T) {
	for _, turns := range []int{1, 20, 343, 3000} {
		story := journal.Story{Conversation: journal.Conversation{ID: id, Turns: turns}}
		for turn := 1; turn <= turns; turn++ {
			e := event.Exchange{Turn: turn, Mode: event.ModeOn, Status: 200, Shaping: event.Shaping{
				Window: 64_000, TokensBefore: event.Tokens{User: 3000 * turn}, TokensAfter: event.Tokens{User: 20_000},
			}}
			e.Bill.Oversized = 3000*turn > e.Window
			if turn == turns/2 {
				e.Compacted, e.TokensAfter.User = 7, 63_000
			}
			story.Exchanges = append(story.Exchanges, e)
		}
		if turns > 21 {
			story.BeyondFrom = 22
		}
		c := turnChart(story, 1)
		next, most := 1, 0
		for _, drawn := range c.Columns {
			if drawn.First().Turn != next {
				t.Fatalf("of %d turns, turn %d is followed by turn %d", turns, next-1, drawn.First().Turn)
			}
			next, most = drawn.Last().Turn+1, max(most, drawn.After.Most)
		}
		isLong := turns > 21
		if next != turns+1 || len(c.Columns) > mostColumns || isLong && most != 63_000 || turns > 1 && len(c.Marks()) != 1 {
			t.Errorf("of %d turns, %d are in %d columns, at most %d tokens, marked %v", turns, next-1, len(c.Columns), most,
				c.Marks())
		}
		hasEnd := slices.ContainsFunc(c.Columns, func(drawn column) bool { return drawn.Passes })
		if c.Most != 3000*turns || c.Top > 3*64_000 || isLong != hasEnd {
			t.Errorf("%d turns: %d tokens, %d at the top, it passes the window: %t", turns, c.Most, c.Top, hasEnd)
		}
		step := Tokens(int64(c.Amounts[1]))
		if digits := strings.TrimRight(strings.TrimRight(step, "kM"), "0"); len(digits) > 1 || len(c.Amounts) > 6 {
			t.Errorf("%d turns: the axis has %d steps of %s", turns, len(c.Amounts), step)
		}
	}
}
