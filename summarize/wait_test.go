package summarize

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A client that leaves and comes again, and again, goes on without a summary once summary_wait has passed in all.
func TestRetriesDoNotWaitAllOverAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), deaf)
		for i := range 3 {
			ctx, leave := context.WithTimeout(t.Context(), 25*time.Second)
			begun := time.Now()
			_, err := r.Ask(ctx, question("k"))
			gone := ctx.Err() != nil
			leave()
			if want := min(25, 60-25*i); !errors.Is(err, ErrLate) ||
				time.Since(begun) != time.Duration(want)*time.Second || gone != (want == 25) {
				t.Errorf("try %d: %v after %v", i, err, time.Since(begun))
			}
		}
		begun := time.Now()
		if _, err := r.Ask(t.Context(), question("k")); !errors.Is(err, ErrLate) || time.Since(begun) != 0 {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

func TestJobsThatHangDoNotHoldUpOthersForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, plain(), deaf)
		for i := range 2 {
			go func() { _, _ = r.Ask(t.Context(), question(fmt.Sprint("hangs ", i))) }()
		}
		synctest.Wait()
		begun := time.Now()
		if _, err := r.Ask(t.Context(), question("waits")); !errors.Is(err, ErrBusy) ||
			time.Since(begun) != 15*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}
