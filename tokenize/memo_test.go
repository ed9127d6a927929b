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
				for _, v := range vocabularies {
					if got, want := m.Count(counter(t, v), text), counter(t, v).Count(text); got != want {
						t.Errorf("%s: %q counts %d from memory, want %d", v, text, got, want)
					}
				}
			}
		})
	}
	wg.Wait()
}
