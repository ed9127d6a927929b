package pattern

import (
	"sync"
	"testing"
)

func TestGoroutinesShareAPattern(t *testing.T) {
	p := Of(`^(\d+) tokens`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !p.MatchString("12 tokens") || p.Match([]byte("tokens")) {
				t.Error("the pattern matches something else")
			}
		})
	}
	all.Wait()
	if m := p.FindStringSubmatch("12 tokens"); len(m) != 2 || m[1] != "12" {
		t.Errorf("the groups are %q", m)
	}
}

func TestAnExpressionThatCannotBeCompiledPanicsWhenItIsUsed(t *testing.T) {
	p := Of(`(`)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	p.MatchString("x")
}
