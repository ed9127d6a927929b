package replay

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"epitome/bench/benchtest"
	"epitome/bench/policy"
)

func TestThinningKeepsPeaksAndDrops(t *testing.T) {
	values := make([]int, 100_000)
	for i := range values {
		values[i] = 1000 + i
	}
	values[77_777], values[33_333] = 1_000_000, 1
	s := newSeries(values)
	if len(s.Tokens) > mostPoints || len(s.Tokens) < mostPoints/2 || len(s.At) != len(s.Tokens) ||
		!slices.IsSorted(s.At) {
		t.Fatalf("%d points, %d numbers", len(s.Tokens), len(s.At))
	}
	for i, n := range s.At {
		if values[n-1] != s.Tokens[i] {
			t.Fatalf("request %d has %d tokens, want %d", n, s.Tokens[i], values[n-1])
		}
	}
	for _, n := range []int{1, 33_334, 77_778, 100_000} {
		if !slices.Contains(s.At, n) {
			t.Errorf("request %d is left out", n)
		}
	}
	if s = newSeries(values[:mostPoints]); s.At != nil || len(s.Tokens) != mostPoints {
		t.Errorf("%d points, %d numbers", len(s.Tokens), len(s.At))
	}
}

func TestReplayTellsTheCourseOfEachConversation(t *testing.T) {
	_, told := replayOne(t, benchtest.Smalltalk(), 1000,
		policy.Shaping{Shaper: benchtest.Replacing(benchtest.Third, "!!!!", "????")})
	if len(told.Courses) != 1 || len(told.Courses[0].Sent) != 1 {
		t.Fatalf("%+v", told.Courses)
	}
	c := told.Courses[0]
	s := c.Sent[0]
	if !strings.HasSuffix(c.Conversation, "one.json") || c.Requests != 3 ||
		!slices.Equal(c.Raw.Tokens, []int{11, 31, 51}) || s.Window != 1000 || s.Policy != "it" ||
		!slices.Equal(s.Tokens, []int{11, 31, 51}) || s.Decided != 1 || !slices.Equal(s.Decisions, []int{3}) {
		t.Errorf("%+v", c)
	}
	var doc map[string]any
	text, _ := json.Marshal(told)
	if err := json.Unmarshal(text, &doc); err != nil || doc["courses"] == nil ||
		strings.Contains(string(text), "null,\"decis") {
		t.Errorf("%v: %s", err, text)
	}
}
