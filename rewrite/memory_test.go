//go:build unix

package rewrite_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
	"epitome/tokenize"
)

// Promise 10: the memory of conversations is bounded in bytes, whatever they are made of: twice as many take no
// more. Those that rest take little.
func TestMemoryOfConversationsIsBounded(t *testing.T) {
	const most, few, slack = 28 << 20, 5 << 20, 1 << 20 // bytes
	for _, c := range []struct {
		api, shape          string
		size, window, count int // so many of them fill the memory
	}{
		{"chat", "one message", 96 << 10, 1_000_000, 280},
		{"responses", "tiny messages", 48 << 10, 1_000_000, 40}, {"messages", "tiny results", 48 << 10, 1_000_000, 60},
		{"chat", "results of 2 KB", 96 << 10, 12_000, 200}, // with edits
	} {
		t.Run(c.api+", "+c.shape, func(t *testing.T) {
			conversation := append([]exchange{{}}, hostile[c.shape](c.size)...)
			limits, s := defaultLimits(), newStorage()
			s.Store = store.NewMemory(256 << 10)
			d := rewrite.Deps{Ledger: ledger.New(s, keep), Shelf: idleShelf{shelf{s}}, Memo: tokenize.NewMemo(1 << 12),
				Window: func(_, _ string, _ int) (int, int) { return c.window, c.window * 7 / 8 }}
			live := rewrite.NewShaper(d)
			both := []*rewrite.Shaper{live, live.Beside(d)}
			started := 0
			held := func(count int) int {
				for ; started < count; started++ {
					s.now = s.now.Add(time.Second)
					conversation[0] = exchange{user: fmt.Sprint("Task ", started), said: "I begin."}
					in := rewrite.Input{Dialect: dialects[c.api], Body: bodyOf(c.api, conversation),
						Upstream: "up", Limits: &limits, Now: s.now}
					if out := both[started%len(both)].Shape(in); out.Report.Err != nil {
						t.Fatal(out.Report.Err)
					}
				}
				return heap()
			}
			held(1) // loads the vocabulary
			before := heap()
			full, more := held(c.count)-before, held(2*c.count)-before
			live.Forget(s.now)
			rest := heap() - before
			t.Logf("%d take %d KB, twice as many %d KB, at rest %d KB", c.count, full>>10, more>>10, rest>>10)
			if full > most || more > full+slack || rest > few {
				t.Errorf("want at most %d KB, as much, and %d KB", most>>10, few>>10)
			}
			runtime.KeepAlive(both)
		})
	}
}

// Promise 5: a decision that could not be recorded is only in memory, and stays there while its conversation rests.
func TestRestingMemoryKeepsWhatIsNowhereElse(t *testing.T) {
	limits, s, window := defaultLimits(), newStorage(), 12_000
	shaper := rewrite.NewShaper(rewrite.Deps{Ledger: ledger.New(s, keep), Shelf: idleShelf{shelf{s}}, Memo: memo(),
		Window: func(_, _ string, _ int) (int, int) { return window, window * 7 / 8 }})
	list := append([]exchange{{}}, hostile["results of 2 KB"](96<<10)...)
	shape := func(task string) rewrite.Output {
		s.now = s.now.Add(time.Second)
		list[0] = exchange{user: task, said: "I begin."}
		return shaper.Shape(rewrite.Input{Dialect: dialects["chat"], Body: bodyOf("chat", list), Upstream: "up",
			Limits: &limits, Now: s.now})
	}
	s.luck = func() bool { return false }
	first := shape("The first task.")
	s.luck, window = nil, 1_000_000
	for i := range 40 {
		shape(fmt.Sprint("Task ", i))
	}
	shaper.Forget(s.now.Add(time.Hour))
	if again := shape("The first task."); !first.Changed || string(again.Body) != string(first.Body) {
		t.Errorf("%d bytes were sent, and %d once the conversation had rested", len(first.Body), len(again.Body))
	}
}

// heap returns the bytes in use.
func heap() int {
	runtime.GC()
	runtime.GC() // what pools hold
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // far below
}
