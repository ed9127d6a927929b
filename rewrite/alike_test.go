package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
)

// Two conversations in different projects begin with the same words of user and model. Each keeps what it was told, in
// this process and in another one, whichever goes on first, and teaches its own project.
func TestProjectsThatBeginAlikeStayApart(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		f := func(first string, restarts bool, order ...string) {
			t.Helper()
			b := knowing(d, "This is the shop.")
			b.teach("", "bank", "This is the bank.")
			turns, given := map[string]int{}, map[string]string{}
			for _, project := range order {
				b.project = project
				out := b.send(t, body(first, turns[project]))
				got := memoryIn(out)
				if turns[project] == 0 {
					given[project] = got
				}
				isOwn := project == "" && got == "" || project != "" && strings.Contains(got, project)
				if got != given[project] || !isOwn {
					t.Errorf("%v, %d turns of %q: it is told %q", order, turns[project], project, got)
				}
				if out.Report.Project != project {
					t.Errorf("%v, %d turns of %q: it is in project %q", order, turns[project], project, out.Report.Project)
				}
				if turns[project]++; restarts {
					b.restart()
				}
			}
		}
		for _, first := range []string{"hi", strings.Repeat("Review the open issues. ", 100)} {
			for _, restarts := range []bool{false, true} {
				f(first, restarts, "shop", "bank", "shop", "bank", "shop", "bank")
				f(first, restarts, "shop", "bank", "bank", "shop", "shop", "bank")
				f(first, restarts, "shop", "shop", "bank", "bank", "shop", "bank")
				f(first, restarts, "shop", "shop", "shop", "bank", "bank", "bank", "shop")
				f(first, restarts, "shop", "", "shop", "", "shop", "")
				f(first, restarts, "shop", "", "", "shop", "", "shop")
				f(first, restarts, "", "shop", "", "shop", "", "shop")
			}
		}
	})
}

// Of more projects than are told apart, in which conversations begin alike, the last ones are told nothing, and never
// what is another project's.
func TestTooManyProjectsThatBeginAlikeAreToldNothing(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		b := knowing(d, "This is the shop.")
		for i := range 40 {
			name := fmt.Sprintf("p%02d", i)
			b.project = name
			b.teach("", name, "This is "+name+".")
			first := ""
			for turns := range 3 {
				out := b.send(t, body("hi", turns))
				got := memoryIn(out)
				if turns == 0 {
					first = got
				}
				if out.Report.Err != nil || got != first || got != "" && !strings.Contains(got, name) {
					t.Errorf("%d turns of %s: it is told %q, %v", turns, name, got, out.Report.Err)
				}
				if turns == 0 && got == "" && !strings.Contains(out.Report.Added.Why, "too many") {
					t.Errorf("%s: missing is %q", name, out.Report.Added.Why)
				}
				b.restart()
			}
		}
	})
}

// Conversations of two projects that have begun alike keep what they were told where memories are turned off, in this
// process and in another one, whichever goes on first; and again where they are turned on.
func TestProjectsThatBeginAlikeStayApartWithoutMemories(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		f := func(restarts bool, order ...string) {
			t.Helper()
			b := knowing(d, "This is the shop.")
			b.teach("", "bank", "This is the bank.")
			turns := map[string]int{}
			for _, word := range order {
				switch word {
				case "off", "on":
					b.memories.off = word == "off"
					continue
				}
				b.project = word
				out := b.send(t, body("hi", turns[word]))
				if got := memoryIn(out); !strings.Contains(got, word) || out.Report.Project != word {
					t.Errorf("%v, %d turns of %s: it is told %q, and is in project %q", order, turns[word], word, got, out.Report.Project)
				}
				if turns[word]++; restarts {
					b.restart()
				}
			}
		}
		for _, restarts := range []bool{false, true} {
			f(restarts, "shop", "bank", "off", "bank", "shop", "bank", "shop")
			f(restarts, "shop", "bank", "off", "shop", "bank", "shop", "bank")
			f(restarts, "shop", "bank", "off", "bank", "on", "shop", "bank", "shop")
			f(restarts, "shop", "bank", "shop", "off", "bank", "shop", "bank")
		}
	})
}
