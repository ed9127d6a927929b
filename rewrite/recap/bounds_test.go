package recap

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/history"
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

// Of a call that does very much, what it does is not told apart, and what is kept of each thing is short.
func TestWhatOneCallDoesIsBounded(t *testing.T) {
	p := new(place)
	for k := range 100 { // settings
		p.run(fmt.Sprintf("export A%d=%s", k, strings.Repeat("x", 2_000)), "")
	}
	for n, want := range map[int]int{1: 1, mostTasks: mostTasks, mostTasks + 1: 1, 60: 1, 1_000: 1} {
		list := p.run(steps(n), "")
		if len(list) != want || want == 1 && n > 1 && !list[0].hidden {
			t.Errorf("%d steps: %d tasks, want %d", n, len(list), want)
		}
		for _, one := range list {
			if len(one.place) > 16 || len(one.whole) > len(steps(n))+20 {
				t.Errorf("%d steps: %d and %d bytes are kept of one", n, len(one.place), len(one.whole))
			}
		}
	}
	if p.run(steps(20)+"cd /shop", ""); p.lasting.Folder != "/shop" {
		t.Errorf("a call that does much leads to %q", p.lasting.Folder)
	}
}

// What a call does is held against few failures that did much.
func TestACallIsHeldAgainstFewFailures(t *testing.T) {
	tasks := new(place).run(steps(mostTasks), "")
	c := &calls{doing: map[string][]*failure{}}
	for k := range 200 {
		f := &failure{res: &history.Result{Item: k}, tasks: tasks}
		for i := range tasks {
			key := tasks[i].keys()[0]
			c.doing[key] = append(c.doing[key], f)
		}
	}
	list := c.concerned(tasks)
	if n := len(list); n == 0 || n > 3 || list[n-1].res.Item != 199 {
		t.Errorf("%d failures of %d tasks each", n, mostTasks)
	}
	if n := len(c.concerned(tasks[:1])); n < 20 || n > 128 {
		t.Errorf("%d failures for one task", n)
	}
}

// Words cost, too: a call of many is held against fewer failures of many.
func TestACallOfManyWordsIsHeldAgainstFewFailures(t *testing.T) {
	f := func(words string, least, most int) {
		t.Helper()
		tasks := new(place).run("go test"+strings.Repeat(words, 30/len(words)*4), "")
		c := &calls{doing: map[string][]*failure{}}
		for k := range 200 {
			key := tasks[0].keys()[0]
			c.doing[key] = append(c.doing[key], &failure{res: &history.Result{Item: k}, tasks: tasks})
		}
		if n := len(c.concerned(tasks)); n < least || n > most {
			t.Errorf("%d words: %d failures, want %d to %d", len(tasks[0].words), n, least, most)
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
