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
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/report"
)

// Options are what Run can be told. The defaults take about 60 seconds with four contenders.
type Options struct {
	lineup.Lineup
	// Sizes are the request bodies' sizes in bytes, at least 512. Default 2 KiB, 100 KiB, 800 KiB.
	Sizes []int
	// Rounds is how often each contender has its turn at each size. Default 60.
	Rounds int
	// Block is the number of requests in one turn with bodies of 512 KiB and more; twice as many from 32 KiB, four
	// times as many below. Default 50.
	Block int
	// StreamRounds and StreamEvents are the turns of the paced stream and the events in one. Default 16 and 25.
	StreamRounds, StreamEvents int
	// FloodEvents is how many events a stream without pauses has. Default 5000.
	FloodEvents int
	// Conns is the number of connections that ask at the same time when throughput is measured. Default 16.
	Conns int
	// ThroughputRounds and ThroughputTurn are the turns of the throughput measurement and the time of one. Default 6
	// and 250 ms.
	ThroughputRounds int
	ThroughputTurn   time.Duration
	// IdleStreams is the number of open streams whose memory is measured. Default 1000.
	IdleStreams int
	// Starts is how often each contender is started for the time to ready. Default 15.
	Starts int
	// Settle is the time between a change and a reading of memory. Default 500 ms.
	Settle time.Duration
	// UpstreamListen is the address of the scripted upstream. Default a free loopback port; needed when a contender
	// is given by URL, because that one must know it.
	UpstreamListen string
	// Quick makes the defaults tiny: it shows that everything works and yields no figure worth reading.
	Quick bool
}

func (o Options) withDefaults() (Options, error) {
	def := Options{
		Sizes: []int{2 << 10, 100 << 10, 800 << 10}, Rounds: 60, Block: 50, StreamRounds: 16, StreamEvents: 25,
		FloodEvents: 5000, Conns: 16,
		ThroughputRounds: 6, ThroughputTurn: 250 * time.Millisecond, IdleStreams: 1000, Starts: 15,
		Settle: 500 * time.Millisecond,
	}
	if o.Quick {
		def = Options{
			Sizes: []int{2 << 10, 100 << 10}, Rounds: 2, Block: 3, StreamRounds: 1, StreamEvents: 3, FloodEvents: 20,
			Conns:            2,
			ThroughputRounds: 1, ThroughputTurn: 20 * time.Millisecond, IdleStreams: 10, Starts: 1,
			Settle: 10 * time.Millisecond,
		}
	}
	if len(o.Sizes) == 0 {
		o.Sizes = def.Sizes
	}
	o.Rounds = cmp.Or(max(o.Rounds, 0), def.Rounds)
	o.Block = cmp.Or(max(o.Block, 0), def.Block)
	o.StreamRounds = cmp.Or(max(o.StreamRounds, 0), def.StreamRounds)
	o.StreamEvents = cmp.Or(max(o.StreamEvents, 0), def.StreamEvents)
	o.FloodEvents = cmp.Or(max(o.FloodEvents, 0), def.FloodEvents)
	o.Conns = cmp.Or(max(o.Conns, 0), def.Conns)
	o.ThroughputRounds = cmp.Or(max(o.ThroughputRounds, 0), def.ThroughputRounds)
	o.IdleStreams = cmp.Or(max(o.IdleStreams, 0), def.IdleStreams)
	o.Starts = cmp.Or(max(o.Starts, 0), def.Starts)
	o.ThroughputTurn = cmp.Or(max(o.ThroughputTurn, 0), def.ThroughputTurn)
	o.Settle = cmp.Or(max(o.Settle, 0), def.Settle)
	var err error
	o.Lineup, err = o.Lineup.WithDefaults()
	for _, c := range o.Proxies {
		if len(c.Command) == 0 && o.UpstreamListen == "" {
			err = errors.Join(err, fmt.Errorf("cannot measure %s by URL: give the upstream's listen address, which it forwards to", c.Name))
		}
	}
	return o, err
}

// turnRequests returns the number of requests in one turn with bodies of size bytes: small ones are quick, and their
// medians need more of them.
func (o Options) turnRequests(size int) int {
	switch {
	case size >= 512<<10:
		return o.Block
	case size >= 32<<10:
		return 2 * o.Block
	}
	return 4 * o.Block
}

// loadRun is one Run under way.
type loadRun struct {
	opts     Options
	upstream string             // base URL of the scripted upstream
	field    []lineup.Contender // in the order of their turns
	lanes    []*lineup.Lane     // direct first, then the field as far as it started
	report   *Report
}

// Run measures what proxies add to a direct call. It returns an error when the subject (the first of the proxies)
// cannot be measured; other contenders that fail are left out and named in the report.
func Run(ctx context.Context, opts Options) (*Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	run := &loadRun{opts: opts, report: &Report{Machine: report.ThisMachine(), Subject: opts.Proxies[0].Name}}
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
	for _, c := range opts.Proxies {
		if c.Chat {
			run.report.wantAsFast(c.Name)
		}
	}
	return run.report, nil
}

// startUpstream runs the scripted upstream in a process of its own.
func (r *loadRun) startUpstream(ctx context.Context) (*lineup.Lane, error) {
	command := append(append([]string{}, r.opts.Self...), "upstream", "--listen", "{listen}")
	upstream := lineup.Contender{Name: "upstream", Command: command, Fixed: r.opts.UpstreamListen}
	up, err := lineup.Launch(ctx, upstream, "")
	if err != nil {
		return nil, err
	}
	r.upstream = "http://" + up.At.Addr
	r.opts.Say("upstream at %s", r.upstream)
	return up, nil
}

// measure runs all parts. Memory of idle streams is taken from fresh processes first, because a heap that load has
// grown would hide it.
func (r *loadRun) measure(ctx context.Context, up *lineup.Lane) error {
	if err := r.footprints(ctx); err != nil {
		return err
	}
	r.lanes = []*lineup.Lane{{Name: lineup.DirectName, At: up.At}}
	defer r.stopField()
	for i, c := range r.field {
		lane, err := lineup.Launch(ctx, c, r.upstream)
		if err != nil && i == 0 {
			return err
		}
		if err != nil {
			r.skip(err)
			continue
		}
		r.lanes = append(r.lanes, lane)
	}
	for _, part := range []func(context.Context) error{r.latencies, r.streams, r.floods, r.throughputs} {
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
			if rss, err := lineup.ResidentBytes(lane.PID()); err == nil {
				row.LoadedMB = megabytes(rss)
			}
		}
	}
}

func megabytes(n int64) *float64 {
	mb := float64(n) / (1 << 20)
	return &mb
}
