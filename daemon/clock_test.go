package daemon

import (
	"bytes"
	"context"
	"testing"
	"time"

	"epitome/console/story"
)

// jumps are of a clock that is put right, put wrong, or has slept. Together they stay within the time for which all is
// kept, wherever one begins.
var jumps = []time.Duration{
	3 * time.Hour, -3 * time.Hour, -2 * aDay, 5 * aDay, -9 * aDay, 10 * aDay, time.Second, -6 * aDay, 4 * aDay,
}

// TestAClockThatJumpsTakesNothingAway jumps between days of work, amid restarts and sweeps.
func TestAClockThatJumpsTakesNothingAway(t *testing.T) {
	t.Parallel()
	if raceDetector || testing.Short() {
		t.Skip("some days take seconds, and many times as much under the race detector")
	}
	y := newYear(t)
	y.start()
	latest := y.now
	for day, jump := range jumps {
		y.spend(day)
		y.now = y.now.Add(jump)
		if day%2 == 1 {
			y.end()
			y.start()
		}
		y.sweep()
		if y.now.After(latest) {
			latest = y.now
		}
		for earlier := range day + 1 {
			y.wantDay(earlier, true)
			y.wantArtifacts(earlier, true)
		}
	}
	all := story.Span{From: y.now.Add(-yearKeep), To: latest.Add(aDay)}
	sum, err := y.book.Summary(all)
	if want := int64(len(jumps) * *yearRequests); err != nil || sum.Total.Exchanges != want {
		t.Errorf("%d exchanges are told (%v), want %d", sum.Total.Exchanges, err, want)
	}

	y.now = latest.Add(2 * yearKeep)
	y.sweep()
	y.now = latest // what was deleted stays deleted
	for day := range jumps {
		y.wantDay(day, false)
		y.wantArtifacts(day, false)
	}
	y.end()
}

func (y *year) sweep() {
	y.t.Helper()
	_, _, err := y.shelf.Sweep(context.Background())
	if err == nil {
		_, err = y.store.Sweep(context.Background())
	}
	if err != nil {
		y.t.Fatal(err)
	}
}

// wantArtifacts holds what is kept of a day's artifacts to what was put on the shelf.
func (y *year) wantArtifacts(day int, live bool) {
	y.t.Helper()
	for i := 0; i < *yearRequests; i += yearShare {
		content := artifactOf(day, i)
		got, err := y.shelf.Get(y.shelf.Name("scope", content))
		if (err == nil) != live || live && !bytes.Equal(got, content) {
			y.t.Errorf("day %d, artifact %d: %v; want it there: %v", day, i, err, live)
		}
	}
}
