package excerpt

import (
	"fmt"
	"math/rand"
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
