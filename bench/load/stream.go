package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"epitome/bench/report"
)

// streams measures the delay of streamed chunks: one paced stream at a time, contender after contender.
func (r *loadRun) streams(ctx context.Context) error {
	taken := make([]measured, len(r.lanes))
	err := r.stream(ctx, "stream", r.plan.streamEvents, func(lane int, ages []float64,
		_ time.Duration) {
		taken[lane].add(ages)
	})
	if err != nil {
		return err
	}
	for i, lane := range r.lanes {
		r.report.Stream = append(r.report.Stream, streamRow(lane.Name, taken[i], taken[0]))
	}
	return nil
}

// floods measures streams without pauses: how many events a second come through.
func (r *loadRun) floods(ctx context.Context) error {
	rates := make([][]float64, len(r.lanes))
	err := r.stream(ctx, "flood", r.plan.floodEvents, func(lane int, ages []float64, took time.Duration) {
		rates[lane] = append(rates[lane], float64(len(ages))/took.Seconds())
	})
	if err != nil {
		return err
	}
	for i, lane := range r.lanes {
		r.report.Flood = append(r.report.Flood, Flood{Contender: lane.Name, Events: r.plan.floodEvents,
			PerSecond: report.Median(rates[i])})
	}
	return nil
}

// stream reads streams of a kind, contender after contender. take gets the age of each event and the time that the
// whole took.
func (r *loadRun) stream(ctx context.Context, kind string, events int,
	take func(lane int, ages []float64, took time.Duration)) error {
	r.opts.Say("%s: %d rounds of %d events", kind, r.plan.streamRounds, events)
	for round := range r.plan.streamRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range turns(round, len(r.lanes)) {
			lane := r.lanes[i]
			request, err := chatRequest(lane, 2<<10, "?bench="+kind+"&events="+strconv.Itoa(events))
			if err != nil {
				return err
			}
			began := time.Now()
			ages, err := streamTurn(lane.Addr, request)
			took := time.Since(began)
			if err == nil && len(ages) != events {
				err = fmt.Errorf("%d events of %d came", len(ages), events)
			}
			if err != nil {
				return fmt.Errorf("cannot measure %s through %s: %w", kind, lane.Name, err)
			}
			take(i, ages, took)
		}
	}
	return nil
}

// streamRow returns the row of one contender, given its times and those of the direct call.
func streamRow(name string, own, direct measured) Stream {
	return Stream{
		Contender: name, Events: len(own.all),
		P50US: report.Median(own.all), P99US: report.Percentile(own.all, 99),
		AddedP50US: report.Median(report.Differences(own.medians, direct.medians)),
		AddedP99US: report.Percentile(own.all, 99) - report.Percentile(direct.all, 99),
	}
}

// streamTurn reads one stream to its end and returns each event's age on arrival in µs. Sender and reader share the
// machine's clock.
func streamTurn(addr string, request []byte) ([]float64, error) {
	c, err := Dial(addr, TurnLimit)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	answer, err := c.Open(request)
	if err != nil {
		return nil, err
	}
	var ages []float64
	lines := bufio.NewReader(answer)
	for {
		line, err := lines.ReadString('\n')
		now := time.Now()
		if errors.Is(err, io.EOF) {
			return ages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read event %d: %w", len(ages)+1, err)
		}
		if sent, ok := EventSent(strings.TrimSpace(line)); ok {
			ages = append(ages, report.Microseconds(now.Sub(sent)))
		}
	}
}
