package load

import (
	"context"
	"fmt"
	"time"

	"epitome/bench/backend"
	"epitome/bench/lineup"
	"epitome/bench/report"
	"epitome/bench/wire"
)

// footprints measures start and memory of each contender that has a command, from fresh processes.
func (r *loadRun) footprints(ctx context.Context) error {
	for i, c := range r.field {
		if len(c.Command) == 0 {
			continue
		}
		r.opts.Say("%s: %d starts, %d idle streams", c.Name, r.opts.Starts, r.opts.IdleStreams)
		row, err := r.footprint(ctx, c)
		if err != nil && i == 0 {
			return err
		}
		if err != nil {
			r.skip(err)
			continue
		}
		r.report.Footprint = append(r.report.Footprint, row)
	}
	return nil
}

func (r *loadRun) footprint(ctx context.Context, c lineup.Contender) (Footprint, error) {
	row := Footprint{Contender: c.Name, Starts: r.opts.Starts, Streams: r.opts.IdleStreams}
	var ready, idle []float64
	for i := range r.opts.Starts {
		run, err := lineup.Launch(ctx, c, r.upstream)
		if err != nil {
			return row, err
		}
		ready = append(ready, report.Milliseconds(run.Ready))
		time.Sleep(r.opts.Settle)
		if rss, err := lineup.ResidentBytes(run.PID()); err == nil {
			idle = append(idle, *megabytes(rss))
		}
		if i == r.opts.Starts-1 {
			row.StreamKB, err = r.idleStreams(run)
		}
		run.Stop()
		if err != nil {
			return row, err
		}
	}
	row.ReadyMS = report.Median(ready)
	if len(idle) > 0 {
		m := report.Median(idle)
		row.IdleMB = &m
	}
	return row, nil
}

// idleStreams returns the memory in KB that each of many open, silent streams costs; nil where memory cannot be read.
func (r *loadRun) idleStreams(run *lineup.Lane) (*float64, error) {
	payload, err := backend.ChatBody(2 << 10)
	if err != nil {
		return nil, err
	}
	if err := lineup.AskOnce(run.At.Addr, wire.PostRequest(run.At, backend.ChatPath, payload)); err != nil {
		return nil, fmt.Errorf("cannot ask %s: %w", run.Name, err)
	}
	time.Sleep(r.opts.Settle)
	before, err := lineup.ResidentBytes(run.PID())
	if err != nil {
		r.skip(err)
		return nil, nil
	}
	request := wire.PostRequest(run.At, backend.ChatPath+"?bench=idle", payload)
	for i := range r.opts.IdleStreams {
		c, err := openIdle(run.At.Addr, request)
		if err != nil {
			return nil, fmt.Errorf("cannot open stream %d of %d through %s: %w", i+1, r.opts.IdleStreams, run.Name, err)
		}
		defer c.Close()
	}
	time.Sleep(r.opts.Settle)
	after, err := lineup.ResidentBytes(run.PID())
	if err != nil {
		return nil, fmt.Errorf("cannot measure %s: %w", run.Name, err)
	}
	kb := float64(after-before) / 1024 / float64(r.opts.IdleStreams)
	return &kb, nil
}

// openIdle opens a stream and reads its only event.
func openIdle(addr string, request []byte) (*wire.Client, error) {
	c, err := wire.Dial(addr, time.Minute)
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
