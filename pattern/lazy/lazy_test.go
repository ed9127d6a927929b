package lazy

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestAValueIsMadeOnce(t *testing.T) {
	var made atomic.Int32
	v := Of(func() map[string]int {
		made.Add(1)
		return map[string]int{"one": 1}
	})
	if n := made.Load(); n != 0 {
		t.Errorf("it was made %d times before its first use", n)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if v.Get()["one"] != 1 {
				t.Error("it holds something else")
			}
		})
	}
	all.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("it was made %d times", n)
	}
}

func TestAPanicIsHeardByAllWhoAsk(t *testing.T) {
	v := Of(func() int { panic("no table") })
	f := func() {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		v.Get()
	}
	f()
	f()
}
