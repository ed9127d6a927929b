package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/chat"
	"epitome/rewrite/plan"
)

// rescue shapes what there is once more, as it was refused.
func (a *agent) rescue(t testing.TB, r plan.Rescue) Output {
	t.Helper()
	out := a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(a.body()), Upstream: "up", Limits: &a.limits,
		Style: a.style, Rescue: &r})
	if out.Report.Err != nil {
		t.Fatal(out.Report.Err)
	}
	judged(t, a.bench, a.body(), out)
	if out.Settle != nil {
		out.Settle()
	}
	return out
}

// withTools is the body with a tool that reads files.
func withTools(body string) string {
	return strings.Replace(body, `"messages":`, `"tools":[{"type":"function","function":{"name":"bash"}}],"messages":`, 1)
}

// refused shapes the body once more, as it was refused, and settles it.
func (a *agent) refused(t testing.TB, body string, r plan.Rescue) Output {
	t.Helper()
	out := a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &a.limits, Rescue: &r})
	if out.Report.Err != nil {
		t.Fatal(out.Report.Err)
	}
	judged(t, a.bench, body, out)
	if out.Settle != nil {
		out.Settle()
	}
	return out
}

// Promise 8: what the user said is sent whole as long as anything else helps; the latest message goes last, and the
// event says so.
func TestUsersMessagesAreLeftToTheTranscriptWhereNothingElseHelps(t *testing.T) {
	const huge, middle = 20_000, 6_000
	paste := func(word string, tokens int) string {
		return userSays(strings.Repeat(word+" is said here\n", tokens/4))
	}
	f := func(most int, from, want plan.Stage, warned, latest bool, opening, newest bool) {
		t.Helper()
		a := newAgent(1_000_000, paste("opening", middle))
		a.limits.Offload = 8_000
		n := a.listen()
		a.work(1, 5_000)
		a.work(1, 5_000)
		a.items = append(a.items, paste("newest", huge))
		body := withTools(a.body())
		before := a.shape(body)
		out := a.refused(t, body, plan.Rescue{Most: most, From: from})
		sent := string(out.Body)
		if out.Report.Stage != want || out.Report.After.Total() >= before.Report.After.Total() {
			t.Errorf("most %d: stage %s, want %s; %d tokens", most, out.Report.Stage, want, out.Report.After.Total())
		}
		if strings.Contains(sent, "opening is said here") != opening || strings.Contains(sent, "newest is said here") != newest {
			t.Errorf("most %d: another message of the user is sent: %.600s", most, sent)
		}
		got := n.warnings
		if len(got) > 0 != warned || warned && (got[0].Reason != event.ReasonUsers || got[0].Latest != latest ||
			got[0].Messages < 1 || got[0].Sent != out.Report.After.Total()) {
			t.Errorf("most %d: warned of %+v", most, got)
		}
		a.restart()
		a.items = append(a.items, `{"role":"assistant","content":"I read it."}`, userSays("Go on."))
		next := a.shape(withTools(a.body()))
		if next.Report.Err != nil || !strings.HasPrefix(string(next.Body), strings.TrimSuffix(sent, `],"stream":true}`)) {
			t.Errorf("most %d: the conversation does not go on from the rescued form: %v", most, next.Report.Err)
		}
		judged(t, a.bench, withTools(a.body()), next)
	}
	f(42_000, plan.StageNone, plan.StageCompact, false, false, true, true)
	f(32_000, plan.StageNone, plan.StageBare, false, false, true, true) // it may be enough
	f(32_000, plan.StageUsers, plan.StageUsers, true, false, false, true)
	f(10_000, plan.StageUsers, plan.StageUsers, true, true, true, false) // the opening fits without the newest
	f(3_000, plan.StageUsers, plan.StageUsers, true, true, false, false)
}

// Who has no tool cannot read what is left out: a refusal says more.
func TestUsersMessagesStayWhereNobodyCouldReadThem(t *testing.T) {
	a := newAgent(1_000_000, userSays(theTask))
	a.work(1, 900)
	a.items = append(a.items, userSays(strings.Repeat("this is said here\n", 5_000)))
	out := a.refused(t, a.body(), plan.Rescue{Most: 3_000, From: plan.StageUsers})
	if out.Report.Stage != plan.StageNone || !strings.Contains(string(out.Body), "this is said here") {
		t.Errorf("stage %s: %.300s", out.Report.Stage, out.Body)
	}
}

