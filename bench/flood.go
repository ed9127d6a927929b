package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// floods measures streams without pauses: how many events a second come through, contender after contender.
func (r *loadRun) floods(ctx context.Context) error {
	r.say("stream without pauses: %d rounds of %d events", r.StreamRounds, r.FloodEvents)
	payload, err := chatBody(2 << 10)
	if err != nil {
		return err
	}
	taken := make([][]float64, len(r.lanes))
	for range r.StreamRounds {
		if err = ctx.Err(); err != nil {
			return err
		}
		for i, lane := range r.lanes {
			request := postRequest(lane.at, chatPath+"?bench=flood&events="+strconv.Itoa(r.FloodEvents), payload)
			began := time.Now()
			came, err := streamTurn(lane.at.addr, request)
			if err == nil && len(came) != r.FloodEvents {
				err = fmt.Errorf("%d events of %d came", len(came), r.FloodEvents)
			}
			if err != nil {
				return fmt.Errorf("cannot measure stream without pauses through %s: %w", lane.name, err)
			}
			taken[i] = append(taken[i], float64(len(came))/time.Since(began).Seconds())
		}
	}
	for i, lane := range r.lanes {
		r.report.Flood = append(r.report.Flood, Flood{Contender: lane.name, Events: r.FloodEvents, PerSecond: median(taken[i])})
	}
	return nil
}
