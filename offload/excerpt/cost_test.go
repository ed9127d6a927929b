package excerpt

import (
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A text of failing lines costs no more than a few times as much as one of others.
func TestFailingLinesCostLittle(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	word := func() string {
		letters := make([]byte, 8)
		for i := range letters {
			letters[i] = 'a' + byte(r.Intn(26))
		}
		return string(letters)
	}
	timeOf := func(form string) time.Duration {
		var b strings.Builder
		for b.Len() < 1<<20 {
			fmt.Fprintf(&b, form, word(), word(), word(), word(), word(), word(), word(), word())
		}
		best := time.Hour
		for range 3 {
			begin := time.Now()
			Lines(b.String(), 2000, func(s string) int { return len(s) / 4 })
			best = min(best, time.Since(begin))
		}
		return best
	}
	plain := timeOf("%s %s %s letter in %s %s something %s %s %s\n")
	failing := timeOf("%s %s %s error in %s %s something %s %s %s\n")
	if failing > 5*plain {
		t.Errorf("failing lines take %v, others %v", failing, plain)
	}
}

// Promise 10: an excerpt takes memory by the bytes of a text, not by its lines and escape sequences.
func TestShortLinesTakeLittleMemory(t *testing.T) {
	for _, unit := range []string{"\n", "a\n\n", "error: x\n", "a\r\n", "\x1b[0m", "\x1b[31mx\r"} {
		text := strings.Repeat(unit, 4<<20/len(unit))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		screen, _ := Screen(text)
		Lines(screen, 1_000, bytes4)
		Failure(screen, true)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 2*uint64(len(text)) {
			t.Errorf("%q: a text of %d KB allocates %d KB", unit, len(text)>>10, allocated>>10)
		}
	}
}
