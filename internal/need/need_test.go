package need_test

import (
	"testing"

	"epitome/internal/need"
)

// outcome stands for a test and notes how it ended.
type outcome struct {
	testing.TB
	end string
}

func (o *outcome) Helper()               {}
func (o *outcome) Name() string          { return "TestOfAnything" }
func (o *outcome) SkipNow()              { o.end = "skipped" }
func (o *outcome) Fatalf(string, ...any) { o.end = "failed"; panic(o) }

func TestSkipIsAFailureWhereNoneIsAllowed(t *testing.T) {
	f := func(set, want string) {
		t.Helper()
		t.Setenv("EPITOME_NO_SKIP", set)
		o := &outcome{TB: t}
		func() {
			defer func() { _ = recover() }()
			need.Skip(o, "there is no %s", "registry")
		}()
		if o.end != want {
			t.Errorf("with EPITOME_NO_SKIP=%q the test is %s, want %s", set, o.end, want)
		}
	}
	f("", "skipped")
	f("1", "failed")
}

func TestWhatNobodyAskedForIsSkipped(t *testing.T) {
	f := func(set, want string) {
		t.Helper()
		t.Setenv("EPITOME_NO_SKIP", set)
		o := &outcome{TB: t}
		need.Unasked(o, "drives a browser")
		if o.end != want {
			t.Errorf("with EPITOME_NO_SKIP=%q the test is %q, want %q", set, o.end, want)
		}
	}
	f("", "skipped")
	f("1", "")
}
