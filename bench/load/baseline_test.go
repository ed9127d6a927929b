package load

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// serveBoth runs the upstream and the baseline before it in this process and returns the baseline's site.
func serveBoth(t *testing.T) (addr string) {
	t.Helper()
	upstream, errU := Listen("127.0.0.1:0")
	baseline, errB := Listen("127.0.0.1:0")
	if errU != nil || errB != nil {
		t.Fatal(errU, errB)
	}
	listen := baseline.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- AcceptEach(ctx, upstream, ServeConn) }()
	go func() { ended <- ServeBaseline(ctx, baseline, upstream.Addr().String()) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	ask := GetRequest(listen, "/")
	for AskOnce(listen, ask) != nil {
		if t.Context().Err() != nil {
			t.Fatal("the baseline does not answer")
		}
		time.Sleep(time.Millisecond)
	}
	return listen
}

func TestBaselineCarriesAnswersAndStreams(t *testing.T) {
	at := serveBoth(t)
	payload, err := ChatBody(100 << 10)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(at, TurnLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 3 {
		answer, err := c.Open(PostRequest(at, ChatPath, payload))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if n, err := answer.Drain(c.Scratch); err != nil || n != int64(len(ChatAnswer(100<<10))) {
			t.Fatalf("answer %d has %d bytes, %v; want %d", i, n, err, len(ChatAnswer(100<<10)))
		}
	}
	ages, err := streamTurn(at, PostRequest(at, ChatPath+"?bench=stream&events=4", payload))
	if err != nil || len(ages) != 4 {
		t.Errorf("stream of %d events, %v; want 4", len(ages), err)
	}
	idle, err := openIdle(at, PostRequest(at, ChatPath+"?bench=idle", payload))
	if err != nil {
		t.Fatal(err)
	}
	idle.Close()
}

func TestChangedBodyGetsNoAnswer(t *testing.T) {
	at := serveBoth(t)
	f := func(made int, want string) {
		t.Helper()
		got := ""
		if err := AskOnce(at, fmt.Appendf(nil,
			"POST / HTTP/1.1\r\nHost: a\r\n%s: %d\r\nContent-Length: 2\r\n\r\n{}", MadeHeader, made)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("a body of 2 bytes that was made of %d: error %q, want %q", made, got, want)
		}
	}
	f(2, "")
	f(3, `cannot use answer "HTTP/1.1 500 The body was changed on its way": want status 200`)
}
