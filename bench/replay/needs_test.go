package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/baselines"
	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/rewrite/chat"
)

func TestSummariesOfBaselinesHoldNothingThatAnAnswerNeeds(t *testing.T) {
	messages := []string{benchtest.Says("user", benchtest.Twenty)}
	for i := range 3 {
		id := fmt.Sprint(i)
		messages = append(messages, benchtest.Calls(id, "read", `{}`), benchtest.Answers(id, strings.Repeat("x", 7000)))
	}
	asked := 0
	for _, p := range baselines.All(policy.Unit{}) {
		s, err := p.Open(policy.Setting{Window: 4000, Dialect: chat.Dialect{}})
		if err != nil {
			t.Fatal(err)
		}
		shaped, err := s.Shape([]byte(benchtest.Chat(messages...)), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if len(shaped.Asked) == 0 {
			continue
		}
		asked++
		for _, m := range gjson.GetBytes(shaped.Body, "messages.#.content").Array() {
			if !strings.HasPrefix(m.Str, "Summary, round ") {
				continue
			}
			found, lines := policy.Find(m.Str, mostNames), policy.LongLines(m.Str, mostLines)
			if len(found)+len(lines) > 0 {
				t.Errorf("%s: names %v, lines %v", p.Name, found, lines)
			}
		}
	}
	if asked != 2 {
		t.Errorf("%d baselines write summaries, want 2", asked)
	}
}
