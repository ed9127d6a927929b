package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"epitome/event"
	"epitome/unit"
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

// A signal may come before the server has got to its listener.
func TestShutdownBeforeServingEndsIt(t *testing.T) {
	noLeaks(t)
	r := newRig(t, "")
	r.stop()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.proxy.Serve(ln); err != nil {
		t.Error(err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener says %v", err)
	}
}

// Who takes nothing of a page that does not end holds nobody up.
func TestShutdownWaitsForNoReaderOfAPage(t *testing.T) {
	noLeaks(t)
	r := newRig(t, "-- GET /a --\nstatus 204 No Content\n") // its times are longer than a test may take
	r.dial().send(get("/-/flood")).expect("HTTP/1.1 200 OK\r\n")
	time.Sleep(200 * time.Millisecond) // until the connection is full; if it is not, this test sees less
	r.proxy.Shutdown()
}

// A balancer does not know yet that epitome stops, and sends a request over a connection that it has open. It is
// served, and the answer says that no other may follow.
func TestShutdownServesWhatABalancerStillSends(t *testing.T) {
	noLeaks(t)
	const open = time.Second / 2 // at least, that connections stay open for a balancer
	for tries := 1; ; tries++ {
		took, err := sendsWhileStopping(t)
		if err == nil {
			return
		}
		if took < open || tries == 20 { // else the machine stood still for longer, which tells nothing
			t.Fatalf("after %v: %v", took, err)
		}
	}
}

// sendsWhileStopping sends requests over open connections while a proxy stops, and returns how long that took.
func sendsWhileStopping(t *testing.T) (took time.Duration, err error) {
	t.Helper()
	r := startRigAt(t, "0.0.0.0:0", plainUpstream(t, []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")))
	kept, asks, unused := r.dial(), r.dial(), r.dial()
	for _, c := range []*client{kept, asks, unused} {
		c.send(get("/a")).answer("GET")
	}
	begun, done := time.Now(), make(chan struct{})
	go func() { r.proxy.Shutdown(); close(done) }()
	r.eventually("nothing more is accepted", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	body, err := kept.hearsLast("/a")
	if err == nil && body != "one" {
		err = fmt.Errorf("got %q", body)
	}
	_, paged := asks.hearsLast("/-/a")
	took = time.Since(begun)
	<-done
	if _, err := unused.br.ReadByte(); err == nil {
		t.Error("an idle connection stays open")
	}
	return took, errors.Join(err, paged)
}

// hearsLast asks for target, and wants an answer that says that the connection closes.
func (c *client) hearsLast(target string) (body string, err error) {
	_, _ = io.WriteString(c, get(target))
	resp, err := http.ReadResponse(c.br, nil)
	if err != nil {
		return "", err
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != 200 || !resp.Close {
		err = fmt.Errorf("%s gets %s %q, and the connection closes: %v", target, resp.Status, text, resp.Close)
	}
	return string(text), err
}

// An answer whose head goes out while epitome stops says that the connection closes, whenever its request came.
func TestAnswersSayThatTheConnectionCloses(t *testing.T) {
	noLeaks(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-goOn
	}))
	defer up.Close()
	r := startRig(t, up.URL)
	c := r.dial().send(get("/a"))
	<-begun
	done := make(chan struct{})
	go func() { r.proxy.Shutdown(); close(done) }()
	r.eventually("it stops", r.proxy.Stopping)
	close(goOn)
	if resp, _ := c.answer("GET"); resp.StatusCode != 200 || !resp.Close {
		t.Errorf("got %s, and the connection closes: %v", resp.Status, resp.Close)
	}
	<-done
}
