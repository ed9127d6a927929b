package bench

import (
	"context"
	"fmt"
	"time"
)

// footprints measures start and memory of each contender that has a command, from fresh processes.
func (r *loadRun) footprints(ctx context.Context) error {
	for i, c := range r.field {
		if len(c.Command) == 0 {
			continue
		}
		r.say("%s: %d starts, %d idle streams", c.Name, r.Starts, r.IdleStreams)
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

func (r *loadRun) footprint(ctx context.Context, c Contender) (Footprint, error) {
	row := Footprint{Contender: c.Name, Starts: r.Starts, Streams: r.IdleStreams}
	var ready, idle []float64
	for i := range r.Starts {
		run, err := launch(ctx, c, r.upstream)
		if err != nil {
			return row, err
		}
		ready = append(ready, milliseconds(run.ready))
		time.Sleep(r.Settle)
		if rss, err := residentBytes(run.pid()); err == nil {
			idle = append(idle, *megabytes(rss))
		}
		if i == r.Starts-1 {
			row.StreamKB, err = r.idleStreams(run)
		}
		run.stop()
		if err != nil {
			return row, err
		}
	}
	row.ReadyMS = median(ready)
	if len(idle) > 0 {
		m := median(idle)
		row.IdleMB = &m
	}
	return row, nil
}

// idleStreams is the memory in KB that each of many open, silent streams costs; nil where memory cannot be read.
func (r *loadRun) idleStreams(run *contenderRun) (*float64, error) {
	payload, err := chatBody(2 << 10)
	if err != nil {
		return nil, err
	}
	if err := askOnce(run.at.addr, postRequest(run.at, chatPath, payload)); err != nil {
		return nil, fmt.Errorf("cannot ask %s: %w", run.name, err)
	}
	time.Sleep(r.Settle)
	before, err := residentBytes(run.pid())
	if err != nil {
		r.skip(err)
		return nil, nil
	}
	request := postRequest(run.at, chatPath+"?bench=idle", payload)
	for i := range r.IdleStreams {
		c, err := openIdle(run.at.addr, request)
		if err != nil {
			return nil, fmt.Errorf("cannot open stream %d of %d through %s: %w", i+1, r.IdleStreams, run.name, err)
		}
		defer c.close()
	}
	time.Sleep(r.Settle)
	after, err := residentBytes(run.pid())
	if err != nil {
		return nil, fmt.Errorf("cannot measure %s: %w", run.name, err)
	}
	kb := float64(after-before) / 1024 / float64(r.IdleStreams)
	return &kb, nil
}

// openIdle opens a stream and reads its only event.
func openIdle(addr string, request []byte) (*client, error) {
	c, err := dial(addr, time.Minute)
	if err != nil {
		return nil, err
	}
	events, err := c.open(request)
	if err == nil {
		_, err = events.Read(c.scratch)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	// An idle client needs no buffers here: the memory of this process is not the point, but 1000 × 128 KB is much.
	c.br, c.scratch = nil, nil
	return c, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
