package rewrite_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

// roomy returns a shaper with a window that no conversation fills.
func roomy() *rewrite.Shaper {
	s := newStorage()
	return rewrite.NewShaper(rewrite.Deps{Ledger: ledger.New(s, keep), Shelf: idleShelf{shelf{s}}, Memo: memo(),
		Window: func(_, _ string, _ int) (int, int) { return 10_000_000, 9_000_000 }})
}

// turns returns the last bodies that a client sends while a conversation grows to about n bytes in results of 8 KB.
func turns(name string, n, last int) (bodies [][]byte) {
	list := []exchange{{said: "I begin."}}
	for i := range n / (8 << 10) {
		list = append(list, exchange{calls: []call{bash(fmt.Sprint("make ", i), prose(8<<10))}})
		if i >= n/(8<<10)-last {
			bodies = append(bodies, bodyOf(name, list))
		}
	}
	return bodies
}

// A very long conversation of short messages is held as before. It is warned of once, before it is too long to be read;
// then it goes on as it came, and the report says why.
func TestVeryManyMessagesAreHeld(t *testing.T) {
	p, limits := start(newStorage()), defaultLimits()
	p.window.Store(32_000)
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"Begin."}`)
	n := 1
	for _, until := range []int{49_001, 78_001, 81_001, 81_003, 100_001} {
		for ; n < until; n++ {
			body = fmt.Appendf(body, `,{"role":"%s","content":"step %d"}`, [...]string{"user", "assistant"}[n%2], n)
		}
		in := rewrite.Input{Dialect: dialects["chat"], Body: append(body, "]}"...), Upstream: "up", Limits: &limits}
		if until < 50_000 { // so many at once are new to nobody but a restarted process
			in.Rescue = &rewrite.Rescue{Most: 28_000, From: ladder.StageClear}
		}
		out := p.Shape(in)
		if out.Settle != nil {
			out.Settle()
		}
		isHeld := out.Changed && out.Report.TokensAfter.Total() < 32_000
		if isHeld == (n > 100_000) || isHeld == strings.Contains(out.Report.Reason, "more than 100000 items") {
			t.Errorf("%d messages are sent in %d bytes: %s", n, len(out.Body), out.Report.Reason)
		}
		isOfItems := func(w event.Warning) bool { return w.Reason == event.ReasonItems }
		if slices.ContainsFunc(out.Report.Warnings, isOfItems) != (n == 81_001) {
			t.Errorf("with %d messages the warnings are %v", n, out.Report.Warnings)
		}
	}
}

// Promise 10: a turn of a large conversation costs memory for what is new. Without the request before, it would be read
// and copied as a whole. So would one that is sent again, also while another one reads the request before.
func TestTurnTakesMemoryForWhatIsNew(t *testing.T) {
	const size, count = 6 << 20, 8
	for name, api := range dialects {
		t.Run(name, func(t *testing.T) {
			shaper, limits := roomy(), defaultLimits()
			limits.Rent = 0 // nothing is cleared
			shape := func(body []byte) {
				out := shaper.Shape(rewrite.Input{Dialect: api, Body: body, Upstream: "up", Limits: &limits})
				if out.Report.Err != nil {
					t.Fatal(out.Report.Err)
				}
			}
			bodies := turns(name, size, count+1)
			shape(bodies[0])
			measure := func(what string, step func(i int)) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for i := range count {
					step(i)
				}
				runtime.ReadMemStats(&after)
				took := (after.TotalAlloc - before.TotalAlloc) / count
				t.Logf("%s: %d KB of %d KB", what, took>>10, size>>10)
				if took > size/2 {
					t.Errorf("%s allocates %d KB, want at most %d", what, took>>10, size/2>>10)
				}
			}
			measure("a turn", func(i int) { shape(bodies[i+1]) })
			measure("one again", func(int) {
				for range shaper.Newest(time.Now()) {
					shape(bodies[count])
				}
			})
		})
	}
}

// Promise 2: requests that come at the same time, of one conversation and its forks, are read as they came, whoever has
// the memory of the request before.
func TestRequestsAtOnceAreReadAlone(t *testing.T) {
	for name, api := range dialects {
		t.Run(name, func(t *testing.T) {
			var bodies [][]byte
			for range 2 {
				bodies = append(bodies, turns(name, 96<<10, 6)...) // with other texts each time
			}
			limits, want := defaultLimits(), map[int]int{}
			for i, body := range bodies {
				out := roomy().Shape(rewrite.Input{Dialect: api, Body: body, Upstream: "up", Limits: &limits})
				want[i] = out.Report.TokensBefore.Total()
			}
			shaper := roomy()
			var work sync.WaitGroup
			for g := range 4 {
				work.Go(func() {
					for k := range 40 {
						i := (k/3 + g%2*len(bodies)/2) % len(bodies)
						out := shaper.Shape(rewrite.Input{Dialect: api, Body: bodies[i], Upstream: "up", Limits: &limits})
						if got := out.Report.TokensBefore.Total(); got != want[i] || out.Report.Err != nil {
							t.Errorf("request %d has %d tokens, want %d (%v)", i, got, want[i], out.Report.Err)
						}
						for l := range shaper.Newest(time.Now()) {
							if !gjson.ValidBytes(l.Body) {
								t.Error("the newest request is no JSON")
							}
						}
					}
				})
			}
			work.Wait()
		})
	}
}
