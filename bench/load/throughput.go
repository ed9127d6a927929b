package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"epitome/bench/report"
)

// throughputs measures the requests per second over several connections, for each size below 512 KiB: larger bodies
// measure the machine's memory, not the proxy.
func (r *loadRun) throughputs(ctx context.Context) error {
	for _, size := range r.plan.sizes {
		if size >= 512<<10 {
			continue
		}
		r.opts.Say("throughput: %d bytes, %d connections, %d rounds of %s", size, r.plan.conns, r.plan.throughputRounds,
			r.plan.throughputTurn)
		if err := r.throughput(ctx, size); err != nil {
			return err
		}
	}
	return nil
}

func (r *loadRun) throughput(ctx context.Context, size int) error {
	crews := make([]crew, len(r.lanes))
	for i, lane := range r.lanes {
		var err error
		crews[i], err = r.newCrew(lane, size)
		defer crews[i].close()
		if err != nil {
			return fmt.Errorf("cannot measure throughput of %s: %w", lane.Name, err)
		}
	}
	used := r.cpuMeters()
	rates := make([][]float64, len(crews))
	total := make([]int, len(crews))
	for round := range r.plan.throughputRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range turns(round, len(crews)) {
			n, rate, err := crews[i].turn(r.plan.throughputTurn)
			if err != nil {
				return fmt.Errorf("cannot measure throughput of %s: %w", r.lanes[i].Name, err)
			}
			rates[i] = append(rates[i], rate)
			total[i] += n
		}
	}
	for i, lane := range r.lanes {
		r.report.Throughput = append(r.report.Throughput, Throughput{
			Contender: lane.Name, Bytes: size, Conns: r.plan.conns, Requests: total[i],
			PerSecond: report.Median(rates[i]), CPUUS: used[i].perRequest(total[i]),
		})
	}
	return nil
}

// crew is a contender's connections; each has one request under way at a time.
type crew []caller

// newCrew connects and sends one request over each connection. The caller closes it, also on error.
func (r *loadRun) newCrew(lane *Lane, size int) (crew, error) {
	request, err := chatRequest(lane, size, "")
	if err != nil {
		return nil, err
	}
	var members crew
	for range r.plan.conns {
		c, err := Dial(lane.Addr, TurnLimit)
		if err != nil {
			return members, err
		}
		members = append(members, caller{Client: c, name: lane.Name, request: request})
		if err = c.Exchange(members[0].request); err != nil {
			return members, err
		}
	}
	return members, nil
}

func (c crew) close() { closeCallers(c) }

// turn lets all members ask for the given time and returns the number of answers and their rate per second.
func (c crew) turn(length time.Duration) (answers int, perSecond float64, err error) {
	counts := make([]int, len(c))
	errs := make([]error, len(c))
	began := time.Now()
	var working sync.WaitGroup
	for i, member := range c {
		working.Go(func() { counts[i], errs[i] = member.askUntil(began.Add(length)) })
	}
	working.Wait()
	took := time.Since(began)
	for _, n := range counts {
		answers += n
	}
	return answers, float64(answers) / took.Seconds(), errors.Join(errs...)
}

// askUntil asks until end, once at least, and returns the number of answers.
func (c caller) askUntil(end time.Time) (int, error) {
	c.Extend(TurnLimit)
	for n := 0; ; {
		if err := c.Exchange(c.request); err != nil {
			return n, err
		}
		if n++; !time.Now().Before(end) {
			return n, nil
		}
	}
}
