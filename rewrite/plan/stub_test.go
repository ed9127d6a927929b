package plan_test

import (
	"strings"
	"testing"

	"epitome/rewrite/decision"
	"epitome/rewrite/plan/plantest"
)

// lookedAt is a shelf that counts how often it was asked for an artifact.
type lookedAt struct {
	*plantest.Cupboard
	looks int
}

func (l *lookedAt) Touch(name string) bool {
	l.looks++
	return l.Cupboard.Touch(name)
}

func TestOnlyAMarkThatNamesAnArtifactIsOurs(t *testing.T) {
	p := plantest.NewDesk(t).Plan(t, plantest.Body())
	shelf := &lookedAt{Cupboard: plantest.NewCupboard()}
	p.Shelf = shelf
	name := func(scope, content string, put bool) string {
		s := shelf.Name(scope, []byte(content))
		if put {
			if err := shelf.Put(s, []byte(content), false); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	there, gone, spoken := name("", "there", true), name("", "gone", false), name("", "spoken of", false)
	p.Sheet.Note(&decision.Form{Kept: spoken})
	f := func(text string, want bool) {
		t.Helper()
		if shelf.looks = 0; p.Marked(text) != want {
			t.Errorf("%.200q counts as marked: %v", text, !want)
		}
		if shelf.looks > 8 {
			t.Errorf("%.200q: %d looks at the shelf", text, shelf.looks)
		}
	}
	line := func(name string) string {
		return "[epitome: 2 of 9 lines omitted. Full output: /data/artifacts/" + name + ".txt]\n"
	}
	f("", false)
	f(line(there), true)
	f("head\n"+line(there)+"tail", true)
	f("head\n"+line(spoken), true)
	f("head\n"+line(gone)+line(there), true)
	f("head\n"+line(gone), false)
	f("head\n[epitome: 2 lines omitted (2-3)]\n", false)
	f("[epitome: do not cut this]\n"+there, false) // the name stands elsewhere
	f("> "+line(there), false)
	f(strings.Repeat("head\n"+line(gone), 100_000)+line(there), false)
	f(strings.Repeat("head\n"+line(gone), 100_000)+line(spoken), true)
	f(strings.Repeat("[epitome: \n", 100_000), false)
}
