package console

import (
	"strings"
	"testing"

	"epitome/event"
	"epitome/event/journal"
)

// A long session is on its chart from the first turn to the last: no peak is lost, nothing is cut without its true
// number, and the turn is marked at which it would have ended.
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
			story.EndsAt = 22
		}
		c := turnChart(story, story.Exchanges, 1)
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
		if wants := "↑ " + Tokens(int64(3000*turns)) + " before"; turns > 64 && c.BeforeText.Text != wants ||
			isLong != (c.Ends.Text == "would have ended at turn 22") {
			t.Errorf("%d turns: %q, %q", turns, c.BeforeText.Text, c.Ends.Text)
		}
		step := c.Amounts[1].Text
		if digits := strings.TrimRight(strings.TrimRight(step, "kM"), "0"); len(digits) > 1 || len(c.Amounts) > 6 {
			t.Errorf("%d turns: the axis has %d steps of %s", turns, len(c.Amounts), step)
		}
	}
}
