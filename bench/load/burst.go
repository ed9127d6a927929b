package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// burstAtOnce is how many bodies of a burst are under way at the same time.
const burstAtOnce = 8

// bursts sends large bodies, of which no two are alike, through a fresh process of each contender, and notes the
// memory that it holds some seconds later.
func (r *loadRun) bursts(ctx context.Context) error {
	r.opts.Say("burst: %d bodies of %d bytes, %d at once", r.plan.burst, r.plan.burstBytes, burstAtOnce)
	payload, err := ChatBody(r.plan.burstBytes)
	if err != nil {
		return err
	}
	lanes := map[string]*Lane{}
	for i, c := range r.field {
		lane, err := Launch(ctx, c, r.upstream)
		if err == nil {
			defer lane.Stop()
			err = r.burst(lane, payload)
		}
		if err != nil && i == 0 {
			return err
		}
		if err != nil {
			r.skip(err)
			continue
		}
		lanes[c.Name] = lane
	}
	time.Sleep(r.plan.burstRest)
	for i := range r.report.Footprint {
		row := &r.report.Footprint[i]
		if lane := lanes[row.Contender]; lane != nil {
			if rss, err := ResidentBytes(lane.PID()); err == nil {
				row.BurstMB = megabytes(rss)
			}
		}
	}
	return ctx.Err()
}

// burst sends the bodies through one lane.
func (r *loadRun) burst(lane *Lane, payload []byte) error {
	errs := make([]error, burstAtOnce)
	var working sync.WaitGroup
	for k := range errs {
		working.Go(func() {
			for n := k; n < r.plan.burst && errs[k] == nil; n += burstAtOnce {
				own := bytes.Replace(payload, []byte("careful"), fmt.Appendf(nil, "%07d", n), 1)
				c, err := Dial(lane.Addr, time.Minute)
				if err == nil {
					err = c.Exchange(PostRequest(lane.Addr, ChatPath, own))
					c.Close()
				}
				errs[k] = err
			}
		})
	}
	working.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cannot send a burst through %s: %w", lane.Name, err)
	}
	return nil
}
