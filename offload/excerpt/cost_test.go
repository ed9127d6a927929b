package excerpt

import (
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A text of failing lines costs no more than a few times as much as one of others. Other programs disturb a
// measurement, never to the better: the least of some counts, and more are taken before the test fails.
func TestFailingLinesCostLittle(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	written := func(word string) string {
		b := make([]byte, 1<<18)
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz     \n"[r.Intn(32)]
		}
		return strings.ReplaceAll(string(b), "\n", " "+word+" in it\n")
	}
	texts := [2]string{written("letter"), written("error")}
	best := [2]time.Duration{time.Hour, time.Hour}
	for round := 1; round <= 3 || best[1] > 5*best[0]; round++ {
		if round == 100 {
			t.Fatalf("failing lines take %.1f times as long as others", float64(best[1])/float64(best[0]))
		}
		for i, text := range texts {
			begin := time.Now()
			Lines(text, true, 2000, bytes4)
			best[i] = min(best[i], time.Since(begin))
		}
	}
}

// A failing line that repeats hides no other, also in a text of more shapes than are held.
func TestRepeatedFailureHidesNoOther(t *testing.T) {
	var text strings.Builder
	for i := range 300_000 {
		name := make([]byte, 4)
		for k := range name {
			name[k] = byte('a' + i>>(5*k)&31) // letters and signs, as numbers have one shape
		}
		fmt.Fprintf(&text, "line %s\n", name)
	}
	text.WriteString(strings.Repeat("same error: bad\nother\n", 2_000) + "real error: cannot open it\n" +
		strings.Repeat("tail\n", 50))
	if short, _ := Lines(text.String(), true, 1_000, bytes4); !strings.Contains(short, "real error") {
		t.Errorf("%d lines of one failure hide another", strings.Count(short, "same error"))
	}
}

// Promise 10: an excerpt takes memory by the bytes of a text, not by its lines and escape sequences.
func TestShortLinesTakeLittleMemory(t *testing.T) {
	for _, unit := range []string{"\n", "a\n\n", "error: x\n", "a\r\n", "\x1b[0m", "\x1b[31mx\r"} {
		text := strings.Repeat(unit, 4<<20/len(unit))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		screen, _ := Screen(text)
		Lines(screen, true, 1_000, bytes4)
		Failure(screen, true)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 2*uint64(len(text)) {
			t.Errorf("%q: a text of %d KB allocates %d KB", unit, len(text)>>10, allocated>>10)
		}
	}
}
