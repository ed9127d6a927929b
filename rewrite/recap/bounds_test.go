package recap

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/history"
	"epitome/rewrite/recap/errand"
	"epitome/rewrite/recap/git"
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
	errands := new(errand.Terminal).Run(steps(errand.Most), "")
	c := &calls{doing: map[string][]*failure{}}
	for k := range 200 {
		f := &failure{res: &history.Result{Item: k}, errands: errands}
		for i := range errands {
			key := errands[i].Keys()[0]
			c.doing[key] = append(c.doing[key], f)
		}
	}
	list := c.concerned(errands)
	if n := len(list); n == 0 || n > 3 || list[n-1].res.Item != 199 {
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
		errands := new(errand.Terminal).Run("go test"+strings.Repeat(words, 30/len(words)*4), "")
		c := &calls{doing: map[string][]*failure{}}
		for k := range 200 {
			key := errands[0].Keys()[0]
			c.doing[key] = append(c.doing[key], &failure{res: &history.Result{Item: k}, errands: errands})
		}
		if n := len(c.concerned(errands)); n < least || n > most {
			t.Errorf("%d words: %d failures, want %d to %d", len(errands[0].Words), n, least, most)
		}
	}
	f(" ./shop/of/rates/and/more", 128, 128)
	f(" ./a", 8, 24)
}

// Each edit is held against commands of git that name few files together.
func TestFilesOfGitAreBounded(t *testing.T) {
	many := git.Command{Files: make([]string, 300)}
	list := []*gitStep{{Command: many}, {}, {Command: many}, {}}
	for room, want := range map[int]int{1_000: 4, 302: 3, 301: 2, 1: 1, 0: 0} {
		if got := len(newestGit(list, room)); got != want {
			t.Errorf("in %d: %d commands, want %d", room, got, want)
		}
	}
}
