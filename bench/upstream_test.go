package bench

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"
)

// serveBoth runs the upstream and the baseline before it in this process and returns the baseline's site.
func serveBoth(t *testing.T) site {
	t.Helper()
	upstream, errU := listenLoopback("127.0.0.1:0")
	baseline, errB := listenLoopback("127.0.0.1:0")
	if errU != nil || errB != nil {
		t.Fatal(errU, errB)
	}
	listen := baseline.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- acceptEach(ctx, upstream, serveProvider) }()
	go func() { ended <- serveBaseline(ctx, baseline, upstream.Addr().String()) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	ask := getRequest(site{addr: listen}, "/")
	for askOnce(listen, ask) != nil {
		if t.Context().Err() != nil {
			t.Fatal("the baseline does not answer")
		}
		time.Sleep(time.Millisecond)
	}
	return site{addr: listen}
}

func TestBaselineCarriesAnswersAndStreams(t *testing.T) {
	at := serveBoth(t)
	payload, err := chatBody(100 << 10)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dial(at.addr, turnLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for i := range 3 {
		answer, err := c.open(postRequest(at, chatPath, payload))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if n, err := answer.drain(c.scratch); err != nil || n != int64(len(chatAnswer(100<<10))) {
			t.Fatalf("answer %d has %d bytes, %v; want %d", i, n, err, len(chatAnswer(100<<10)))
		}
	}
	ages, err := streamTurn(at.addr, postRequest(at, chatPath+"?bench=stream&events=4", payload))
	if err != nil || len(ages) != 4 {
		t.Errorf("stream of %d events, %v; want 4", len(ages), err)
	}
	idle, err := openIdle(at.addr, postRequest(at, chatPath+"?bench=idle", payload))
	if err != nil {
		t.Fatal(err)
	}
	idle.close()
}

func TestClientRefusesWhatIsNotAnAnswer(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		near, far := net.Pipe()
		defer near.Close()
		go func() {
			defer far.Close()
			_, _ = far.Read(make([]byte, 1000))
			_, _ = far.Write([]byte(answer))
		}()
		c := newClient(near)
		c.extend(turnLimit)
		if err := c.exchange([]byte("GET / HTTP/1.1\r\n\r\n")); err == nil || err.Error() != want {
			t.Errorf("answer %q: error %v, want %s", answer, err, want)
		}
	}
	f("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", `cannot use answer "HTTP/1.1 502 Bad Gateway": want status 200`)
	f("HTTP/1.1 200 OK\r\n\r\n", `cannot use answer "HTTP/1.1 200 OK": its body has no length`)
	f("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "cannot read answer: unexpected EOF")
	f("", "cannot read answer's head: unexpected EOF")
	f("nonsense\r\n\r\n", `cannot use answer "nonsense": want status 200`)
}

func TestChangedBodyGetsNoAnswer(t *testing.T) {
	at := serveBoth(t)
	f := func(made int, want string) {
		t.Helper()
		got := ""
		if err := askOnce(at.addr, fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: a\r\n%s: %d\r\nContent-Length: 2\r\n\r\n{}", madeHeader, made)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("a body of 2 bytes that was made of %d: error %q, want %q", made, got, want)
		}
	}
	f(2, "")
	f(3, `cannot use answer "HTTP/1.1 500 The body was changed on its way": want status 200`)
}

func TestContenderWhosePortIsTakenStartsAtAnother(t *testing.T) {
	c := bareAsSubject(t).Proxies[0]
	var asked []string
	c.prepare = func(_, listen, _ string) error {
		if asked = append(asked, listen); len(asked) > 1 {
			return nil
		}
		ln, err := net.Listen("tcp", listen) // another program is quicker
		if err == nil {
			t.Cleanup(func() { _ = ln.Close() })
		}
		return err
	}
	run, err := launch(t.Context(), c, "http://"+serveBoth(t).addr)
	if err != nil {
		t.Fatal(err)
	}
	run.stop()
	if len(asked) != 2 {
		t.Errorf("it was started at %q, want two ports", asked)
	}
}
