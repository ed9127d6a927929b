package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"epitome/bench/report"
)

// Report is the result of Run.
type Report struct {
	Machine report.Machine `json:"machine"`
	Seed    uint64         `json:"seed"`
	Minutes float64        `json:"minutes"`
	CPU     []Spent        `json:"cpu"`
	Figures []Figure       `json:"figures"`
	Counts  map[string]int `json:"counts"` // of what happened
	Broken  []string       `json:"broken"` // promises, each in a line
	More    int            `json:"more"`   // broken promises beyond those
	Skipped []string       `json:"skipped"`
	Kept    string         `json:"kept,omitempty"` // the folder of epitome, where a promise was broken
}

// Spent is the processor time that somebody took.
type Spent struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Missed lists the promises that were broken.
func (r *Report) Missed() []string {
	all := r.Broken
	if r.More > 0 {
		all = append(slices.Clone(all), fmt.Sprintf("and %d more", r.More))
	}
	return all
}

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) error {
	t := report.NewTable(w, r.Machine)
	t.Section(fmt.Sprintf("What epitome took in %.1f minutes", r.Minutes),
		"figure\tunit\tfirst\tmedian\tlast\tmost\tlast quarter : second\tverdict")
	for _, f := range r.Figures {
		t.Row("%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%s", f.Name, f.Unit, f.First, f.Median, f.Last, f.Most, f.Ratio, f.Verdict)
	}
	t.Section("Processor time", "of\tseconds")
	for _, s := range r.CPU {
		t.Row("%s\t%.1f", s.Name, s.Seconds)
	}
	t.Section("What happened", "what\ttimes")
	for _, what := range slices.Sorted(maps.Keys(r.Counts)) {
		t.Row("%s\t%d", what, r.Counts[what])
	}
	t.Row("")
	for _, why := range r.Skipped {
		t.Row("SKIPPED %s", why)
	}
	t.Row("%d promises broken", len(r.Broken)+r.More)
	if r.Kept != "" {
		t.Row("what epitome wrote lies in %s", r.Kept)
	}
	return t.Flush()
}
