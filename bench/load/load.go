// Package load measures what a proxy costs: latency, CPU, throughput, memory, start, and how soon it notices a client
// that leaves. It compares epitome with a direct call, a bare fasthttp proxy, nginx where it is installed, and other
// epitome binaries.
//
// Everything compared is measured in one run, in short turns that alternate between the contenders, so that a noisy
// machine is noisy for all of them. Figures of different runs or machines must not be compared. The report has no
// figure that cannot be measured on this system.
package load

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Options say what Run measures.
type Options struct {
	Program  string    // the epitome binary that the goals are about
	Against  []string  // other epitome binaries
	Quick    bool      // run briefly, to see that everything works; the figures then mean little
	Progress io.Writer // gets a line for each step
}

// run is one Run in progress.
type run struct {
	*Report
	quick      bool
	progress   io.Writer
	contenders []contender
	upstream   *upstream
}

// few returns n, but a fiftieth of it and at least 2 in a quick run.
func (r *run) few(n int) int {
	if r.quick {
		return max(n/50, 2)
	}
	return n
}

// wait returns d, but a fiftieth of it in a quick run.
func (r *run) wait(d time.Duration) time.Duration {
	if r.quick {
		return d / 50
	}
	return d
}

// Run measures all contenders. It takes about three minutes for four of them.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &run{Report: newReport(), quick: o.Quick, progress: o.Progress, contenders: contenders(o.Program, o.Against)}
	var err error
	if r.upstream, err = startUpstream(); err != nil {
		return nil, err
	}
	defer r.upstream.close()
	if err := r.measureStart(ctx); err != nil {
		return nil, err
	}
	// Memory is read from processes of its own, as load grows the heap.
	for _, part := range []func(context.Context, []*lane) error{r.measureIdleStreams, r.measureBurst, r.measureLoad} {
		if err := r.withLanes(ctx, part); err != nil {
			return nil, err
		}
	}
	r.judge()
	return r.Report, nil
}

// withLanes calls measure with a fresh process of each contender.
func (r *run) withLanes(ctx context.Context, measure func(context.Context, []*lane) error) error {
	var lanes []*lane
	for _, c := range r.contenders {
		l, err := launch(ctx, c, r.upstream.addr)
		if err != nil {
			return err
		}
		defer l.stop()
		lanes = append(lanes, l)
	}
	return measure(ctx, lanes)
}

// inTurns calls do for each contender in each round, and begins each round with another one, as none should profit
// from its place in the order.
func inTurns[T any](ctx context.Context, rounds int, contenders []T, do func(T) error) error {
	for round := range rounds {
		for k := range contenders {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(contenders[(round+k)%len(contenders)]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "bench: "+format+"\n", args...)
}
