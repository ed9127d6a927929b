// Package report is what the reports of measurements have in common: goals, tables, and the statistics of their
// figures.
//
// It promises that a figure which was not measured is called so and misses no goal, and that a report lays out the same
// rows wherever they are shown.
package report

import (
	"fmt"
	"strconv"
)

// Goal is a figure that should not be exceeded.
type Goal struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`  // "×", "µs", "KB", "ms", "MB"
	Value *float64 `json:"value"` // null: not measured
	Limit float64  `json:"limit"` // met up to and including this
}

// Missed reports whether the figure was measured and exceeds its limit.
func (g Goal) Missed() bool { return g.Value != nil && *g.Value > g.Limit }

func (g Goal) String() string {
	value, verdict := "—", "not measured"
	if g.Value != nil {
		value, verdict = strconv.FormatFloat(*g.Value, 'f', 2, 64), "met"
	}
	if g.Missed() {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%s\t%s %s\t≤ %.6g\t%s", g.Name, value, g.Unit, g.Limit, verdict)
}

// MissedGoals says which goals are missed, and by which figures.
func MissedGoals(goals []Goal) []string {
	var out []string
	for _, g := range goals {
		if g.Missed() {
			out = append(out, fmt.Sprintf("%s: %.2f %s, goal ≤ %.6g", g.Name, *g.Value, g.Unit, g.Limit))
		}
	}
	return out
}

// Floor is a figure that should be reached.
type Floor struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"` // met from this on
}

// Missed reports whether the figure is below its limit.
func (f Floor) Missed() bool { return f.Value < f.Limit }

func (f Floor) String() string {
	verdict := "met"
	if f.Missed() {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%s\t%.2f %s\t≥ %.6g\t%s", f.Name, f.Value, f.Unit, f.Limit, verdict)
}

// MissedFloors says which floors are not reached, and by which figures.
func MissedFloors(floors []Floor) []string {
	var out []string
	for _, f := range floors {
		if f.Missed() {
			out = append(out, fmt.Sprintf("%s: %.2f %s, goal ≥ %.6g", f.Name, f.Value, f.Unit, f.Limit))
		}
	}
	return out
}
