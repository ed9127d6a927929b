package proxy

import (
	"sync"
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

// Exchanges go on while the configuration is swapped under them, whichever upstream they have begun with.
func TestReloadsUnderLoadHarmNobody(t *testing.T) {
	noLeaks(t)
	one := plainUpstream(t, []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"))
	two := plainUpstream(t, []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo"))
	r := startRig(t, one)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		c := r.dial()
		wg.Go(func() {
			for {
				select {
				case <-stop:
					_ = c.Close()
					return
				default:
				}
				if resp, body := c.send(get("/a")).answer("GET"); resp.StatusCode != 200 || body != "one" && body != "two" {
					t.Errorf("got %s %q", resp.Status, body)
				}
			}
		})
	}
	for i := range 200 {
		s := testSettings([]string{one, two}[i%2])
		s.MaxBody -= unit.Bytes(i) // limits change too
		if err := r.proxy.Reload(s); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Millisecond)
	}
	close(stop)
	wg.Wait()
}