// A message of the user that leaves the request too long all the same is better read than missed.
func TestUsersMessagesStayWhereTheRequestWouldNotFitWithoutThem(t *testing.T) {
	said := func(role, text string, lines int) string {
		return `{"role":"` + role + `","content":"` + strings.Repeat(text+`\n`, lines) + `"}`
	}
	a := newAgent(1_000_000, said("system", "this is a rule", 5_000), said("user", "this is the task", 600))
	a.work(2, 2_000)
	a.items = append(a.items, said("user", "this is said here", 600))
	out := a.refused(t, withTools(a.body()), plan.Rescue{Most: 12_000, From: plan.StageUsers})
	sent := string(out.Body)
	if !strings.Contains(sent, "this is said here") || !strings.Contains(sent, "this is the task") {
		t.Errorf("stage %s: %d tokens", out.Report.Stage, out.Report.After.Total())
	}
}

// A content that is a list of one text is made again to the byte, as one that is a text.
func TestUsersMessagesInPartsAreMadeAgain(t *testing.T) {
	a := newAgent(1_000_000, userSays(theTask))
	a.work(1, 900)
	a.items = append(a.items, `{"role":"user","content":[{"type":"text","text":"`+strings.Repeat(`this is said here\n`, 5_000)+`"}]}`)
	out := a.refused(t, withTools(a.body()), plan.Rescue{Most: 3_000, From: plan.StageUsers})
	if out.Report.Stage != plan.StageUsers || strings.Contains(string(out.Body), "this is said here") {
		t.Errorf("stage %s: %.300s", out.Report.Stage, out.Body)
	}
}

// Where a summary would take more than what it stands for, nothing is left out for it: only the message that is too
// long goes, and the conversation goes on as it came.
func TestARescueWritesNoSummaryThatMakesTheRequestLarger(t *testing.T) {
	for _, from := range []plan.Stage{plan.StageNone, plan.StageBare, plan.StageUsers} {
		a := newAgent(1_000_000, userSays(theTask))
		a.work(1, 10)
		work := slices.Clone(a.items)
		a.items = append(a.items, userSays(strings.Repeat("this is said here\n", 5_000)))
		out := a.refused(t, withTools(a.body()), plan.Rescue{Most: 3_000, From: from})
		sent := string(out.Body)
		if out.Report.Stage != plan.StageUsers || strings.Contains(sent, "this is said here") ||
			!strings.Contains(sent, strings.Join(work, ",\n")) {
			t.Errorf("from %s: stage %s: %.3000s", from, out.Report.Stage, sent)
		}
		a.restart()
		a.items = append(work, userSays("Go on."))
		if body := withTools(a.body()); string(a.shape(body).Body) != body {
			t.Errorf("from %s: another body is sent than %s", from, body)
		}
	}
}

// A reminder behind the last message goes with the next request: what was decided of it is nobody else's.
func TestWhatIsDecidedOfAReminderIsOfNoOtherMessage(t *testing.T) {
	f := func(restart bool, then string) {
		t.Helper()
		a := newAgent(1_000_000, userSays(theTask))
		a.work(2, 900)
		work := slices.Clone(a.items)
		a.items = append(a.items, userSays(strings.Repeat("this is a reminder\n", 5_000)))
		refused := a.refused(t, withTools(a.body()), plan.Rescue{Most: 3_000, From: plan.StageUsers})
		if refused.Report.Stage != plan.StageUsers || strings.Contains(string(refused.Body), "a reminder") {
			t.Fatalf("stage %s: the reminder is sent", refused.Report.Stage)
		}
		if restart {
			a.restart()
		}
		a.items = append(work, then, userSays("Go on."))
		body := withTools(a.body())
		out := a.shape(body)
		judged(t, a.bench, body, out)
		if out.Report.Err != nil || !strings.Contains(string(out.Body), then) {
			t.Errorf("%v, another message is sent than %s: %.900s", out.Report.Err, then, out.Body)
		}
	}
	for _, restart := range []bool{false, true} {
		f(restart, `{"role":"assistant","content":"I read it."}`)
		f(restart, userSays("Read it again."))
	}
}

// newRefused is an agent at work, believed to have a window of a million tokens.
func newRefused(groups, tokens int) *agent {
	a := newAgent(1_000_000, `{"role":"system","content":"You are an agent."}`, userSays(theTask))
	for range groups {
		a.work(1, tokens)
	}
	return a
}

