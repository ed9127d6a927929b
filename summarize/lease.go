package summarize

import (
	"fmt"
	"time"

	"epitome/prose"
)

// lookEvery is how often it is looked whether another process has the answer.
const lookEvery = 500 * time.Millisecond

// takeLease waits until nobody else asks the question. giveBack ends that this process does; it is nil if the answer is
// there, or if the question is not to be asked: it is not known whether somebody asks it, or it has failed elsewhere.
func (m *making) takeLease(key string) (giveBack func(failed time.Duration), p prose.Prose, err error) {
	if m.means.Leases == nil {
		return func(time.Duration) {}, prose.Prose{}, nil
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if giveBack, err = m.means.Leases.Take(nameOf(key)); err != nil {
			return nil, prose.Prose{}, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		if p, ok := m.Ready(key); ok { // made elsewhere, perhaps just before the lease was free
			if giveBack != nil {
				giveBack(0)
			}
			return nil, p, nil
		}
		if giveBack != nil {
			return giveBack, prose.Prose{}, nil
		}
		select {
		case <-m.ctx.Done():
			return nil, prose.Prose{}, ErrBusy
		case <-tick.C:
		}
	}
}
