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
	r.say("paced stream: %d rounds of %d events", r.StreamRounds, r.StreamEvents)
	payload, err := chatBody(2 << 10)
	if err != nil {
		return err
	}
	taken := make([]samples, len(r.lanes))
	for range r.StreamRounds {
		if err = ctx.Err(); err != nil {
			return err
		}
		for i, lane := range r.lanes {
			request := postRequest(lane.at, chatPath+"?bench=stream&events="+strconv.Itoa(r.StreamEvents), payload)
			turn, err := streamTurn(lane.at.addr, request)
			if err == nil && len(turn) != r.StreamEvents {
				err = fmt.Errorf("%d events of %d came", len(turn), r.StreamEvents)
			}
			if err != nil {
				return fmt.Errorf("cannot measure stream through %s: %w", lane.name, err)
			}
			taken[i].add(turn)
		}
	}
	for i, lane := range r.lanes {
		r.report.Stream = append(r.report.Stream, streamRow(lane.name, taken[i], taken[0]))
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
