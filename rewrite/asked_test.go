package rewrite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
)

// A client whose early messages change each turn has no prefix that was seen before: what was asked would be of no use
// to its next request.
func TestNoModelIsAskedEachTurnForAClientThatRewritesItsHistory(t *testing.T) {
	f := func(name string, ahead bool, change func(a *agent, turn int)) {
		a, n := newTold(128_000)
		n.ahead = ahead
		for range 112 {
			a.work(1, 1_000)
		}
		requests := 0
		for turn := range 40 {
			a.work(1, 1_000)
			change(a, turn)
			out := a.shape(a.body())
			if out.Report.Err != nil {
				t.Fatal(out.Report.Err)
			}
			n.finish()
			requests++
		}
		if len(n.asked)+len(n.prepared) > requests/4 {
			t.Errorf("%s: %d questions for %d requests", name, len(n.asked)+len(n.prepared), requests)
		}
	}
	f("clock in the first message, prepared", true, func(a *agent, turn int) {
		a.items[1] = userSays(fmt.Sprintf("It is 12:%02d. %s", turn, theTask))
	})
	f("clock in the first message", false, func(a *agent, turn int) {
		a.items[1] = userSays(fmt.Sprintf("It is 12:%02d. %s", turn, theTask))
	})
	f("a sliding window of the client's own", false, func(a *agent, _ int) {
		for len(a.items) > 230 {
			a.items = append(a.items[:2:2], a.items[4:]...)
		}
	})
}

// On a full disk no compaction can be recorded: no model is paid for that turn by turn.
func TestNoModelIsAskedForWhatCannotBeKept(t *testing.T) {
	for _, f := range [][2]int{{64_000, 1_000}, {64_000, 8_000}, {128_000, 30_000}} {
		window, fixed := f[0], f[1]
		a := newAgent(window, chatMessage(conversation.System, strings.Repeat("always do this well ", fixed/4)), userSays(theTask))
		n := a.listen()
		for range 600 {
			a.work(1, 1_000)
			out := a.shape(a.body())
			if out.Report.Before.Total() > out.Report.Usable*85/100 {
				a.cupboard.Err = errors.New("no space left on device")
			}
			if out.Report.Before.Total() > out.Report.Usable*5/4 {
				break
			}
		}
		if len(n.asked) > 3 {
			t.Errorf("%d questions were paid for nothing", len(n.asked))
		}
	}
}

// What is being made for an earlier cut when the line is crossed, and comes too late, is what the next round updates.
func TestLateProseOfAPreparedCutIsUsedLater(t *testing.T) {
	a, n := newTold(64_000)
	n.ahead = true
	for len(n.prepared) == 0 {
		a.work(1, 900)
		a.ask(t)
	}
	n.wait = func(context.Context, *narrator) error { return errors.New("the summary is not ready yet") }
	a.until(t, 1, 900)
	n.wait = nil
	n.finish()
	made := n.made[n.prepared[0].Key].Text
	if made == "" {
		t.Fatal("nothing was made")
	}
	a.until(t, 1, 900)
	q := n.asked[len(n.asked)-1]
	if q.Earlier != made {
		t.Errorf("the late prose is not what the next round updates; that updates %q", q.Earlier)
	}
}

// Prose is not said to tell of what its model was not shown.
func TestProseSaysWhatItsModelDidNotSee(t *testing.T) {
	a, n := newTold(64_000)
	n.fail = errNarrator
	a.until(t, 1, 900)
	n.fail = nil
	out := a.until(t, 1, 900)
	q := n.asked[1]
	shown := string(q.Continue)
	if q.Continue != nil && !strings.Contains(shown, "part_1 line 0") && !strings.Contains(string(out.Body), "it does not know") {
		t.Errorf("the prose is said to be told by a model that saw all %d entries, but the request it was asked by shows none of the first round", len(q.Transcript))
	}
}

// A request that takes over an equal one's compaction was compacted.
func TestAdoptedCompactionIsNoFailure(t *testing.T) {
	a, n := newTold(64_000)
	once := true
	n.wait = func(context.Context, *narrator) error {
		if !once {
			return nil
		}
		once = false
		n.mu.Unlock()
		defer n.mu.Lock()
		a.shape(a.body())
		return nil
	}
	a.until(t, 1, 900)
	if strings.Contains(n.kinds(), "failed") {
		t.Errorf("told %s: %s", n.kinds(), n.notices[len(n.notices)-1].Why)
	}
}

// A model that is to update late prose is shown it.
func TestLateProseIsSeenByTheModelThatUpdatesIt(t *testing.T) {
	a, n := newTold(64_000)
	n.wait = func(context.Context, *narrator) error { return errors.New("not ready yet") }
	a.until(t, 1, 900)
	n.wait = nil
	n.mu.Lock()
	p := n.answerLocked(n.asked[0])
	n.mu.Unlock()
	a.until(t, 1, 900)
	q := n.asked[1]
	if q.Earlier != p.Text {
		t.Fatalf("earlier is %q", q.Earlier)
	}
	if q.Continue != nil && !strings.Contains(string(q.Continue), "Work number 1") {
		t.Errorf("the model is to update a summary of %d bytes that is nowhere in the conversation it is shown", len(q.Earlier))
	}
}
