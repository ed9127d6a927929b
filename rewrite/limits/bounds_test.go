package limits

import (
	"encoding/json"
	"testing"
)

func TestBoundsShrinkWithTheWindow(t *testing.T) {
	l := Limits{Floor: 16 << 10, OffloadShare: 0.15, ClearAt: 0.5, CompactAt: 0.9, ClearAtLeast: 20_000,
		Groups: 12}
	if err := l.SetPreset("balanced"); err != nil {
		t.Fatal(err)
	}
	f := func(window, usable int, want string) {
		t.Helper()
		got, err := json.Marshal(l.Bounds(window, usable))
		if err != nil || string(got) != want {
			t.Errorf("at %d: got  %s (%v)\nwant %s", window, got, err, want)
		}
	}
	f(200_000, 190_000, `{"floor":16384,"offload_tokens":4000,"offload_lookup_tokens":2000,"offload_read_tokens":20000,"offload_keep":2000,`+
		`"clear_at":95000,"clear_at_least":20000,"prepare_at":0,"compact_at":171000,"compact_to":0,"keep_tokens":0,`+
		`"protect_tokens":5000,"protect_groups":12}`)
	f(10_000, 8_000, `{"floor":8000,"offload_tokens":1500,"offload_lookup_tokens":1500,"offload_read_tokens":1500,"offload_keep":750,`+
		`"clear_at":4000,"clear_at_least":2500,"prepare_at":0,"compact_at":7200,"compact_to":0,"keep_tokens":0,`+
		`"protect_tokens":2000,"protect_groups":3}`)
}

func TestClearingIsWorthItFromTwoHundredTokensAndHalfTheText(t *testing.T) {
	f := func(tokens, freed int, want bool) {
		t.Helper()
		if got := IsWorthClearing(tokens, freed); got != want {
			t.Errorf("%d of %d tokens: %v", freed, tokens, got)
		}
	}
	f(250, 200, true)
	f(250, 199, false)
	f(2_000, 1_000, true)
	f(2_000, 999, false)
	f(200, 200, true)
	f(0, 0, false)
}
