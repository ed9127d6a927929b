package rewrite

import (
	"context"
	"strings"
	"testing"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/chat"
)

// newTold is an agent in a window in which a model is asked.
func newTold(window int) (*agent, *narrator) {
	a := newAgent(window, `{"role":"system","content":"You are an agent."}`, userSays(theTask))
	return a, a.listen()
}

func TestProseStandsInTheSummaryAndIsUpdated(t *testing.T) {
	a, n := newTold(64_000)
	before := ""
	for round := range 3 {
		last := a.body()
		for a.work(1, 900); ; a.work(1, 900) {
			out := a.ask(t)
			if compacts(out) {
				if !strings.Contains(string(out.Body), "Work number "+string(rune('1'+round))) {
					t.Fatalf("round %d: the prose is not in %.3000s", round, out.Body)
				}
				break
			}
			last = string(out.Body)
		}
		q := n.asked[len(n.asked)-1]
		if len(n.asked) != round+1 || q.Earlier != before || q.Credential != "the client's" || q.Room <= 0 || q.SpanTokens <= q.Room {
			t.Fatalf("round %d: %d questions, the last of %d tokens updates %q", round, len(n.asked), q.SpanTokens, q.Earlier)
		}
		before = n.made[q.Key].Text
		upTo, _ := chat.Read(q.Continue)
		end := upTo.Items[len(upTo.Items)-1].End
		if !strings.HasPrefix(last, string(q.Continue[:end])) {
			t.Errorf("round %d: what is continued is not what was sent before: %s", round, firstDifference(last, string(q.Continue)))
		}
		if a.restart(); string(a.ask(t).Body) == "" || len(n.asked) != round+1 {
			t.Errorf("round %d: asked again after a restart", round)
		}
	}
}

func TestNoModelIsAskedInASmallWindowOrWhereNobodyWaits(t *testing.T) {
	a, n := newTold(32_000)
	a.until(t, 1, 900)
	if len(n.asked) > 0 {
		t.Error("asked at 32k")
	}
	a, n = newTold(64_000)
	a.waits = nil
	if out := a.until(t, 1, 900); len(n.asked) > 0 || strings.Contains(string(out.Body), "told by a model") {
		t.Error("asked although nobody waits")
	}
}

func TestPreparedSummaryIsUsedAtTheLine(t *testing.T) {
	a, n := newTold(64_000)
	n.ahead = true
	for len(n.prepared) == 0 {
		a.work(1, 900)
		if compacts(a.ask(t)) {
			t.Fatal("compacted before anything was prepared")
		}
	}
	for range 2 { // while it is being made, nothing else is
		a.work(1, 300)
		a.ask(t)
	}
	n.finish()
	out := a.until(t, 1, 900)
	if len(n.asked) != 0 || len(n.prepared) != 1 || !strings.Contains(string(out.Body), "Work number 1") {
		t.Errorf("%d asked, %d prepared", len(n.asked), len(n.prepared))
	}
	if got := n.notices[len(n.notices)-1]; !got.Prepared || got.Kind != event.CompactionCompleted ||
		got.Mode != prose.ModeHybrid {
		t.Errorf("%+v", got)
	}
	if n := out.Report.After.Total(); n > out.Report.Usable/2 {
		t.Errorf("%d tokens are left of %d", n, out.Report.Usable)
	}
}

func TestFailureFallsBackToCodeAndStaysSo(t *testing.T) {
	a, n := newTold(64_000)
	n.fail = errNarrator
	out := a.until(t, 1, 900)
	if strings.Contains(string(out.Body), "told by a model") || len(n.asked) != 1 {
		t.Fatal("there is prose, or no question")
	}
	if got := n.notices[len(n.notices)-1]; got.Mode != prose.ModeIntent || got.Why != errNarrator.Error() ||
		got.Kind != event.CompactionCompleted {
		t.Errorf("%+v", got)
	}
	n.fail = nil
	if again := a.ask(t); string(again.Body) != string(out.Body) || len(n.asked) != 1 {
		t.Error("the same request is sent otherwise")
	}
	if out = a.until(t, 1, 900); !strings.Contains(string(out.Body), "Work number 1") {
		t.Error("the next round has no prose")
	}
	if q := n.asked[1]; q.Earlier != "" || len(q.Transcript) < 60 {
		t.Errorf("what no model told of yet is not in the question: %d entries", len(q.Transcript))
	}
}

func TestClientThatLeavesDecidesNothing(t *testing.T) {
	a, n := newTold(64_000)
	ctx, leave := context.WithCancel(context.Background())
	a.waits = ctx
	n.wait = func(ctx context.Context, _ *narrator) error {
		leave()
		return ctx.Err()
	}
	var out Output
	for out.Report.Err == nil {
		a.work(1, 900)
		out = a.shape(a.body())
	}
	if string(out.Body) != a.body() || out.Report.Decided || n.kinds() != "started failed" {
		t.Errorf("%+v, %s", out.Report, n.kinds())
	}
	n.wait, a.waits = nil, context.Background()
	if out = a.ask(t); !strings.Contains(string(out.Body), "Work number 1") {
		t.Error("when the client came again there was no prose")
	}
}
