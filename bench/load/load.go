// Package load measures what a proxy costs: latency, CPU, throughput and memory. It compares epitome with a
// direct call, a bare fasthttp proxy, and other epitome binaries.
//
// Everything compared is measured in one run, in short turns that alternate between the contenders, so that a noisy
// machine is noisy for all of them. Figures of different runs or machines must not be compared. The report has no
// figure that cannot be measured on this system.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"
)

// Options say what Run measures.
type Options struct {
	Program  string    // the epitome binary that is compared
	Against  []string  // other epitome binaries
	Quick    bool      // run briefly, to see that everything works; the figures then mean little
	Progress io.Writer // gets a line for each step
}

// run is one Run in progress.
type run struct {
	*Report
	contenders []*contender
	progress   io.Writer
	haste      int // divides times and numbers: 1, or 50 in a quick run
}

// Run measures all contenders. It takes about four minutes for three of them.
func Run(ctx context.Context, o Options) (*Report, error) {
	dir, err := os.MkdirTemp("", "epitome-bench-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	upstream, err := startUpstream()
	if err != nil {
		return nil, err
	}
	defer upstream.Close()
	all, err := contenders(o, dir, upstream.Addr().String())
	if err != nil {
		return nil, err
	}
	r := &run{Report: &Report{}, contenders: all, progress: o.Progress, haste: 1}
	r.Machine = fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if o.Quick {
		r.haste = 50
	}
	fmt.Fprintln(o.Progress, "bench: start")
	for _, c := range all {
		r.Contenders = append(r.Contenders, c.name)
		if c.command == nil {
			continue
		}
		stop, err := c.start()
		if err != nil {
			return nil, fmt.Errorf("cannot start %s: %w", c.name, err)
		}
		defer stop()
	}
	time.Sleep(500 * time.Millisecond / time.Duration(r.haste)) // starting takes memory for a moment
	r.recordMemory("idle memory")
	return r.Report, r.measureLoad(ctx)
}

// few returns n, but a fiftieth of it and at least 2 in a quick run.
func (r *run) few(n int) int { return max(n/r.haste, 2) }

// measureLoad measures requests, and memory after them.
func (r *run) measureLoad(ctx context.Context) error {
	rounds, several := r.few(20), r.few(16)
	turn := 100 * time.Millisecond / time.Duration(r.haste)
	var all []series
	for _, kb := range []int{2, 100, 800} {
		name, body := fmt.Sprintf("%d KB", kb), conversation("read_file", 1500, kb<<10) // its results are small
		all = append(all, series{name, rounds, 1, turn, body},
			series{fmt.Sprintf("%s over %d connections", name, several), rounds, several, turn, body})
	}
	body := conversation("bash", 10_000, 800<<10)
	all = append(all, series{"800 KB rewritten, first", 1, 1, 0, body}, series{"800 KB rewritten", rounds, 1, turn, body})
	for _, s := range all {
		if err := r.measure(ctx, s); err != nil {
			return err
		}
	}
	r.recordMemory("memory after load")
	return nil
}

// series is requests of one kind. One connection gives latency, several give throughput.
type series struct {
	name          string
	rounds, conns int
	turn          time.Duration // how long a contender sends in a round; 0 for one request
	body          []byte
}

// measure measures a series: the contenders take turns, and each round begins with another one, as none should profit
// from its place in the order.
func (r *run) measure(ctx context.Context, s series) error {
	fmt.Fprintln(r.progress, "bench: "+s.name)
	cpu, requests := map[*contender]float64{}, map[*contender]float64{}
	for _, c := range r.contenders {
		cpu[c], _ = c.usage()
	}
	n := len(r.contenders)
	for i := range s.rounds * n {
		c := r.contenders[(i/n+i)%n]
		began := time.Now()
		took, err := c.sendFor(s.turn, s.body, s.conns)
		if err = errors.Join(ctx.Err(), err); err != nil {
			return fmt.Errorf("cannot measure %s of %s: %w", s.name, c.name, err)
		}
		if s.conns > 1 {
			r.record("throughput, "+s.name, "requests/s", c, float64(len(took))/time.Since(began).Seconds())
		} else {
			r.record("latency, "+s.name, "µs", c, median(took))
		}
		requests[c] += float64(len(took))
	}
	latency := r.find("latency, " + s.name)
	for _, c := range r.contenders {
		if latency != nil {
			for i, sample := range latency.samples[c.name] {
				r.record("added latency, "+s.name, "µs", c, sample-latency.samples[direct][i])
			}
		}
		if after, _ := c.usage(); after > cpu[c] {
			r.record("CPU per request, "+s.name, "µs", c, (after-cpu[c])/requests[c])
		}
	}
	return nil
}

// Report is the result of Run.
type Report struct {
	Machine string    `json:"machine"`
	Figures []*Figure `json:"figures"`

	Contenders []string `json:"-"` // by their names, in order
}

// Figure is one measure of all contenders.
type Figure struct {
	Name   string             `json:"name"`
	Unit   string             `json:"unit"`
	Values map[string]float64 `json:"values"` // medians by contender

	samples map[string][]float64
}

// find returns the figure of a name; nil if there is none.
func (r *Report) find(name string) *Figure {
	for _, f := range r.Figures {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// record adds a sample of one contender to a figure.
func (r *Report) record(figure, unit string, c *contender, sample float64) {
	f := r.find(figure)
	if f == nil {
		f = &Figure{Name: figure, Unit: unit, Values: map[string]float64{}, samples: map[string][]float64{}}
		r.Figures = append(r.Figures, f)
	}
	f.samples[c.name] = append(f.samples[c.name], sample)
	f.Values[c.name] = median(f.samples[c.name])
}

// recordMemory records the resident memory of all contenders, where it is known.
func (r *run) recordMemory(figure string) {
	for _, c := range r.contenders {
		if _, memory := c.usage(); memory > 0 {
			r.record(figure, "MB", c, memory)
		}
	}
}

// Text writes the figure of a contender, in parentheses with that of epitome as a multiple of it.
func (f *Figure) Text(contender string) string {
	value, isKnown := f.Values[contender]
	switch {
	case !isKnown:
		return "—"
	case contender == subject || contender == direct || value <= 0:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.1f (%.2f×)", value, f.Values[subject]/value)
}

// median returns the smallest sample that at least half of the samples do not exceed.
func median(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[(len(sorted)-1)/2]
}
