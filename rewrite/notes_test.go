package rewrite

import (
	"fmt"
	"strings"
	"testing"
)

// Some clients say with each turn how much room is left. Of what is left out, only the last such note would tell
// anything; the rules that stand among them stay.
func TestOutdatedNotesGoWithTheirTurns(t *testing.T) {
	const rule = `{"role":"system","content":"Never touch part_0."}`
	a := newAgent(16_000, `{"role":"system","content":"You are an agent."}`, userSays(theTask), rule)
	compactions := 0
	for turn := range 120 {
		a.work(1, 250)
		a.items = append(a.items, fmt.Sprintf(`{"role":"system","content":"<room>%d,%03d tokens left</room>"}`, 200-turn, 7*turn))
		out := a.ask(t)
		if compacts(out) {
			compactions++
			if n := strings.Count(string(out.Body), " tokens left"); n > a.turnsIn(out)+1 {
				t.Errorf("turn %d: %d notes are sent with %d turns", turn, n, a.turnsIn(out))
			}
		}
		if !strings.Contains(string(out.Body), fmt.Sprintf("<room>%d,%03d ", 200-turn, 7*turn)) {
			t.Fatalf("turn %d: the newest note is not sent", turn)
		}
		if !strings.Contains(string(out.Body), rule) {
			t.Fatalf("turn %d: the rule is lost", turn)
		}
		if turn%20 == 0 {
			a.restart()
		}
		if again := a.ask(t); string(again.Body) != string(out.Body) {
			t.Fatalf("turn %d: asked again, another body is sent", turn)
		}
	}
	if compactions < 3 {
		t.Errorf("compacted %d times", compactions)
	}
}

// turnsIn is how many of the agent's turns are sent.
func (a *agent) turnsIn(out Output) int { return strings.Count(string(out.Body), `"tool_calls"`) }