func TestARescueStopsAtTheFirstStageThatFits(t *testing.T) {
	for _, c := range []struct {
		name   string
		groups int
		tokens int
		most   int
		want   plan.Stage
	}{
		{"old results", 40, 900, 20_000, plan.StageClear},
		{"old turns", 40, 900, 3_000, plan.StageCompact},
		{"one huge result", 1, 6_000, 2_000, plan.StageCompact},
		{"no room at all", 3, 900, 330, plan.StageBare},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newRefused(c.groups, c.tokens)
			before := a.ask(t)
			out := a.rescue(t, plan.Rescue{Most: c.most})
			if out.Report.Stage != c.want || !out.Report.Decided {
				t.Errorf("stage %s, want %s: %d > %d tokens, %s", out.Report.Stage, c.want, before.Report.After.Total(),
					out.Report.After.Total(), out.Report.Reason)
			}
			if n := out.Report.After.Total(); n > c.most && c.want != plan.StageBare {
				t.Errorf("%d tokens, %d at most", n, c.most)
			}
			if again := a.ask(t); string(again.Body) != string(out.Body) {
				t.Error("the same request is sent in the form that was refused")
			}
			a.restart()
			a.work(1, 100)
			if next := a.ask(t); !strings.HasPrefix(string(next.Body), strings.TrimSuffix(string(out.Body), `],"stream":true}`)) {
				t.Error("the conversation does not go on from the rescued form")
			}
		})
	}
}

// Where little fits below compact_to, the results that the model waits for are not cut for it.
func TestARescueLeavesWhatNobodyHasSeenWhereThereIsRoom(t *testing.T) {
	f := func(most int, want bool) {
		t.Helper()
		a := newAgent(1_000_000, `{"role":"system","content":"`+strings.Repeat(`this is a rule\n`, 1_500)+`"}`, userSays(theTask))
		for range 20 {
			a.work(1, 900)
		}
		a.ask(t)
		a.work(1, 2_000)
		last := a.items[len(a.items)-1]
		out := a.refused(t, a.body(), plan.Rescue{Most: most, From: plan.StageCompact})
		if got := strings.Contains(string(out.Body), last); got != want || out.Report.Stage != plan.StageCompact {
			t.Errorf("stage %s, %d tokens of %d: the newest result is whole: %v, want %v",
				out.Report.Stage, out.Report.After.Total(), most, got, want)
		}
	}
	f(16_000, true)
	f(11_000, false)
}

func TestARescueBeginsWhereItIsTold(t *testing.T) {
	a := newRefused(40, 900)
	a.ask(t)
	out := a.rescue(t, plan.Rescue{Most: 30_000, From: plan.StageCompact})
	if out.Report.Stage != plan.StageCompact || !compacts(out) {
		t.Errorf("stage %s", out.Report.Stage)
	}
	a = newAgent(1_000_000, userSays(theTask))
	a.limits.Offload, a.limits.OffloadShare = 1<<30, 1
	a.work(4, 3_000)
	a.ask(t)
	for stage, most := range [...]int{plan.StageShort: 6_000, plan.StageShorter: 2_000} {
		if most == 0 {
			continue
		}
		if out := a.rescue(t, plan.Rescue{Most: most, From: plan.Stage(stage)}); out.Report.Stage != plan.Stage(stage) {
			t.Errorf("stage %s, want %s", out.Report.Stage, plan.Stage(stage))
		}
		a.restart()
	}
	out = a.rescue(t, plan.Rescue{Most: 30_000, From: plan.StageBare})
	if out.Report.Stage != plan.StageBare || len(sentItems(t, out)) != 2 {
		t.Errorf("stage %s, %d messages", out.Report.Stage, len(sentItems(t, out)))
	}
}

func TestARescueThatSavesNothingChangesNothing(t *testing.T) {
	a := newAgent(1_000_000, userSays(strings.Repeat(theTask, 500)))
	a.work(1, 100)
	before := a.ask(t)
	out := a.rescue(t, plan.Rescue{Most: 1_000})
	if string(out.Body) != string(before.Body) || out.Report.Stage != plan.StageNone || out.Report.Decided ||
		out.Report.Code != event.CodeNotATenth {
		t.Errorf("%+v", out.Report)
	}
	a = newAgent(1_000_000, userSays(theTask))
	out = a.rescue(t, plan.Rescue{Most: 10})
	if out.Report.Code != event.CodeNothingToLeave || string(out.Body) != a.body() {
		t.Errorf("%+v", out.Report)
	}
}

