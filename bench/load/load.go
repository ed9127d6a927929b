// Package load measures what a proxy adds to a direct call: latency, CPU, memory, throughput, and delay of streamed
// chunks.
//
// It promises that everything compared was measured in one run, in short blocks that take turns, so that a noisy
// machine is noisy for all alike; that a run is bounded in time and count; and that what cannot be measured here is
// named in the report, never guessed.
//
// It does not promise figures that hold on another machine: absolute times must not be compared across runs.
package load

import (
	"context"
	"iter"
	"time"

	"epitome/bench/report"
)

// Options are what Run can be told. A run takes about two minutes with four contenders.
type Options struct {
	Lineup
	// Quick makes all counts tiny: it shows that everything works and yields no figure worth reading.
	Quick bool
}

// plan is how much a run measures.
type plan struct {
	sizes                      []int // of request bodies, in bytes
	rounds                     int   // turns of each contender at each size
	block                      int   // requests in one turn, see turnRequests
	streamRounds, streamEvents int
	floodEvents                int // of a stream without pauses
	conns                      int // that ask at the same time for throughput
	throughputRounds           int
	throughputTurn             time.Duration
	idleStreams                int
	starts                     int
	settle                     time.Duration // between a change and a reading of memory
	leavings                   int           // clients that leave, in each phase
	patience                   time.Duration // how long the upstream may take to notice one
	burst, burstBytes          int           // large bodies, and the size of one
	burstRest                  time.Duration // from the last of them to the reading of memory
}

func (o Options) plan() plan {
	if o.Quick {
		return plan{
			sizes: []int{2 << 10, 100 << 10}, rounds: 2, block: 3, streamRounds: 1, streamEvents: 3, floodEvents: 20,
			conns: 2, throughputRounds: 1, throughputTurn: 20 * time.Millisecond, idleStreams: 10, starts: 1,
			settle: 10 * time.Millisecond, leavings: 2, patience: 200 * time.Millisecond,
			burst: 4, burstBytes: 64 << 10, burstRest: 10 * time.Millisecond,
		}
	}
	return plan{
		sizes: []int{2 << 10, 100 << 10, 800 << 10}, rounds: 60, block: 50, streamRounds: 16, streamEvents: 25,
		floodEvents: 5000, conns: 16, throughputRounds: 6, throughputTurn: 250 * time.Millisecond, idleStreams: 1000,
		starts: 15, settle: 500 * time.Millisecond, leavings: 100, patience: 500 * time.Millisecond,
		burst: 48, burstBytes: 8 << 20, burstRest: 10 * time.Second,
	}
}

// turnRequests returns the number of requests in one turn with bodies of size bytes: small ones are quick, and their
// medians need more of them.
func (p plan) turnRequests(size int) int {
	switch {
	case size >= 512<<10:
		return p.block
	case size >= 32<<10:
		return 2 * p.block
	}
	return 4 * p.block
}

// loadRun is one Run under way.
type loadRun struct {
	opts     Options
	plan     plan
	upstream string      // base URL of the scripted upstream
	field    []Contender // in the order of their turns
	lanes    []*Lane     // direct first, then the field as far as it started
	report   *Report
}

// Run measures what proxies add to a direct call. It returns an error when the subject (the first of the proxies)
// cannot be measured; other contenders that fail are left out and named in the report.
func Run(ctx context.Context, opts Options) (*Report, error) {
	l, err := opts.WithDefaults()
	if err != nil {
		return nil, err
	}
	opts.Lineup = l
	run := &loadRun{opts: opts, plan: opts.plan(), report: &Report{Machine: report.ThisMachine(), Subject: opts.Proxies[0].Name}}
	up, err := run.startUpstream(ctx)
	if err != nil {
		return nil, err
	}
	defer up.Stop()
	run.field, run.report.Skipped = opts.Contenders()
	for _, why := range run.report.Skipped {
		run.opts.Say("SKIPPED %s", why)
	}
	if err = run.measure(ctx, up); err != nil {
		return nil, err
	}
	run.report.settle()
	run.report.compare(opts.Rivals())
	return run.report, nil
}

// startUpstream runs the scripted upstream in a process of its own.
func (r *loadRun) startUpstream(ctx context.Context) (*Lane, error) {
	command := append(append([]string{}, r.opts.Self...), "upstream", "--listen", "{listen}")
	upstream := Contender{Name: "upstream", Command: command}
	up, err := Launch(ctx, upstream, "")
	if err != nil {
		return nil, err
	}
	r.upstream = "http://" + up.Addr
	r.opts.Say("upstream at %s", r.upstream)
	return up, nil
}

// measure runs all parts. Memory of idle streams and after a burst is taken from fresh processes first, because a heap that load has
// grown would hide it.
func (r *loadRun) measure(ctx context.Context, up *Lane) error {
	for _, part := range []func(context.Context) error{r.footprints, r.bursts} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	r.lanes = []*Lane{{Name: DirectName, Addr: up.Addr}}
	defer r.stopField()
	for i, c := range r.field {
		lane, err := Launch(ctx, c, r.upstream)
		if err != nil && i == 0 {
			return err
		}
		if err != nil {
			r.skip(err)
			continue
		}
		r.lanes = append(r.lanes, lane)
	}
	for _, part := range []func(context.Context) error{r.latencies, r.streams, r.floods, r.throughputs, r.leavings} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	r.readLoadedMemory()
	return nil
}

// turns yields the numbers below n, from another one on in each round: what leaves its traces in the machine's caches
// before a turn is not always the same.
func turns(round, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := range n {
			if !yield((round + k) % n) {
				return
			}
		}
	}
}

func (r *loadRun) stopField() {
	for _, lane := range r.lanes[1:] {
		lane.Stop()
	}
}

// skip notes in the report, and says, that something is left out.
func (r *loadRun) skip(why error) {
	r.report.Skipped = append(r.report.Skipped, why.Error())
	r.opts.Say("SKIPPED %v", why)
}

// readLoadedMemory notes the memory of each contender after all the load.
func (r *loadRun) readLoadedMemory() {
	for i := range r.report.Footprint {
		row := &r.report.Footprint[i]
		for _, lane := range r.lanes {
			if lane.Name != row.Contender || lane.PID() == 0 {
				continue
			}
			if rss, err := ResidentBytes(lane.PID()); err == nil {
				row.LoadedMB = megabytes(rss)
			}
		}
	}
}

func megabytes(n int64) *float64 {
	mb := float64(n) / (1 << 20)
	return &mb
}
