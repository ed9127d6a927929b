package rewrite

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/scripted/scriptedtest"
)

// given are the codes that tests have brought about.
var given sync.Map

// caused are the causes that tests have brought about.
var caused sync.Map

// causedElsewhere are those that refusals of another kind than "too long" have: the proxy's tests bring them about.
var causedElsewhere = event.CausesOf(event.CauseBroken, event.CauseThought)

// elsewhere are the codes that are made by others than this package.
var elsewhere = []event.Code{event.CodeSigned, event.CodeEncoded, event.CodeBomb, event.CodeNoObject, event.CodeNoRoom}

// Once all tests have run, every code has been brought about by one of them.
func TestMain(m *testing.M) {
	flag.Parse()
	scriptedtest.CollectLess()
	scriptedtest.DrawFewer("40")
	status := m.Run()
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
	missing := 0
	for c := range event.Codes() {
		_, ok := given.Load(c)
		if whole && status == 0 && !ok && !slices.Contains(elsewhere, c) {
			_, _ = fmt.Fprintf(os.Stderr, "no test brings about the reason %s: add a scene to one\n", c)
			missing++
		}
	}
	for c := range (event.EveryCause() &^ causedElsewhere).All() {
		if _, ok := caused.Load(c); whole && status == 0 && !ok {
			_, _ = fmt.Fprintf(os.Stderr, "no test brings about the cause %s: add a scene to one\n", c)
			missing++
		}
	}
	os.Exit(max(status, min(missing, 1)))
}

// holdsReasons sees to it that all that was done has a code, and what was not done as well, and that a person is told a
// sentence of each of them.
func holdsReasons(t teller, out Output) {
	t.Helper()
	r := &out.Report
	given.Store(r.Code, true)
	if r.Code != event.NoCode && r.Code.Sentence() == "" {
		t.Fatalf("nobody is told what %q is", r.Code)
	}
	if r.Code == event.NoCode != (r.Reason == "") && r.Err == nil {
		t.Fatalf("the code is %q, the reason %q", r.Code, r.Reason)
	}
	if !r.Decided && r.Code == event.NoCode && out.Settle == nil {
		t.Fatalf("nothing new was done, and nothing says why: %+v", *r)
	}
	for _, c := range r.Changes {
		given.Store(c.Code, true)
		if c.Code.Sentence() == "" || c.Why == "" {
			t.Fatalf("an item was changed, and nothing says why: %+v", c)
		}
	}
	for _, f := range out.forms {
		if f != nil {
			given.Store(f.Why, true)
		}
	}
	holdsCauses(t, r.Changes)
	bad := func(f *decision.Form) bool { return f != nil && !f.Gone && f.Why.Sentence() == "" }
	if i := slices.IndexFunc(out.forms, bad); i >= 0 {
		t.Fatalf("what was decided about item %d does not say why: %+v", i, *out.forms[i])
	}
}

// holdsCauses sees to it that each item that is changed has a cause, and one that goes with its rung and its code.
func holdsCauses(t teller, changes []plan.Change) {
	t.Helper()
	for _, c := range changes {
		caused.Store(c.Cause, true)
		if c.Cause.Sentence() == "" {
			t.Fatalf("an item was changed, and nothing says what caused that: %+v", c)
		}
		arrived := event.CausesOf(event.CauseLarge, event.CauseScreen, event.CauseRepeats).Has(c.Cause)
		ofItself := c.Code == event.CodeOverLimit || c.Code == event.CodeScreen || c.Code == event.CodeRepeats
		if arrived != ofItself {
			t.Fatalf("%s is caused by %s", c.Code, c.Cause)
		}
		if want, known := causeOfCode[c.Code]; known && c.Cause != want {
			t.Fatalf("%s is caused by %s, want %s", c.Code, c.Cause, want)
		}
	}
}

// causeOfCode is what causes that alone. What a compaction leaves out may have the code of an earlier one.
var causeOfCode = map[event.Code]event.Cause{
	event.CodeOverLimit: event.CauseLarge, event.CodeScreen: event.CauseScreen, event.CodeRepeats: event.CauseRepeats,
	event.CodeOldest: event.CauseRules, event.CodeTextOnly: event.CauseRules, event.CodeLongAnswer: event.CauseRules,
	event.CodeUser: event.CauseRefused,
}

// A reason has the numbers that show it.
func TestReasonsHaveTheirNumbers(t *testing.T) {
	f := func(want event.Code, words string, a *agent) {
		t.Helper()
		out := a.ask(t)
		if out.Report.Code != want || !regexp.MustCompile("^"+words+"$").MatchString(out.Report.Reason) {
			t.Errorf("%s: %s, want %s: %s", out.Report.Code, out.Report.Reason, want, words)
		}
	}
	small := func() *agent {
		a := newAgent(100_000, userSays(theTask))
		a.limits.Floor = 0
		a.work(1, 300)
		return a
	}
	const number = `\d{1,3}(,\d{3})*`
	f(event.CodeNotDue, "the largest new result has "+number+" tokens and is not over its limit of "+number+"; nothing that was sent "+
		"is old or spent", small())
	big := strings.Repeat("You are an agent of many words. ", 1_500)
	a := newAgent(8_000, `{"role":"system","content":"`+big+`"}`, userSays(theTask))
	a.limits.ClearAt = 0.5
	f(event.CodeFixedFills, "system prompt and tools alone have "+number+" tokens and fill the window, of which a request may have "+
		number, a)
	a = small()
	a.limits.ClearAt, a.limits.ClearAtLeast = 0.01, 0
	a.work(14, 300)
	a.ask(t)
	a.work(1, 300)
	f(event.CodeFreesLittle, "the request has "+number+" tokens and is over the line of "+number+", but clearing frees "+
		"(at most )?"+number+", and is done once it frees "+number, a)
	a = small()
	a.deps.Passing = true
	f(event.CodePassing, "nothing can be kept beyond this process: all stays whole up to the line of "+number, a)
	a = small()
	a.limits.Floor = 1 << 20
	f(event.CodeFloor, `the body has \d+ bytes; nothing is decided below \d+`, a)
}
