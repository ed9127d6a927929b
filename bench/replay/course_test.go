package replay

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"epitome/bench/benchtest"
	"epitome/bench/policy"
)

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
