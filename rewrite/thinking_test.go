package rewrite

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan"
	"epitome/scripted/messages/rules"
	"epitome/scripted/messages/thought"
)

// muse is an agent whose model thinks before each call, at a server that signs it.
type muse struct {
	*bench
	model  string
	manual bool
	said   []string
	sent   []byte
	calls  int
}

func newMuse(window int, model string, manual bool) *muse {
	a := &muse{bench: newBench(window), model: model, manual: manual, said: []string{`{"role":"user","content":"Mend the shop."}`}}
	a.dialect, a.limits.Floor, a.limits.Protect = messages.Dialect{}, 100, 100
	a.limits.Bound = map[string]bool{binding: true}
	return a
}

func (a *muse) body() string {
	thinking := `{"type":"adaptive"}`
	if a.manual {
		thinking = `{"type":"enabled","budget_tokens":1024}`
	}
	return `{"model":"` + a.model + `","max_tokens":2000,"thinking":` + thinking + `,"messages":[` + strings.Join(a.said, ",") + `]}`
}

// judge is how the server refuses a body, whose model may be asked to think first.
func (a *muse) judge(body []byte) (here thought.Bond, refused *rules.Refusal) {
	of := func(name string) rules.Model {
		m := modelOf(name)
		m.Manual, m.Adaptive = true, true
		return m
	}
	q, refused := rules.Read(http.Header{"Anthropic-Version": {"2023-06-01"}}, body, false, of)
	if refused != nil {
		return here, refused
	}
	w, refused := thought.Check(q, func(string) bool { return true })
	return w.Here, refused
}

// ask sends what was said; the server takes it.
func (a *muse) ask(t *testing.T) Output {
	t.Helper()
	out := a.shape(a.body())
	judged(t, a.bench, a.body(), out)
	if out.Report.Err != nil {
		t.Fatal(out.Report.Err)
	}
	a.take(t, out)
	return out
}

// take has the server take what was shaped.
func (a *muse) take(t *testing.T, out Output) {
	t.Helper()
	if _, refused := a.judge(out.Body); refused != nil {
		t.Fatalf("%.3000s\nis refused: %v", out.Body, refused)
	}
	a.sent = out.Body
}

