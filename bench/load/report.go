package load

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is the result of Run.
type Report struct {
	Machine string    `json:"machine"`
	Figures []*Figure `json:"figures"`

	contenders []*contender
}

// Figure is one measure of all contenders.
type Figure struct {
	Name   string             `json:"name"`
	Unit   string             `json:"unit"`
	Values map[string]float64 `json:"values"`         // medians by contender
	Goal   *float64           `json:"goal,omitempty"` // that the value of epitome should not exceed

	samples map[string][]float64
}

// goals are limits of epitome's figures.
var goals = map[string]float64{
	"client gone to upstream closed, waiting, p99":   50,
	"client gone to upstream closed, streaming, p99": 50,
	"departures unnoticed, waiting":                  0,
	"departures unnoticed, streaming":                0,
	"start to ready":                                 100,
	"idle memory":                                    60,
	"memory after a burst":                           100,
	"memory of an idle stream":                       40,
}

// find returns the figure of a name; nil if there is none.
func (r *Report) find(name string) *Figure {
	if i := slices.IndexFunc(r.Figures, func(f *Figure) bool { return f.Name == name }); i >= 0 {
		return r.Figures[i]
	}
	return nil
}

// record adds a sample of one contender to a figure.
func (r *Report) record(figure, unit string, c *contender, sample float64) {
	f := r.find(figure)
	if f == nil {
		f = &Figure{Name: figure, Unit: unit, Values: map[string]float64{}, samples: map[string][]float64{}}
		if goal, ok := goals[figure]; ok {
			f.Goal = &goal
		}
		r.Figures = append(r.Figures, f)
	}
	f.samples[c.name] = append(f.samples[c.name], sample)
	f.Values[c.name] = percentile(f.samples[c.name], 50)
}

// recordMemory records the resident memory of all contenders and its peak so far, where they are known.
func (r *Report) recordMemory(figure string) {
	for _, c := range r.contenders {
		if _, memory, peak := c.usage(); memory > 0 {
			r.record(figure, "MB", c, memory/1024)
			r.record("peak, "+figure, "MB", c, peak/1024)
		}
	}
}

// Missed returns a line for each goal that was measured and missed.
func (r *Report) Missed() (lines []string) {
	for _, f := range r.Figures {
		if value := f.Values[subject]; f.Goal != nil && value > *f.Goal {
			lines = append(lines, fmt.Sprintf("%s: %.2f, goal ≤ %g", f.Name, value, *f.Goal))
		}
	}
	return lines
}

// Print writes a table with a row for each figure and a column for each contender.
func (r *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\n\nIn parentheses: the figure of epitome as a multiple of this one.\n\n\t\tgoal", r.Machine)
	for _, c := range r.contenders {
		fmt.Fprintf(t, "\t%s", c.name)
	}
	for _, f := range r.Figures {
		goal := ""
		if f.Goal != nil {
			goal = fmt.Sprintf("≤ %g", *f.Goal)
		}
		fmt.Fprintf(t, "\n%s\t%s\t%s", f.Name, f.Unit, goal)
		for _, c := range r.contenders {
			switch value, ok := f.Values[c.name]; {
			case !ok:
				fmt.Fprint(t, "\t—")
			case c.name == subject || c.name == direct || value <= 0:
				fmt.Fprintf(t, "\t%.1f", value)
			default:
				fmt.Fprintf(t, "\t%.1f (%.2f×)", value, f.Values[subject]/value)
			}
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// percentile returns the smallest sample that at least p percent of the samples do not exceed.
func percentile(samples []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[(len(sorted)*p+99)/100-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
