package team

import (
	"context"
	"fmt"
	"slices"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/report"
)

// turnsFrozen is how many turns are asked for while the store stands still.
const turnsFrozen = 20

// freezes has the store stand still while a conversation goes on, and looks at how long its turns wait.
func (b *bench) freezes(ctx context.Context) error {
	b.say("the store stands still, %d times", b.Freezes)
	home, err := b.home()
	if err != nil {
		return err
	}
	lane, err := b.start(ctx, home, b.server.Addr)
	if err != nil {
		return err
	}
	defer lane.Stop()
	c, err := dial(lane)
	if err != nil {
		return err
	}
	defer c.close()
	for i := range b.Freezes {
		f, err := b.freeze(ctx, c, 1000*warmTalks+i)
		if err != nil {
			return err
		}
		b.report.Freezes = append(b.report.Freezes, f)
	}
	return nil
}

// freeze plays a conversation, and has the store stand still in its second half.
func (b *bench) freeze(ctx context.Context, c *client, number int) (f Freeze, err error) {
	usual, err := c.times(number, 1, turnsFrozen)
	if err != nil {
		return f, err
	}
	if err = b.server.Stand(true); err != nil {
		return f, err
	}
	frozen, err := c.times(number, turnsFrozen+1, turnsFrozen)
	thawed := b.server.Stand(false)
	began := time.Now()
	if err != nil {
		return f, err
	}
	if thawed != nil {
		return f, thawed
	}
	normal := report.Median(usual[turnsFrozen/2:])
	waited := slices.IndexFunc(frozen, func(us float64) bool { return us > report.Microseconds(timeout)/2 })
	f.TimeoutMS = report.Milliseconds(timeout)
	if waited >= 0 {
		f.FirstMS = (frozen[waited] - normal) / 1000
		frozen = slices.Delete(frozen, waited, waited+1)
	}
	f.MoreWaited = countAbove(frozen, report.Microseconds(timeout)/2)
	f.ThenUS = report.Median(frozen) - normal
	f.BackMS, err = awaitBack(ctx, c, began)
	return f, err
}

func countAbove(all []float64, limit float64) (n int) {
	for _, x := range all {
		if x > limit {
			n++
		}
	}
	return n
}

// times asks for turns of a conversation, from one on, and returns the time of each in µs.
func (c *client) times(number, from, turns int) (took []float64, err error) {
	for turn := from; turn < from+turns; turn++ {
		prepared := c.prepare(number, turn)
		began := time.Now()
		if err = c.send(prepared); err != nil {
			return nil, err
		}
		took = append(took, report.Microseconds(time.Since(began)))
	}
	return took, nil
}

// awaitBack waits until the epitome uses its store again, and returns the time since began in ms.
func awaitBack(ctx context.Context, c *client, began time.Time) (float64, error) {
	for time.Since(began) < lineup.TurnLimit {
		up, err := metric(ctx, c, "epitome_shared_store_up")
		if err != nil {
			return 0, err
		}
		if up == 1 {
			return report.Milliseconds(time.Since(began)), nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, fmt.Errorf("cannot go on: the epitome does not use its store again within %s", lineup.TurnLimit)
}
