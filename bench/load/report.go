package load

import (
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// Report is the result of Run.
type Report struct {
	Machine string    `json:"machine"`
	Figures []*Figure `json:"figures"`
	Goals   []*Goal   `json:"goals"`
}

// Figure is one measure of all contenders.
type Figure struct {
	Name   string             `json:"name"`
	Unit   string             `json:"unit"`
	Values map[string]float64 `json:"values"` // medians by contender

	samples map[string][]float64
}

// Goal is a limit of one figure of epitome.
type Goal struct {
	Figure  string   `json:"figure"`
	Against string   `json:"against,omitempty"` // value and limit are multiples of this contender's figure
	Limit   float64  `json:"limit"`
	Value   *float64 `json:"value"` // null: not measured
}

// missed reports whether the figure was measured and exceeds the limit.
func (g *Goal) missed() bool { return g.Value != nil && *g.Value > g.Limit }

func newReport() *Report {
	return &Report{
		Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Goals: []*Goal{
			{Figure: "added latency, 2 KB", Against: nginx, Limit: 1.8},
			{Figure: "added latency, 100 KB", Against: nginx, Limit: 1.8},
			{Figure: "added latency, 800 KB", Against: nginx, Limit: 1.8},
			{Figure: "client gone to upstream closed, waiting, p99", Limit: 50},
			{Figure: "client gone to upstream closed, streaming, p99", Limit: 50},
			{Figure: "departures unnoticed, waiting"},
			{Figure: "departures unnoticed, streaming"},
			{Figure: "start to ready", Limit: 100},
			{Figure: "idle memory", Limit: 60},
			{Figure: "memory after a burst", Limit: 100},
			{Figure: "memory of an idle stream", Limit: 40},
		},
	}
}

// record adds samples of one contender to a figure.
func (r *Report) record(figure, unit, contender string, samples ...float64) {
	f := r.find(figure)
	if f.Unit == "" {
		*f = Figure{figure, unit, map[string]float64{}, map[string][]float64{}}
		r.Figures = append(r.Figures, f)
	}
	f.samples[contender] = append(f.samples[contender], samples...)
	f.Values[contender] = percentile(f.samples[contender], 50)
}

// judge fills in the values of the goals.
func (r *Report) judge() {
	for _, g := range r.Goals {
		values := r.find(g.Figure).Values
		value, ok := values[subject]
		if g.Against != "" {
			ok = ok && values[g.Against] > 0
			value /= values[g.Against]
		}
		if ok {
			g.Value = &value
		}
	}
}

// recordAdded records the difference between one contender's samples of a figure and those of the direct call in the
// same rounds.
func (r *Report) recordAdded(figure, contender string) {
	f := r.find(figure)
	for i, sample := range f.samples[contender] {
		r.record("added "+figure, f.Unit, contender, sample-f.samples[direct][i])
	}
}

// recordMemory records the resident memory of a contender, where it is known.
func (r *Report) recordMemory(figure string, l *lane) {
	if _, memory, ok := l.usage(); ok {
		r.record(figure, "MB", l.name, memory/1024)
	}
}

// find returns the figure of a name; an empty one if there is none.
func (r *Report) find(name string) *Figure {
	if i := slices.IndexFunc(r.Figures, func(f *Figure) bool { return f.Name == name }); i >= 0 {
		return r.Figures[i]
	}
	return &Figure{}
}

// Missed returns a line for each goal that was measured and missed.
func (r *Report) Missed() (lines []string) {
	for _, g := range r.Goals {
		if g.missed() {
			lines = append(lines, fmt.Sprintf("%s: %.2f, goal ≤ %g", g.Figure, *g.Value, g.Limit))
		}
	}
	return lines
}

// Print writes a table with a row for each figure and a column for each contender.
func (r *Report) Print(w io.Writer) error {
	names := []string{subject, direct, bare, nginx}
	for _, name := range slices.Sorted(maps.Keys(r.find("start to ready").Values)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\n\nIn parentheses: the figure of epitome as a multiple of this one.\n\n\t", r.Machine)
	for _, name := range names {
		fmt.Fprintf(t, "\t%s", name)
	}
	for _, f := range r.Figures {
		fmt.Fprintf(t, "\n%s\t%s", f.Name, f.Unit)
		for _, name := range names {
			switch value, ok := f.Values[name]; {
			case !ok:
				fmt.Fprint(t, "\t—")
			case name == subject || name == direct || value <= 0:
				fmt.Fprintf(t, "\t%.1f", value)
			default:
				fmt.Fprintf(t, "\t%.1f (%.2f×)", value, f.Values[subject]/value)
			}
		}
	}
	fmt.Fprint(t, "\n\ngoal of epitome\tvalue\tlimit\n")
	for _, g := range r.Goals {
		value, limit := "not measured", fmt.Sprintf("≤ %g", g.Limit)
		if g.Value != nil {
			value = fmt.Sprintf("%.2f", *g.Value)
		}
		if g.Against != "" {
			limit += " × " + g.Against
		}
		if g.missed() {
			limit += " MISSED"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", g.Figure, value, limit)
	}
	return t.Flush()
}

// percentile returns the smallest sample that at least p percent of the samples do not exceed.
func percentile(samples []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// sizeName returns a number of bytes in KB, as figures are named.
func sizeName(bytes int) string { return strconv.Itoa(bytes/1024) + " KB" }
