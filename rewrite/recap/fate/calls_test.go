package fate

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/history"
	"epitome/rewrite/recap/errand"
)

// steps is a command of so many steps.
func steps(n int) string {
	var s strings.Builder
	for k := range n {
		fmt.Fprintf(&s, "make a%d; ", k)
	}
	return s.String()
}

// What a call does is held against few failures that did much.
func TestACallIsHeldAgainstFewFailures(t *testing.T) {
	errands := new(errand.Terminal).Run(steps(errand.Most), "", errand.End{})
	c := &Calls{doing: map[string][]*Failure{}}
	for k := range 200 {
		f := &Failure{Res: &history.Result{Item: k}, Errands: errands}
		for i := range errands {
			key := errands[i].Keys()[0]
			c.doing[key] = append(c.doing[key], f)
		}
	}
	list := c.concerned(errands)
	if n := len(list); n == 0 || n > 3 || list[n-1].Res.Item != 199 {
		t.Errorf("%d failures of %d errands each", n, errand.Most)
	}
	if n := len(c.concerned(errands[:1])); n < 20 || n > 128 {
		t.Errorf("%d failures for one errand", n)
	}
}

// Words cost, too: a call of many is held against fewer failures of many.
func TestACallOfManyWordsIsHeldAgainstFewFailures(t *testing.T) {
	f := func(words string, least, most int) {
		t.Helper()
		errands := new(errand.Terminal).Run("go test"+strings.Repeat(words, 30/len(words)*4), "", errand.End{})
		c := &Calls{doing: map[string][]*Failure{}}
		for k := range 200 {
			key := errands[0].Keys()[0]
			c.doing[key] = append(c.doing[key], &Failure{Res: &history.Result{Item: k}, Errands: errands})
		}
		if n := len(c.concerned(errands)); n < least || n > most {
			t.Errorf("%d words: %d failures, want %d to %d", len(errands[0].Words), n, least, most)
		}
	}
	f(" ./shop/of/rates/and/more", 128, 128)
	f(" ./a", 8, 24)
}
