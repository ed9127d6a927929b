package sentence

import (
	"strings"
	"testing"
)

func TestPlansAreNoConclusions(t *testing.T) {
	f := func(sentence string, want bool) {
		t.Helper()
		if isPlan(sentence) != want {
			t.Errorf("%q is a plan: %v", sentence, !want)
		}
	}
	f("Let me look at the tests.", true)
	f("Now let me fix it:", true)
	f("Great, I'll run them again.", true)
	f("I’m checking the build.", true)
	f("Still waiting.", true)
	f("Now update the parser:", true)
	f("The cache key lacks the tenant.", false)
	f("I kept the old name, since two tests use it.", false)
	f("Letters are sorted by date.", false)
	f("", true)
}

func TestLongLinesAreCutIntoSentences(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		var got []string
		for _, p := range PartsOf(text) {
			got = append(got, text[p.Start:p.End])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%.80q: %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("x", 239)
	f("One. Two.\n\n  Three!  \n", "One. Two.|Three!")
	f(long+". Two? Three", long+".|Two?|Three")
	f(strings.Repeat("x", 900)+". Two", "Two")
	f("", "")
	f("\r\n \n", "")
	if middle := strings.Repeat("a b\n", 20_000); len(PartsOf(middle)) > 5_000 {
		t.Error("the middle of a very long text is read")
	}
}

func TestConclusionsAreWorthMore(t *testing.T) {
	f := func(more, less string) {
		t.Helper()
		if WorthOf(more) <= WorthOf(less) {
			t.Errorf("%q is worth %d, %q %d", more, WorthOf(more), less, WorthOf(less))
		}
	}
	f("The root cause is in the vendor.", "The vendor is as before.")
	f("A global context cannot work.", "There is a global context.")
	f("It fails because of the cache.", "It is in the cache.")
	f("The rounding lives in payout/round.py.", "The rounding lives here.")
}
