package proxy

import (
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/unit"
)

func TestCutAtShutdownIsNotTheClientsFault(t *testing.T) {
	r := newRig(t, "-- GET /s --\nstatus 200 OK\nchunk a\nawait-close\n", func(s *Settings) { s.ShutdownGrace = unit.Duration(50 * time.Millisecond) })
	r.dial().send(get("/s"))
	r.await("waiting 1 close")
	r.proxy.Shutdown()
	if e := r.event(); e.Fault != event.Stopped {
		t.Errorf("event %+v, want fault stopped", e)
	}
}
