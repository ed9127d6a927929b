package daemon

import (
	"testing"
	"time"
)

func TestSweepsComeAsOftenAsKeepingAsks(t *testing.T) {
	f := func(keep, want time.Duration) {
		t.Helper()
		if got := sweepEvery(keep); got != want {
			t.Errorf("what is kept for %s is swept every %s, want %s", keep, got, want)
		}
	}
	f(720*time.Hour, 6*time.Hour)
	f(48*time.Hour, 6*time.Hour)
	f(24*time.Hour, 3*time.Hour)
	f(2*time.Minute, 15*time.Second)
	f(time.Second, 10*time.Second)
}
