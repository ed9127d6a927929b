package deed

import (
	"fmt"
	"strings"
	"testing"
)

// moves are calls of one tool by which tickets were given to teams.
func moves(n int, team func(k int) string) func(yield func(*Call) bool) {
	return func(yield func(*Call) bool) {
		for k := range n {
			arguments := fmt.Appendf(nil, `{"key":"DESK-%d","status":"Triaged","team":%q}`, k, team(k))
			if !yield(&Call{Tool: "transition", Arguments: arguments}) || !yield(&Call{Tool: "get_issue", Arguments: arguments}) {
				return
			}
		}
	}
}

func TestWhatWasDoneVeryOftenIsCounted(t *testing.T) {
	f := func(n int, team func(k int) string, want string) {
		t.Helper()
		if got := strings.Join(Tally(moves(n, team)), "|"); got != want {
			t.Errorf("%d calls: %q, want %q", n, got, want)
		}
	}
	three := func(k int) string {
		if k == 7 {
			return "Ines Falk"
		}
		return []string{"mail", "dns"}[k%2]
	}
	f(40, three, `transition, 40 calls by values; team: "mail" 20, "dns" 19, "Ines Falk" 1`)
	f(leastTallied-1, three, "")
	f(40, func(int) string { return "mail" }, "")
	f(40, func(k int) string { return fmt.Sprint("team ", k) }, "")
	f(40, func(k int) string { return strings.Repeat("x", 50+k%2) }, "")
}

// Counts of what was asked pass for counts of what was done, unless it is said how many calls failed.
func TestATallySaysHowManyFailed(t *testing.T) {
	all := func(yield func(*Call) bool) {
		for k := range 40 {
			c := &Call{Tool: "transition", Arguments: fmt.Appendf(nil, `{"team":"%c"}`, 'a'+k%2)}
			if k < 5 {
				c.Failed = "failed"
			}
			if !yield(c) {
				return
			}
		}
	}
	const want = `transition, 40 calls by values, 5 of which failed; team: "a" 20, "b" 20`
	if got := strings.Join(Tally(all), "|"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTalliesKeepToTheirRoom(t *testing.T) {
	all := func(yield func(*Call) bool) {
		for k := range 4_000 {
			var s strings.Builder
			for i := range 40 {
				fmt.Fprintf(&s, `"a key of some length %d":"value number %d",`, i, k/50%9)
			}
			if !yield(&Call{Tool: fmt.Sprint("tool", k%50), Arguments: []byte("{" + s.String() + `"end":1}`)}) {
				return
			}
		}
	}
	rows := Tally(all)
	for _, row := range rows {
		if len(row) > bytesOfTally {
			t.Errorf("%d bytes: %s", len(row), row)
		}
	}
	if len(rows) != mostTools {
		t.Errorf("%d tools are told", len(rows))
	}
}
