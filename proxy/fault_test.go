package proxy

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/unit"
)

// Promise 9: a cut stream stays cut, wherever it is cut and however.
func TestCutAnswerIsNeverCompleted(t *testing.T) {
	t.Parallel()
	const whole = chunkedHead + "3\r\nabc\r\n4;x=1\r\ndefg\r\n0\r\nT: 1\r\n\r\n"
	r := newRig(t, func(c *call) {
		var resets bool
		var at int
		if _, err := fmt.Sscanf(c.target, "/%t/%d", &resets, &at); err != nil {
			t.Error(err)
		}
		c.send(whole[:at])
		if resets {
			c.reset()
		}
		c.hangUp()
	})
	for _, resets := range []bool{false, true} {
		for at := range len(whole) {
			c := r.dial().send(get(fmt.Sprintf("/%t/%d", resets, at), "Connection: close"))
			all, _ := io.ReadAll(c.br)
			got, e := strings.Replace(string(all), "Connection: close\r\n", "", 1), r.event()
			refused := strings.HasPrefix(got, "HTTP/1.1 502 Bad Gateway\r\n") && e.Fault == event.Broken
			cut := got == whole[:at] && e.Fault == event.Truncated
			if resets { // which may take bytes with it that had been sent before
				cut = strings.HasPrefix(whole[:at], got) && (e.Fault == event.Truncated || e.Fault == event.Broken)
			}
			if inHead := at < len(chunkedHead); inHead && !refused || !inHead && !cut && !(resets && refused) {
				t.Errorf("cut at %d, reset %t: the client got %q, event %+v", at, resets, got, e)
			}
		}
	}
}

func TestCutAnswersOfOtherFramingsStayCut(t *testing.T) {
	t.Parallel()
	f := func(sent string, then func(*call), want string) {
		t.Helper()
		read := make(chan struct{})
		r := newRig(t, func(c *call) {
			c.send(sent)
			<-read // so that what was sent stands alone
			then(c)
		})
		c := r.dial().send(get("/a")).expect(want)
		close(read)
		rest, err := io.ReadAll(c.br)
		if len(rest) > 0 || strings.Contains(want, "close") && err == nil { // there, only an error shows the cut
			t.Errorf("after %q the client got %q and the end %v", want, rest, err)
		}
		r.wantFault(event.Truncated)
	}
	const short = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"
	f(short, (*call).hangUp, short)
	f("HTTP/1.1 200 OK\r\n\r\nabc", (*call).reset, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc")
	const chunk = chunkedHead + "1\r\na\r\n"
	f(chunk, func(c *call) { c.send("oops\r\n"); c.hangUp() }, chunk)
}

// Promise 9: a client that leaves ends its upstream call at once, in whatever phase it is.
func TestClientGoneClosesTheUpstream(t *testing.T) {
	const upload = 32 << 20
	for name, play := range map[string]func(c *call, reached func()){
		"before the first byte": func(c *call, reached func()) { reached() },
		"in mid-stream, idle": func(c *call, reached func()) {
			c.send(chunkedHead + chunks("a"))
			reached()
		},
		"in mid-stream, flowing": func(c *call, reached func()) {
			c.send(chunkedHead)
			for n := 0; ; n++ {
				if _, err := io.WriteString(c, chunks("a")); err != nil || n > 1_000_000 {
					return
				}
				if n == 3 {
					reached()
				}
			}
		},
		"in a body that the upstream does not read": nil,
	} {
		for _, how := range []string{"FIN", "RST"} {
			t.Run(name+" "+how, func(t *testing.T) {
				noLeaks(t)
				reached, left, dropped := make(chan struct{}), make(chan struct{}), make(chan int64, 1)
				body := "small"
				r := newRig(t, func(c *call) {
					play(c, func() { close(reached) })
					c.awaitEnd()
				})
				if play == nil {
					body = strings.Repeat("x", upload)
					r.up.onHead(func(c *call) {
						close(reached)
						<-left
						dropped <- c.awaitEnd()
					})
				}
				c := r.dial().send(post("/a", body))
				<-reached
				c.vanish(how)
				r.wantFault(event.ClientGone)
				close(left)
				r.awaitGone()
				if play == nil && <-dropped >= upload {
					t.Error("the whole body was sent")
				}
				r.wantRequests(1)
			})
		}
	}
}

func TestClientGoneEndsADial(t *testing.T) {
	noLeaks(t)
	ln := listen(t, "127.0.0.1:0")
	defer func() { _ = ln.Close() }()
	r := startRig(t, "https://"+ln.Addr().String())
	c := r.dial().send(get("/a"))
	up, err := ln.Accept() // and never shake hands
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = up.Close() }()
	_, _ = up.Read(make([]byte, 1)) // the client hello has begun to arrive
	c.vanish("FIN")
	_ = up.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, up); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Fatalf("the dial was not ended: %v", err)
	}
	r.wantFault(event.ClientGone)
}

