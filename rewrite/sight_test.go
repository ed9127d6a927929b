package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// holdsFirstSight holds that something is sent of each result which no answer stands behind: the whole, or a part.
func holdsFirstSight(t teller, was *conversation.Request, out Output) {
	t.Helper()
	if out.forms == nil || out.Report.Stage != plan.StageNone {
		return
	}
	for i := len(was.Items) - 1; i >= was.Head && was.Items[i].Role != conversation.Assistant; i-- {
		f := out.forms[i-was.Head]
		if was.Items[i].Role != conversation.Tool || f == nil {
			continue
		}
		if f.Gone || f.Fold > 0 {
			t.Fatalf("result %d is left out before it was seen:\n%+v", i, f)
		}
		for _, q := range f.Patches {
			if strings.HasPrefix(q.Text, plan.Mark) && !strings.Contains(q.Text, "\n") && strings.Contains(q.Text, "cleared") {
				t.Fatalf("result %d is cleared before it was seen: %s", i, q.Text)
			}
		}
	}
}

// However small the window and whatever is switched on, the newest results are shown in the request in which they come
// first.
func TestNewResultsAreShownInTheirFirstRequest(t *testing.T) {
	f := func(name string, window int, change func(a *agent)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agent{bench: newBench(window), items: []string{userSays(theTask)}}
			change(a)
			actions := map[string]bool{}
			for turn := range 30 {
				a.work(1+turn%4, 200+300*(turn%5))
				out := a.ask(t)
				actions[out.Report.Action] = true
				was, err := chat.Read([]byte(a.body()))
				if err != nil {
					t.Fatal(err)
				}
				holdsFirstSight(t, was, out)
				for k := range 1 + turn%4 {
					if want := fmt.Sprintf("part_%d line ", a.calls-k); !strings.Contains(string(out.Body), want) {
						t.Errorf("turn %d: nothing is seen of part %d", turn, a.calls-k)
					}
				}
			}
			if !actions[ActionCompact] && !actions[ActionClear] {
				t.Errorf("nothing but %v was done", actions)
			}
		})
	}
	f("balanced", 8_000, func(*agent) {})
	f("nothing is protected", 8_000, func(a *agent) { a.limits.Protect, a.limits.Groups, a.limits.Rent = 0, 0, .01 })
	f("small", 5_000, func(a *agent) { a.limits.KeepTail = 0 })
	f("nothing is offloaded", 8_000, func(a *agent) { a.limits.Offload, a.limits.OffloadShare = 1<<30, 1 })
	f("one result", 8_000, func(a *agent) { a.limits.Pairs = 1 })
	f("one message", 8_000, func(a *agent) { a.limits.Messages = 1 })
}
