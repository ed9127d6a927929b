package load

import (
	"context"
	"fmt"
	"time"

	"epitome/bench/report"
)

// starts are the fresh processes of one contender so far.
type starts struct {
	ready, idle []float64 // ms, MB
	streamKB    *float64
	failed      bool
}

// footprints measures start and memory of each contender, from fresh processes: one of each in turn.
func (r *loadRun) footprints(ctx context.Context) error {
	all := make([]starts, len(r.field))
	r.opts.Say("%d starts, %d idle streams", r.plan.starts, r.plan.idleStreams)
	for round := range r.plan.starts {
		for i := range turns(round, len(r.field)) {
			if all[i].failed {
				continue
			}
			err := r.start(ctx, r.field[i], &all[i], round == r.plan.starts-1)
			if err != nil && i == 0 {
				return err
			}
			if err != nil {
				r.skip(err)
				all[i].failed = true
			}
		}
	}
	for i, c := range r.field {
		if len(all[i].ready) > 0 && !all[i].failed {
			r.report.Footprint = append(r.report.Footprint, all[i].row(c.Name, r.plan))
		}
	}
	return nil
}

// start measures one process more. The last one gets the idle streams.
func (r *loadRun) start(ctx context.Context, c Contender, all *starts, last bool) error {
	run, err := Launch(ctx, c, r.upstream)
	if err != nil {
		return err
	}
	defer run.Stop()
	all.ready = append(all.ready, report.Milliseconds(run.Ready))
	time.Sleep(r.plan.settle)
	if rss, err := ResidentBytes(run.PID()); err == nil {
		all.idle = append(all.idle, *megabytes(rss))
	}
	if last {
		all.streamKB, err = r.idleStreams(run)
	}
	return err
}

func (s *starts) row(name string, p plan) Footprint {
	row := Footprint{Contender: name, Starts: p.starts, Streams: p.idleStreams, StreamKB: s.streamKB,
		ReadyMS: report.Median(s.ready)}
	if len(s.idle) > 0 {
		m := report.Median(s.idle)
		row.IdleMB = &m
	}
	return row
}

// idleStreams returns the memory in KB that each of many open, silent streams costs; nil where memory cannot be read.
func (r *loadRun) idleStreams(run *Lane) (*float64, error) {
	request, err := chatRequest(run, 2<<10, "")
	if err != nil {
		return nil, err
	}
	if err := AskOnce(run.Addr, request); err != nil {
		return nil, fmt.Errorf("cannot ask %s: %w", run.Name, err)
	}
	time.Sleep(r.plan.settle)
	before, err := ResidentBytes(run.PID())
	if err != nil {
		r.skip(err)
		return nil, nil
	}
	if request, err = chatRequest(run, 2<<10, "?bench=idle"); err != nil {
		return nil, err
	}
	for i := range r.plan.idleStreams {
		c, err := openIdle(run.Addr, request)
		if err != nil {
			return nil, fmt.Errorf("cannot open stream %d of %d through %s: %w", i+1, r.plan.idleStreams, run.Name, err)
		}
		defer c.Close()
	}
	time.Sleep(r.plan.settle)
	after, err := ResidentBytes(run.PID())
	if err != nil {
		return nil, fmt.Errorf("cannot measure %s: %w", run.Name, err)
	}
	kb := float64(after-before) / 1024 / float64(r.plan.idleStreams)
	return &kb, nil
}

// openIdle opens a stream and reads its only event.
func openIdle(addr string, request []byte) (*Client, error) {
	c, err := Dial(addr, time.Minute)
	if err != nil {
		return nil, err
	}
	events, err := c.Open(request)
	if err == nil {
		_, err = events.Read(c.Scratch)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	// An idle client needs no buffers here: the memory of this process is not the point, but 1000 × 128 KB is much.
	c.Reader, c.Scratch = nil, nil
	return c, nil
}
