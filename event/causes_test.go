package event

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestCausesAreStoredByName(t *testing.T) {
	f := func(text string, want ...Cause) {
		t.Helper()
		var e Exchange
		if err := json.Unmarshal([]byte(text), &e); err != nil || !slices.Equal(e.Causes, want) {
			t.Errorf("%s: %q, %v; want %q", text, e.Causes, err, want)
		}
	}
	f(`{"id":"x","compacted":3}`) // an earlier version stored none
	f(`{"causes":["compact_at","over_limit"]}`, CauseLine, CauseLarge)
}
