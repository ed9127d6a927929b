package figures

import (
	"fmt"
	"slices"

	"epitome/bench/baselines"
	"epitome/bench/report"
)

// Settle fills in the goals. bar adds those that hold for the corpus that they were set on.
func (r *Report) Settle(bar bool) {
	r.Floors, r.Goals = []report.Floor{}, []report.Goal{}
	r.Floors = append(r.Floors, report.Floor{Name: "conversations", Unit: "read", Value: float64(r.Conversations),
		Limit: 1})
	for _, row := range r.Rows {
		if !slices.Contains(r.Subjects, row.Policy) {
			continue
		}
		of := fmt.Sprintf(", %s, window %d", row.Policy, row.Window)
		none := func(name, unit string, n int) {
			value := float64(n)
			r.Goals = append(r.Goals, report.Goal{Name: name + of, Unit: unit, Value: &value})
		}
		none("died", "conversations", row.Died)
		none("invalid", "requests", row.Invalid)
		none("changed without a decision", "requests", row.Unrecorded)
		r.floor("retrievable"+of, row.Retrievable, 100)
		if row.Window >= beatenFrom {
			r.Goals = append(r.Goals, r.countBeating(row, of))
		}
		r.Goals = append(r.Goals, r.countFooling(row, of))
		if bar {
			r.bar(row, of)
			if row.Window == cachedAt {
				r.floor("cached"+of, row.Cached, leastCached)
			}
		}
	}
}

func (r *Report) floor(name string, value *float64, limit float64) {
	if value != nil {
		r.Floors = append(r.Floors, report.Floor{Name: name, Unit: "%", Value: *value, Limit: limit})
	}
}

// What of a goal counts as met all the same: figures of one corpus say no more.
const (
	costSlack   = 0.01
	pointsSlack = 0.3
	breaksSlack = 0.3
)

// bar is what the project's own shaping should reach on the corpus that its goals were set on.
func (r *Report) bar(row Row, of string) {
	for _, b := range [...]struct {
		window                                  int
		cost, hot, older, lines, signal, breaks float64
	}{
		{32_000, 0.31, 93.5, 74, 87, 85, 7}, {64_000, 0.45, 96.8, 86, 94, 92, 2.6},
		{128_000, 0.61, 98.5, 93.5, 98, 92, 1.4}, {200_000, 0.61, 98.9, 94.5, 98.5, 92, 1.1},
	} {
		if b.window != row.Window {
			continue
		}
		r.Goals = append(r.Goals,
			report.Goal{Name: "cost" + of, Unit: "×", Value: row.Cost, Limit: b.cost + costSlack},
			report.Goal{Name: "breaks in 100 requests" + of, Unit: "breaks", Value: row.BreaksPer100,
				Limit: b.breaks + breaksSlack})
		r.floor("recall in context"+of, row.Recall, b.hot-pointsSlack)
		r.floor("older recall in context"+of, row.Older, b.older-pointsSlack)
		r.floor("lines"+of, row.Lines, b.lines-pointsSlack)
		r.floor("signal"+of, row.Signal, b.signal-pointsSlack)
		r.floor("first signal of a result"+of, row.SignalFirst, firstSignal-pointsSlack)
	}
}

// leastCached is how much of what is sent should come from the cache of a provider of Messages, in a window of cachedAt
// tokens.
const (
	leastCached = 85
	cachedAt    = 64_000
)

// firstSignal is the share of results of which the first line that tells should be shown.
const firstSignal = 95

// beatenFrom is the window from which on no baseline should beat a subject. What stands beside the messages fills so
// much of smaller ones that figures say more about that than about a policy.
const beatenFrom = 64_000

// countBeating counts the baselines that are cheaper than a subject and better in recall of hot and of older needs.
// They are named.
func (r *Report) countBeating(row Row, of string) report.Goal {
	return r.countRivals("cheaper and better in recall"+of, "baselines", row, func(x Row) bool {
		return !isAdversary(x) && below(row.Recall, x.Recall) && below(row.Older, x.Older)
	})
}

// countFooling counts the adversaries that are cheaper than a subject and as good in all that is measured. They are
// named.
func (r *Report) countFooling(row Row, of string) report.Goal {
	return r.countRivals("cheaper and as good"+of, "adversaries", row, func(x Row) bool {
		return row.Recall != nil && isAdversary(x) && !below(x.Recall, row.Recall) && !below(x.Older, row.Older) &&
			!below(x.Lines, row.Lines) && !below(x.Signal, row.Signal) && !below(x.SignalFirst, row.SignalFirst)
	})
}

func isAdversary(x Row) bool {
	return slices.Contains([]string{baselines.NamesName, baselines.SoupName, baselines.LinesName}, x.Policy)
}

// countRivals counts the policies in the window of a subject's row that are cheaper and win.
func (r *Report) countRivals(name, unit string, row Row, wins func(x Row) bool) report.Goal {
	value := 0.0
	goal := report.Goal{Name: name, Unit: unit, Value: &value}
	for _, x := range r.Rows {
		if x.Window == row.Window && !slices.Contains(r.Subjects, x.Policy) && below(x.Cost, row.Cost) && wins(x) {
			value++
			goal.Name += " (" + x.Policy + ")"
		}
	}
	return goal
}

// below reports whether both figures are known and a is less.
func below(a, b *float64) bool { return a != nil && b != nil && *a < *b }
