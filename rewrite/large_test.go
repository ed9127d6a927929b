package rewrite

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"epitome/rewrite/chat"
)

// However many large requests come, a processor is left for the others.
func TestLargeRequestsTakeTurns(t *testing.T) {
	f := func(size, most int) {
		t.Helper()
		queue := make(lanes, 2)
		var now, seen atomic.Int32
		var all sync.WaitGroup
		begun := make(chan struct{})
		for range 20 {
			all.Go(func() {
				<-begun
				queue.in(size, func() {
					n := now.Add(1)
					for m := seen.Load(); n > m && !seen.CompareAndSwap(m, n); m = seen.Load() {
					}
					for range 100 { // others get the chance to join in
						runtime.Gosched()
					}
					now.Add(-1)
				})
			})
		}
		close(begun)
		all.Wait()
		if int(seen.Load()) > most {
			t.Errorf("%d requests of %d bytes are read at the same time", seen.Load(), size)
		}
	}
	f(largeBody, 2)
	f(largeBody-1, 20)
	if n := cap(NewShaper(Deps{}).large); n < 1 {
		t.Errorf("%d may be read", n)
	}
}

// A request that nobody could count in a second says so, and no model is told an estimate.
func TestAnEstimateIsToldAsOne(t *testing.T) {
	f := func(size int, want bool) {
		t.Helper()
		w := newBench(128_000)
		log := strings.Repeat("worker 17 is well and goes on with the next part of all its work\n", size/65)
		body := fmt.Sprintf(`{"model":"gpt-5","messages":[{"role":"user","content":"Go on."},{"role":"assistant","content":null,`+
			`"tool_calls":[{"id":"t","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat log\"}"}}]},`+
			`{"role":"tool","tool_call_id":"t","content":%q}]}`, log)
		out := w.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &w.limits})
		if out.Report.Err != nil || out.Report.Estimated != want || len(out.Report.Changes) != 1 {
			t.Errorf("%d bytes: %+v", size, out.Report)
		}
		tokens, told := fmt.Sprintf("%d bytes", len(log)), "has %d tokens"
		if got := strings.Contains(string(out.Body), tokens); got != want {
			t.Errorf("%d bytes: the model is told %q, not %q: %.2000s", size, tokens, told, out.Body)
		}
	}
	f(900_000, false)
	f(1_200_000, true)
}