// A client that leaves just as its answer has been read may cut nobody else's connection, which is where its own
// upstream connection has gone.
func TestClientThatLeavesCutsNobodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *call) {
		time.Sleep(8 * time.Millisecond)
		c.send(ok("ok"))
	})
	stop := time.Now().Add(300 * time.Millisecond)
	var failed atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for time.Now().Before(stop) {
				if c, err := net.Dial("tcp", r.addr); err == nil {
					_, _ = io.WriteString(c, get("/a"))
					_, _ = c.Read(make([]byte, 4096))
					_ = c.Close()
				}
			}
		})
		wg.Go(func() {
			for c := r.dial(); time.Now().Before(stop); {
				if resp, _ := c.send(get("/a")).answer("GET"); resp.StatusCode != 200 {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d exchanges of others were cut", failed.Load())
	}
}

// A connection that the upstream has closed meanwhile is noticed before it is used.
func TestStaleConnectionIsNoticedBeforeUse(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 2)
	r := newRig(t, func(c *call) {
		c.send(ok(c.body))
		c.hangUp()
		closed <- struct{}{}
	})
	c := r.dial()
	for _, want := range []string{"1", "2"} {
		c.wantBody(post("/a", want), want)
		<-closed
	}
	r.wantRequests(2)
}

// Promise 9: nothing is sent twice.
func TestRequestThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"", "HTTP/1.1 200", "nonsense\r\n\r\n"} {
		for name, end := range map[string]func(*call){"hang up": (*call).hangUp, "reset": (*call).reset} {
			r := newRig(t, func(c *call) {
				if c.body == "1" {
					c.send(ok("a"))
					return
				}
				c.send(begin)
				end(c)
			})
			c := r.dial()
			c.send(post("/a", "1")).answer("POST")
			r.event()
			resp, body := c.send(post("/a", "2")).answer("POST")
			if resp.StatusCode != 502 || !strings.Contains(body, `"type":"epitome_error"`) ||
				r.event().Fault != event.Broken {
				t.Errorf("%q, %s: got %s %q", begin, name, resp.Status, body)
			}
			r.wantRequests(2)
		}
	}
	r := newRig(t, answers(ok("a"))) // it resets the second one before all of that is sent
	r.up.onHead(func(c *call) {
		if c.target == "/b" {
			c.reset()
		}
	})
	c := r.dial()
	c.send(post("/a", "1")).answer("POST")
	if resp, body := c.send(post("/b", strings.Repeat("x", 20<<20))).answer("POST"); resp.StatusCode != 502 {
		t.Errorf("within the body: got %s %q", resp.Status, body)
	}
	r.wantRequests(2)
}

// Promise 10.
func TestSilenceIsBounded(t *testing.T) {
	t.Parallel()
	brief := unit.Duration(brief)
	f := func(name string, play func(*call), change func(*Settings), fault event.Fault, read bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *call) {
				play(c)
				c.awaitEnd()
			}, change)
			c := r.dial().send(get("/a"))
			if read {
				_, _ = io.ReadAll(c.br)
			}
			r.awaitGone()
			if e := r.event(); e.Fault != fault {
				t.Errorf("event %+v, want fault %s", e, fault)
			}
		})
	}
	f("first_byte_timeout, before the first byte", func(*call) {}, func(s *Settings) { s.FirstByteTimeout = brief }, event.Timeout, false)
	f("silence within the answer", func(c *call) { c.send(chunkedHead + chunks("a")) },
		func(s *Settings) { s.limits.readIdle = brief.D() },
		event.Truncated, true)
	f("of a client that takes nothing", func(c *call) { c.send(ok(strings.Repeat("x", 50_000_000))) },
		func(s *Settings) { s.limits.writeIdle = brief.D() }, event.ClientSlow, false)
	t.Run("not of a flowing stream", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *call) {
			c.send(chunkedHead)
			for range 15 {
				c.send(chunks("a"))
				time.Sleep(300 * time.Millisecond)
			}
			c.send(lastChunk)
		}, func(s *Settings) { s.limits.readIdle = brief.D() })
		if _, body := r.ask(get("/a")); len(body) != 15 {
			t.Errorf("got %q", body)
		}
	})
}

func TestSlowClientHoldsTheUpstreamBack(t *testing.T) {
	t.Parallel()
	const size = 64_000_000
	var sent atomic.Bool
	r := newRig(t, func(c *call) {
		c.send(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size), strings.Repeat("x", size))
		sent.Store(true)
	})
	c := r.dial().send(get("/a")).expect("HTTP/1.1 200 OK\r\n")
	time.Sleep(100 * time.Millisecond)
	if sent.Load() {
		t.Fatal("the upstream could send 64 MB to a client that reads nothing")
	}
	c.br.Discard(size)
}

func TestShutdownLetsStreamsFinish(t *testing.T) {
	noLeaks(t)
	on := make(chan struct{})
	r := newRig(t, func(c *call) {
		c.send(chunkedHead + chunks("a"))
		<-on
		c.send(chunks("b") + lastChunk)
	}, func(s *Settings) { s.limits.upstreamIdle = 50 * time.Millisecond })
	c := r.dial().send(get("/s")).expect("HTTP/1.1 200 OK\r\n")
	r.dial().send(get("/-/x")).answer("GET") // and stays open
	waiting := r.dial().send(get("/-/wait")).expect("HTTP/1.1 200 OK\r\n")
	done := make(chan struct{})
	go func() { r.proxy.Shutdown(); close(done) }()
	_, _ = io.ReadAll(waiting.br) // epitome's own streams end at once
	r.eventually("it stops", r.proxy.Stopping)
	close(on)
	if all, _ := io.ReadAll(c.br); !strings.HasSuffix(string(all), chunks("a", "b")+lastChunk) {
		t.Errorf("the stream got %q", all)
	}
	<-done
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("after the shutdown a connection was accepted")
	}
}

func TestShutdownGraceCutsWhatOutlastsIt(t *testing.T) {
	noLeaks(t)
	r := newRig(t, func(c *call) {
		c.send(chunkedHead + chunks("a"))
		c.awaitEnd()
	}, func(s *Settings) { s.ShutdownGrace = unit.Duration(50 * time.Millisecond) })
	c := r.dial().send(get("/s")).expect("HTTP/1.1 200 OK\r\n")
	r.proxy.Shutdown()
	if got, _ := io.ReadAll(c.br); strings.HasSuffix(string(got), lastChunk) {
		t.Errorf("a cut stream was completed: %q", got)
	}
	r.awaitGone()
	r.wantFault(event.Stopped)
}