// call has the model think and call, and gives it a result of so many lines. Behind an unasked request it thinks behind
// all that was said.
func (a *muse) call(lines int, first string) {
	if a.sent == nil {
		a.sent = []byte(a.body())
	}
	here, refused := a.judge(a.sent)
	if refused != nil {
		panic(refused.Message)
	}
	a.sent = nil
	a.calls++
	s := thought.Signer{Model: a.model, Answer: fmt.Sprint(a.calls), Of: 1, Here: here}
	think := fmt.Sprintf(`{"type":"thinking","thinking":"hm %d","signature":"%s"}`, a.calls, s.Sign(fmt.Sprintf("hm %d", a.calls), 3))
	result := strings.Repeat(fmt.Sprintf(`call %d says that all is as it was\n`, a.calls), lines)
	a.said = append(a.said,
		fmt.Sprintf(`{"role":"assistant","content":[%s,{"type":"tool_use","id":"call%d","name":"Bash","input":{"command":"part %d"}}]}`,
			think, a.calls, a.calls),
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call%d","content":"%s"}%s]}`, a.calls, result, first))
}

// thinks are the numbers of the calls before which is thought in a body.
func thinks(body []byte) (list []int) {
	for _, part := range strings.Split(string(body), `"thinking":"hm `)[1:] {
		n := 0
		_, _ = fmt.Sscan(strings.TrimRight(part[:3], `",`), &n)
		list = append(list, n)
	}
	return list
}

// What was thought that goes is told of each item, with the reason and with where it lies; later, that it went before.
func TestThinkingThatWasTakenOutIsTold(t *testing.T) {
	a := newMuse(8_000, binding, false)
	a.limits.Offload, a.limits.Rent = 5_000, 0
	f := func(why string) {
		t.Helper()
		out := a.ask(t)
		r, err := messages.Dialect{}.Read([]byte(a.body()), nil)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, c := range out.StandingChanges(r) {
			if c.Thinking == "" {
				continue
			}
			told++
			kept, err := a.cupboard.Get(c.Thinking)
			if !strings.HasPrefix(c.Why, why) || (why == "") != (c.Why == "") || c.After >= c.Before ||
				err != nil || !strings.Contains(string(kept), `"thinking":"hm `) {
				t.Errorf("%+v keeps %s (%v)", c, kept, err)
			}
		}
		if told != 1 { // the others went with a summary
			t.Errorf("%d items are told", told)
		}
	}
	for range 3 {
		a.call(600, "")
	}
	f(plan.WhyUnthought)
	a.call(1, "")
	f("")
}

// A result of a conversation that began elsewhere is not cut while thinking stands behind it: that would cost the
// thinking. Where thinking is not bound, it is.
func TestOldResultsOfAnUnknownConversationStayBeforeBoundThinking(t *testing.T) {
	f := func(model string, cut bool) {
		t.Helper()
		a := newMuse(200_000, model, false)
		a.limits.Offload, a.limits.OffloadKeep, a.limits.Rent = 1000, 100, 0
		for range 3 {
			a.call(400, "")
		}
		out := a.ask(t)
		got := strings.Count(string(out.Body), " omitted, of ")
		if cut != (got == 3) || !cut && got != 1 || len(thinks(out.Body)) != 3 {
			t.Errorf("%s: %d results are cut, thinking %v", model, got, thinks(out.Body))
		}
	}
	f(binding, false)
	f(unbound, true)
}

// What is cleared takes the thinking behind it along, and what is thought later stays; over a restart and where the
// client has left its thinking out, the same is sent.
func TestWhatIsClearedTakesTheThinkingBehindItAlong(t *testing.T) {
	a := newMuse(8000, binding, false)
	a.ask(t)
	var out Output
	for !out.Report.Broke {
		a.call(40, "")
		if out = a.ask(t); a.calls > 40 {
			t.Fatal("nothing is cleared")
		}
	}
	if got := thinks(out.Body); fmt.Sprint(got) != "[1]" || out.Report.Thoughts == 0 || out.Report.Action != ActionClear {
		t.Fatalf("%v is still sent; %+v", got, out.Report)
	}
	first := a.calls
	a.call(1, "")
	a.ask(t)
	a.call(1, "")
	before := a.ask(t).Body
	if got := thinks(before); fmt.Sprint(got) != fmt.Sprint([]int{1, first + 1, first + 2}) {
		t.Errorf("%v is sent of what was thought behind the change", got)
	}
	a.restart()
	if again := a.ask(t).Body; string(again) != string(before) {
		t.Errorf("after a restart %s", firstDifference(string(again), string(before)))
	}
	bare := unthinking(t, a.dialect, []byte(a.body()))
	if healed := a.shape(string(bare)); string(unthinking(t, a.dialect, before)) != string(healed.Body) {
		t.Errorf("without thinking: %s", firstDifference(string(healed.Body), string(before)))
	}
}

// What epitome asks the model itself is a conversation too: behind what is cleared in it stands nothing thought before.
func TestQuestionsHaveNoThinkingBehindAChange(t *testing.T) {
	a := newMuse(60_000, binding, false)
	n := a.listen()
	a.style, a.now = prose.Style{Mode: prose.ModeLLM, Detail: prose.DetailMedium}, true
	for range 30 {
		a.call(130, "")
	}
	if out := a.ask(t); len(n.asked) == 0 {
		t.Fatalf("nobody was asked: %+v", out.Report)
	}
	cleared := 0
	for _, q := range n.asked {
		if q.Continue == nil {
			t.Error("the question is not the conversation itself")
		} else if _, refused := a.judge(q.Continue); refused != nil {
			t.Errorf("the question is refused: %v", refused)
		}
		cleared += strings.Count(string(q.Continue), "cleared: ")
	}
	if cleared == 0 {
		t.Error("nothing is cleared in the question")
	}
}

// Rent clears nothing where that costs what was thought: only the line does, and pauses.
func TestRentDoesNotClearBeforeBoundThinking(t *testing.T) {
	f := func(model string, want bool) {
		t.Helper()
		a := newMuse(200_000, model, false)
		a.limits.Rent, a.limits.Groups = .2, 1
		a.ask(t)
		for range 30 {
			a.call(60, "")
			if out := a.ask(t); out.Report.Broke {
				if !want {
					t.Errorf("%s: call %d: %+v", model, a.calls, out.Report)
				}
				return
			}
		}
		if want {
			t.Errorf("%s: nothing was cleared", model)
		}
	}
	f(binding, false)
	f(unbound, true)
}

// Where the model must go on to begin with what it thought, nothing changes until the user's next message.
func TestOpenRoundsWaitForTheUserWhereThinkingComesFirst(t *testing.T) {
	a := newMuse(8000, binding, true)
	a.ask(t)
	for range 14 {
		a.call(40, "")
		if out := a.ask(t); out.Changed {
			t.Fatalf("call %d: %+v", a.calls, out.Report)
		} else if a.calls > 1 && out.Report.Code != event.CodeThinkingRound {
			t.Fatalf("call %d: the reason is %s: %s", a.calls, out.Report.Code, out.Report.Reason)
		}
	}
	a.said = append(a.said, `{"role":"assistant","content":[{"type":"text","text":"It is mended."}]}`,
		`{"role":"user","content":"Then open it."}`)
	if out := a.ask(t); !out.Report.Broke || fmt.Sprint(thinks(out.Body)) != "[1]" {
		t.Errorf("%v is still sent: %+v", thinks(out.Body), out.Report)
	}
}

// A request that is refused as too long within such a round goes without the round, and without any of its thinking.
func TestRescueTakesAWholeOpenRoundWhereThinkingComesFirst(t *testing.T) {
	a := newMuse(100_000, binding, true)
	a.ask(t)
	for range 10 {
		a.call(40, "")
		a.ask(t)
	}
	size := a.shape(a.body()).Report.After.Total()
	out := a.Shape(Input{Dialect: a.dialect, Body: []byte(a.body()), Upstream: "up", Limits: &a.limits,
		Rescue: &plan.Rescue{Sent: size, Most: size / 2}})
	judged(t, a.bench, a.body(), out)
	if a.take(t, out); len(thinks(out.Body)) > 0 || out.Report.Stage != plan.StageBare || out.Settle == nil {
		t.Fatalf("%v is still sent: %+v", thinks(out.Body), out.Report)
	}
	out.Settle()
	a.call(2, "")
	if got := thinks(a.ask(t).Body); len(got) != 1 {
		t.Errorf("%v is sent of what was thought later", got)
	}
}

// A refusal of thinking is the client's own where all that stands before it is known to have been sent as it came.
func TestRefusedThinkingIsOnlyRepairedWhereARewriteMayBeWhy(t *testing.T) {
	f := func(name string, want bool, a *muse) {
		t.Helper()
		if got := a.shape(a.body()).Report.Unsure; got != want {
			t.Errorf("%s: unsure %v", name, got)
		}
	}
	begin := func() *muse {
		a := newMuse(100_000, binding, false)
		a.ask(t)
		a.call(2, "")
		return a
	}
	a := begin()
	f("sent as it came", false, a)
	a.ask(t)
	a.call(2, "")
	f("twice", false, a)
	a.sent = []byte(a.body())
	a.call(2, "")
	a.call(2, "")
	f("once past epitome", true, a)
	f("known to nobody", true, func() *muse {
		a := newMuse(100_000, binding, false)
		a.call(2, "")
		return a
	}())
	a = begin()
	a.limits.Offload, a.limits.OffloadKeep = 100, 10
	a.ask(t)
	a.call(100, "")
	f("a result is cut that nobody thought about", false, a)
	a.ask(t)
	a.call(2, "")
	f("a result was cut", true, a)
}

// A message of nothing but thinking goes as a whole.
func TestAMessageOfThinkingAloneGoesWhole(t *testing.T) {
	a := newMuse(8000, binding, false)
	a.ask(t)
	for range 3 {
		a.call(100, "")
		a.ask(t)
	}
	last := len(a.said) - 2
	think, rest, _ := strings.Cut(a.said[last], `,{"type":"tool_use"`)
	a.said = append(append(append([]string(nil), a.said[:last]...), think+"]}", `{"role":"assistant","content":[{"type":"tool_use"`+rest),
		a.said[last+1:]...)
	out := a.shape(a.body())
	mute := a.Shape(Input{Dialect: a.dialect, Body: []byte(a.body()), Upstream: "up", Limits: &a.limits,
		Rescue: &plan.Rescue{Unthinking: true}})
	judged(t, a.bench, a.body(), mute)
	if a.take(t, mute); len(thinks(mute.Body)) > 0 || strings.Contains(string(mute.Body), "[]") {
		t.Errorf("%v is still sent: %s, before %+v", thinks(mute.Body), mute.Body, out.Report)
	}
}
