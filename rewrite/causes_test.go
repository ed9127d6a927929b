package rewrite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// causesOf are the causes of what a decision has changed.
func causesOf(out Output) (s event.Causes) {
	for _, c := range out.Report.Changes {
		s |= event.CausesOf(c.Cause)
	}
	return s
}

// untilChanged works until a request is changed, and returns that.
func (a *agent) untilChanged(t *testing.T, tokens int) Output {
	t.Helper()
	for range 200 {
		a.work(1, tokens)
		if out := a.ask(t); len(out.Report.Changes) > 0 {
			return out
		}
	}
	t.Fatal("nothing was ever changed")
	return Output{}
}

// causing are plays, each with the causes that it brings about.
func causing(t *testing.T) []struct {
	want event.Cause
	play func() Output
} {
	t.Helper()
	begin := func(window int) *agent { return newAgent(window, userSays(theTask)) }
	result := func(a *agent, content string) Output {
		a.does("bash", `{"command":"make all"}`, content)
		return a.ask(t)
	}
	return []struct {
		want event.Cause
		play func() Output
	}{
		{event.CauseLarge, func() Output {
			a := begin(128_000)
			a.work(1, 30_000)
			return a.ask(t)
		}},
		{event.CauseScreen, func() Output {
			frames := eachOf(900, func(i int) string { return fmt.Sprintf("\rDownloading x: %d of 900\x1b[K", i) })
			return result(begin(128_000), frames+"\nx is there\n")
		}},
		{event.CauseRepeats, func() Output {
			a := begin(128_000)
			a.limits.Repeats = true
			text := a.output(3_000)
			a.does("bash", `{"command":"cat notes"}`, text)
			a.ask(t)
			return result(a, text)
		}},
		{event.CauseRent, func() Output {
			a := begin(128_000)
			a.limits.Rent, a.limits.ClearAt = 1, .8
			return a.untilChanged(t, 1_500)
		}},
		{event.CausePause, func() Output {
			a := rested(t, 25)
			a.clock = a.clock.Add(time.Hour)
			return a.ask(t)
		}},
		{event.CauseModel, func() Output {
			return rested(t, 25).shape(strings.Replace(rested(t, 25).body(), `"model":"gpt-5"`, `"model":"gpt-4.1"`, 1))
		}},
		{event.CauseClearAt, func() Output {
			a := begin(32_000)
			a.limits.ClearAt = .5
			return a.untilChanged(t, 1_500)
		}},
		{event.CauseRules, func() Output {
			a := begin(128_000)
			a.limits.Pairs = 4
			return a.untilChanged(t, 1_500)
		}},
		{event.CauseLine, func() Output { return begin(32_000).untilChanged(t, 900) }},
		{event.CauseBudget, func() Output {
			a := begin(64_000)
			a.limits.CutoverAt = 100_000
			return a.untilChanged(t, 900)
		}},
		{event.CauseAsked, func() Output {
			a := begin(128_000)
			a.limits.KeepTail = 600
			for range 12 {
				a.work(1, 300)
			}
			a.ask(t)
			return a.compactNow(t)
		}},
		{event.CauseFull, func() Output {
			a := begin(16_000)
			a.limits.Offload, a.limits.OffloadShare = 50_000, 1
			a.work(2, 9_000)
			return a.ask(t)
		}},
		{event.CauseRefused, func() Output {
			a := begin(128_000)
			for range 12 {
				a.work(1, 900)
			}
			first := a.ask(t).Report.After.Total()
			return a.rescue(t, plan.Rescue{Sent: first, Most: first / 2, From: plan.StageCompact})
		}},
	}
}

// What a decision has changed says which cause did it, and no other one; each cause that shaping can have is brought
// about.
func TestEachCauseIsBroughtAbout(t *testing.T) {
	left := event.EveryCause() &^ causedElsewhere
	for _, c := range causing(t) {
		out := c.play()
		if got := causesOf(out); got != event.CausesOf(c.want) {
			t.Errorf("the causes are %q, want %q: %+v", got, c.want, out.Report.Changes)
		}
		left &^= event.CausesOf(c.want)
	}
	if left != 0 {
		t.Errorf("no play has the causes %s", left)
	}
}

// What several causes have changed in one request has them all.
func TestSeveralCausesAreAllTold(t *testing.T) {
	a := newAgent(32_000, chatMessage(conversation.System, "You are an agent."), userSays(theTask))
	for a.ask(t).Report.After.Total() < 24_000 { // of 25 200, over which old turns become a summary
		a.work(1, 300)
	}
	a.work(1, 9_000)
	if got, want := causesOf(a.ask(t)), event.CausesOf(event.CauseLarge, event.CauseLine); got != want {
		t.Errorf("the causes are %q, want %q", got, want)
	}
}
