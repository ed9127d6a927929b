package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// streams measures the delay of streamed chunks: one paced stream at a time, contender after contender.
func (r *loadRun) streams(ctx context.Context) error {
	taken := make([]samples, len(r.lanes))
	err := r.stream(ctx, "stream", r.StreamEvents, func(lane int, ages []float64, _ time.Duration) { taken[lane].add(ages) })
	if err != nil {
		return err
	}
	for i, lane := range r.lanes {
		r.report.Stream = append(r.report.Stream, streamRow(lane.name, taken[i], taken[0]))
	}
	return nil
}

// floods measures streams without pauses: how many events a second come through.
func (r *loadRun) floods(ctx context.Context) error {
	rates := make([][]float64, len(r.lanes))
	err := r.stream(ctx, "flood", r.FloodEvents, func(lane int, ages []float64, took time.Duration) {
		rates[lane] = append(rates[lane], float64(len(ages))/took.Seconds())
	})
	if err != nil {
		return err
	}
	for i, lane := range r.lanes {
		r.report.Flood = append(r.report.Flood, Flood{Contender: lane.name, Events: r.FloodEvents, PerSecond: median(rates[i])})
	}
	return nil
}

// stream reads streams of a kind, contender after contender. take gets the age of each event and the time that the whole took.
func (r *loadRun) stream(ctx context.Context, kind string, events int, take func(lane int, ages []float64, took time.Duration)) error {
	r.say("%s: %d rounds of %d events", kind, r.StreamRounds, events)
	payload, err := chatBody(2 << 10)
	if err != nil {
		return err
	}
	for range r.StreamRounds {
		if err = ctx.Err(); err != nil {
			return err
		}
		for i, lane := range r.lanes {
			request := postRequest(lane.at, chatPath+"?bench="+kind+"&events="+strconv.Itoa(events), payload)
			began := time.Now()
			ages, err := streamTurn(lane.at.addr, request)
			took := time.Since(began)
			if err == nil && len(ages) != events {
				err = fmt.Errorf("%d events of %d came", len(ages), events)
			}
			if err != nil {
				return fmt.Errorf("cannot measure %s through %s: %w", kind, lane.name, err)
			}
			take(i, ages, took)
		}
	}
	return nil
}

// streamRow is the row of one contender, given its samples and those of the direct call.
func streamRow(name string, own, direct samples) Stream {
	return Stream{
		Contender: name, Events: len(own.all),
		P50US: median(own.all), P99US: percentile(own.all, 99),
		AddedP50US: median(differences(own.medians, direct.medians)),
		AddedP99US: percentile(own.all, 99) - percentile(direct.all, 99),
	}
}

// streamTurn reads one stream to its end and returns each event's age on arrival in µs. Sender and reader share the
// machine's clock.
func streamTurn(addr string, request []byte) ([]float64, error) {
	c, err := dial(addr, turnLimit)
	if err != nil {
		return nil, err
	}
	defer c.close()
	answer, err := c.open(request)
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
		if sent, ok := eventSent(strings.TrimSpace(line)); ok {
			ages = append(ages, microseconds(now.Sub(sent)))
		}
	}
}
