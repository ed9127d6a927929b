package event

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// Each cause has a name and a sentence of its own, and its row on the page of the API.
func TestEachCauseIsNamedToldAndDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for c := range EveryCause().All() {
		name, s := c.String(), c.Sentence()
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" || len(s) < 10 || len(s) > MostText || !strings.HasSuffix(s, ".") ||
			strings.Count(s, ".") != 1 || strings.ToUpper(s[:1]) != s[:1] {
			t.Errorf("%q is told as %q", name, s)
		}
		if seen[name] || seen[s] {
			t.Errorf("another cause is called %q or told as %q, too", name, s)
		}
		seen[name], seen[s] = true, true
		if row := "| `" + name + "` | " + s + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("docs/api.md lacks the row %s", row)
		}
	}
	if len(seen) != 2*(len(causes)-1) || NoCause.String()+NoCause.Sentence() != "" {
		t.Errorf("%d names and sentences of %d causes", len(seen), len(causes)-1)
	}
}

func TestReasonsOfACompactionHaveTheirCause(t *testing.T) {
	f := func(reason string, want Cause) {
		t.Helper()
		if got := CauseOfReason(reason); got != want {
			t.Errorf("%q has the cause %q, want %q", reason, got, want)
		}
	}
	f(ReasonThreshold, CauseLine)
	f(ReasonBudget, CauseBudget)
	f(ReasonManual, CauseAsked)
	f(ReasonOverflow, CauseRefused)
	f(ReasonImitation, NoCause)
	f("", NoCause)
}

func TestCausesAreASet(t *testing.T) {
	s := CausesOf(CauseAsked, CauseLarge, NoCause, CauseAsked)
	if got := slices.Collect(s.All()); !slices.Equal(got, []Cause{CauseLarge, CauseAsked}) || s.String() != "over_limit, asked_for" {
		t.Errorf("%v: %s", got, s)
	}
	if !s.Has(CauseLarge) || s.Has(CauseRent) || CausesOf(NoCause) != 0 {
		t.Errorf("%b", s)
	}
}

// An event keeps its causes as a list of names. One without them, of an earlier version, has none, and one of a later
// version has those that are known.
func TestCausesAreStoredByName(t *testing.T) {
	f := func(text string, want Causes) {
		t.Helper()
		var e Exchange
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.Causes != want {
			t.Errorf("%s: %q, %v; want %q", text, e.Causes, err, want)
		}
	}
	f(`{"id":"x","compacted":3}`, 0)
	f(`{"causes":[]}`, 0)
	f(`{"causes":["compact_at","of_later","over_limit"]}`, CausesOf(CauseLarge, CauseLine))
	for c := range EveryCause().All() {
		b, err := json.Marshal(Exchange{Shaping: Shaping{Causes: CausesOf(c)}})
		if err != nil || !strings.Contains(string(b), `"causes":["`+c.String()+`"]`) {
			t.Errorf("%s: %s, %v", c, b, err)
		}
		f(string(b), CausesOf(c))
	}
}
