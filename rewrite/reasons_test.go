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
)

// given are the codes that tests have brought about.
var given sync.Map

// elsewhere are the codes that are made by others than this package.
var elsewhere = []event.Code{event.CodeSigned, event.CodeEncoded, event.CodeBomb, event.CodeNoObject, event.CodeNoRoom}

// Once all tests have run, every code has been brought about by one of them.
func TestMain(m *testing.M) {
	flag.Parse()
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
	bad := func(f *decision.Form) bool { return f != nil && !f.Gone && f.Why.Sentence() == "" }
	if i := slices.IndexFunc(out.forms, bad); i >= 0 {
		t.Fatalf("what was decided about item %d does not say why: %+v", i, *out.forms[i])
	}
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
	const number = `\d{1,3}( \d{3})*`
	f(event.CodeNotDue, "largest new result "+number+" is not over "+number+"; nothing that was sent is old or spent", small())
	big := strings.Repeat("You are an agent of many words. ", 1_500)
	a := newAgent(8_000, `{"role":"system","content":"`+big+`"}`, userSays(theTask))
	a.limits.ClearAt = 0.5
	f(event.CodeFixedFills, "system prompt and tools alone have "+number+" and fill the window, of which a request may have "+
		number, a)
	a = small()
	a.deps.Passing = true
	f(event.CodePassing, "nothing can be kept beyond this process: all stays whole up to the line of "+number, a)
	a = small()
	a.limits.Floor = 1 << 20
	f(event.CodeFloor, `the body of \d+ bytes is below the floor of \d+`, a)
}
