package event

import (
	"encoding/json"
	"strings"
	"testing"
)

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
