package tokenize_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"epitome/tokenize"
)

func TestMemoGivesTheSameCounts(t *testing.T) {
	m := tokenize.NewMemo(64) // so small that it forgets all the time
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				text := []byte(strings.Repeat(fmt.Sprintf("%d words and lines\n", (i*7+g)%90), 1+i%9))
				if got, want := m.Count(counter(t), text), counter(t).Count(text); got != want {
					t.Errorf("%q counts %d from memory, want %d", text, got, want)
				}
			}
		})
	}
	wg.Wait()
}
