// Package clock is time that tests and drills can replace.
package clock

import (
	"context"
	"time"
)

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep returns early, with the error of ctx, when ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// Real is a clock that runs Speed times as fast as time; 0 is 1.
type Real struct {
	Speed int
}

// Now returns the time of the machine.
func (Real) Now() time.Time {
	return time.Now()
}

// Sleep waits.
func (r Real) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d / time.Duration(max(1, r.Speed)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