// What a provider takes for broken goes as it came, then and later.
func TestARefusedStructureGoesAsItCame(t *testing.T) {
	a := newAgent(32_000, userSays(theTask))
	a.until(t, 1, 900)
	out := a.rescue(t, plan.Rescue{Whole: true})
	if string(out.Body) != a.body() || out.Report.Code != event.CodeBroken {
		t.Error("it does not go as it came")
	}
	a.restart()
	if again := a.ask(t); string(again.Body) != a.body() {
		t.Error("sent again, it has the form that was refused")
	}
}

func TestARescueAsksNoModelButTakesWhatIsReady(t *testing.T) {
	for _, ready := range []bool{false, true} {
		a := newAgent(64_000, userSays(theTask))
		n := a.listen()
		for n.ahead = ready; a.calls < 56; a.work(1, 900) {
			a.ask(t)
		}
		n.finish()
		out := a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(a.body()), Upstream: "up", Limits: &a.limits,
			Rescue: &plan.Rescue{Most: 20_000, From: plan.StageCompact}, Client: somebody{a.waits}})
		judged(t, a.bench, a.body(), out)
		out.Settle()
		if len(n.asked) > 0 || out.Report.Stage != plan.StageCompact {
			t.Errorf("%d questions, stage %s", len(n.asked), out.Report.Stage)
		}
		if has := strings.Contains(string(out.Body), "Work number 1"); has != ready {
			t.Errorf("prose is ready: %v, and there: %v (%d prepared)", ready, has, len(n.prepared))
		}
		if last := n.notices[len(n.notices)-1]; last.Reason != event.ReasonOverflow {
			t.Errorf("%+v", last)
		}
	}
}

// Each step of a rescue that is refused again begins from the form before.
func TestARescueClimbsOnFromTheFormThatWasRefused(t *testing.T) {
	a := newRefused(60, 900)
	a.limits.ClearAt = .8
	out := a.ask(t)
	seen := map[string]bool{}
	for stage := plan.StageNone; out.Report.Stage < plan.StageBare; {
		sent := out.Report.After.Total()
		out = a.rescue(t, plan.Rescue{Most: sent * 9 / 10, From: stage + 1})
		if out.Report.After.Total() > sent*9/10 && out.Report.Stage != plan.StageNone || seen[string(out.Body)] {
			t.Fatalf("%s: %d of %d tokens", out.Report.Stage, out.Report.After.Total(), sent)
		}
		seen[string(out.Body)] = true
		if stage = out.Report.Stage; stage == plan.StageNone {
			t.Fatal(fmt.Sprint("given up: ", out.Report.Reason))
		}
	}
}

// A form that the provider refuses as well is never recorded: the conversation goes on as it was.
func TestARescueThatIsNotTakenLeavesWhatStood(t *testing.T) {
	a := newRefused(40, 900)
	before := a.ask(t)
	for _, how := range []plan.Rescue{
		{Most: 3_000, Sent: before.Report.After.Total()}, {Most: 300, From: plan.StageBare}, {Whole: true},
	} {
		a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(a.body()), Upstream: "up", Limits: &a.limits, Rescue: &how})
	}
	if again := a.ask(t); string(again.Body) != string(before.Body) || again.Report.Decided {
		t.Errorf("%d tokens are sent, and were %d", again.Report.After.Total(), before.Report.After.Total())
	}
}

// Of two equal requests that were refused, the slower one is sent in the form in which the other was taken.
func TestOfTwoEqualRequestsBothAreRescued(t *testing.T) {
	a := newRefused(40, 900)
	before := a.ask(t)
	how := plan.Rescue{Most: 20_000, Sent: before.Report.After.Total()}
	first := a.rescue(t, how)
	second := a.rescue(t, how)
	if second.Report.Stage == plan.StageNone || string(second.Body) != string(first.Body) {
		t.Errorf("%s: %s, %d tokens after %d", second.Report.Stage, second.Report.Reason, second.Report.After.Total(), first.Report.After.Total())
	}
}

func TestARescueActsOnAFullShelf(t *testing.T) {
	a := newRefused(40, 900)
	a.ask(t)
	a.cupboard.Crowded = true
	if out := a.rescue(t, plan.Rescue{Most: 3_000}); out.Report.Stage != plan.StageCompact {
		t.Errorf("%+v", out.Report)
	}
}
