package load

import (
	"context"
	"fmt"
	"time"

	"epitome/bench/report"
)

// measured is what one contender's turns have given.
type measured struct {
	all     []float64 // µs, of all turns
	medians []float64 // µs, one per turn
}

func (s *measured) add(turn []float64) {
	s.all = append(s.all, turn...)
	s.medians = append(s.medians, report.Median(turn))
}

// latencies measures each size: one request at a time over one persistent connection per contender.
func (r *loadRun) latencies(ctx context.Context) error {
	for _, size := range r.plan.sizes {
		r.opts.Say("latency: %d bytes, %d rounds of %d requests", size, r.plan.rounds, r.plan.turnRequests(size))
		if err := r.latency(ctx, size); err != nil {
			return err
		}
	}
	return nil
}

func (r *loadRun) latency(ctx context.Context, size int) error {
	callers, err := r.warmCallers(size)
	defer closeCallers(callers)
	if err != nil {
		return err
	}
	used := r.cpuMeters()
	taken := make([]measured, len(callers))
	for round := range r.plan.rounds {
		if err = ctx.Err(); err != nil {
			return err
		}
		for i := range turns(round, len(callers)) {
			turn, err := callers[i].turn(r.plan.turnRequests(size))
			if err != nil {
				return fmt.Errorf("cannot measure %s with %d bytes: %w", callers[i].name, size, err)
			}
			taken[i].add(turn)
		}
	}
	for i, lane := range r.lanes {
		n := r.plan.rounds * r.plan.turnRequests(size)
		added := report.Differences(taken[i].medians, taken[0].medians)
		r.report.Latency = append(r.report.Latency, Latency{
			Contender: lane.Name, Bytes: size, Requests: n,
			P50US: report.Median(taken[i].all), P99US: report.Percentile(taken[i].all, 99),
			AddedUS: report.Median(added), AddedLowUS: report.Percentile(added, 25),
			AddedHighUS: report.Percentile(added, 75),
			CPUUS:       used[i].perRequest(n + r.plan.rounds), // each turn's first request costs too
		})
	}
	return nil
}

// caller is a contender's connection with the request it sends again and again.
type caller struct {
	*Client
	name    string
	request []byte
}

// chatRequest is one of size bytes for a lane. query says what is answered.
func chatRequest(lane *Lane, size int, query string) ([]byte, error) {
	payload, err := ChatBody(size)
	return PostRequest(lane.Addr, ChatPath+query, payload), err
}

// warmCallers connects to every lane and sends some requests that do not count. The caller closes them, also on error.
func (r *loadRun) warmCallers(size int) ([]caller, error) {
	var callers []caller
	for _, lane := range r.lanes {
		request, err := chatRequest(lane, size, "")
		if err != nil {
			return callers, err
		}
		c, err := Dial(lane.Addr, TurnLimit)
		if err != nil {
			return callers, fmt.Errorf("cannot measure %s: %w", lane.Name, err)
		}
		callers = append(callers, caller{Client: c, name: lane.Name, request: request})
		if _, err = callers[len(callers)-1].turn(r.plan.block); err != nil {
			return callers, fmt.Errorf("cannot warm up %s: %w", lane.Name, err)
		}
	}
	return callers, nil
}

func closeCallers(callers []caller) {
	for _, c := range callers {
		c.Close()
	}
}

// turn sends n requests one after the other and returns the time of each in µs. The first of a turn finds cold
// caches in every contender alike; it is sent and not counted.
func (c caller) turn(n int) ([]float64, error) {
	c.Extend(TurnLimit)
	if err := c.Exchange(c.request); err != nil {
		return nil, err
	}
	took := make([]float64, n)
	for i := range took {
		began := time.Now()
		if err := c.Exchange(c.request); err != nil {
			return nil, err
		}
		took[i] = report.Microseconds(time.Since(began))
	}
	return took, nil
}

// cpuMeter reads what one process uses from its making on.
type cpuMeter struct {
	pid   int // 0: nothing to read
	start time.Duration
}

// cpuMeters starts a meter per lane.
func (r *loadRun) cpuMeters() []cpuMeter {
	meters := make([]cpuMeter, len(r.lanes))
	for i, lane := range r.lanes {
		if used, err := CPUTime(lane.PID()); lane.PID() != 0 && err == nil {
			meters[i] = cpuMeter{pid: lane.PID(), start: used}
		}
	}
	return meters
}

// perRequest returns the CPU time per request in µs; nil where it could not be read.
func (m cpuMeter) perRequest(n int) *float64 {
	if m.pid == 0 || n == 0 {
		return nil
	}
	now, err := CPUTime(m.pid)
	if err != nil {
		return nil
	}
	us := report.Microseconds(now-m.start) / float64(n)
	return &us
}
