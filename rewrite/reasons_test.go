package rewrite

import (
	"flag"
	"os"
	"slices"
	"testing"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/scripted/scriptedtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	scriptedtest.CollectLess()
	scriptedtest.DrawFewer("12")
	os.Exit(m.Run())
}

// holdsReasons sees to it that all that was done has a code, and what was not done as well, and that a person is told a
// sentence of each of them.
func holdsReasons(t teller, out Output) {
	t.Helper()
	r := &out.Report
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
		if c.Code.Sentence() == "" || c.Why == "" {
			t.Fatalf("an item was changed, and nothing says why: %+v", c)
		}
	}
	holdsCauses(t, r.Changes)
	bad := func(f *decision.Form) bool { return f != nil && !f.Gone && f.Why.Sentence() == "" }
	if i := slices.IndexFunc(out.forms, bad); i >= 0 {
		t.Fatalf("what was decided about item %d does not say why: %+v", i, *out.forms[i])
	}
}

// holdsCauses sees to it that each item that is changed has a cause.
func holdsCauses(t teller, changes []plan.Change) {
	t.Helper()
	for _, c := range changes {
		if c.Cause.Sentence() == "" {
			t.Fatalf("an item was changed, and nothing says what caused that: %+v", c)
		}
	}
}
