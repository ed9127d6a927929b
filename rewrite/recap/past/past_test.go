package past_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/rewrite/history"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/recap/past"
)

// spanOf is all that the steps have led to.
func spanOf(t *testing.T, steps ...plantest.Step) *past.Span {
	t.Helper()
	p := plantest.NewDesk(t).Plan(t, plantest.Body(steps...))
	return past.Of(p, 1, p.Hist.Len(), p.Req.Callers())
}

// newestFirst are the commands of the results that are read.
func newestFirst(s *past.Span) (commands []string) {
	s.Backwards(func(res *history.Result) bool {
		command, _ := s.CommandOf(res)
		commands = append(commands, command)
		return true
	})
	return commands
}

func TestAShortSpanIsReadWhole(t *testing.T) {
	s := spanOf(t, plantest.Command("make a", "made"), plantest.Command("make b", "made"), plantest.Command("make c", "made"))
	if got := fmt.Sprint(newestFirst(s), s.IsReadWhole()); got != "[make c make b make a] true" {
		t.Errorf("read is %s", got)
	}
}

func TestOfALongSpanTheNewestIsReadAndNoResultWithoutItsCall(t *testing.T) {
	var steps []plantest.Step
	var want []string
	log := strings.Repeat("all is well and goes on and on\n", 3_000)
	for i := range 60 {
		command := fmt.Sprint("make part_", i)
		steps = append(steps, plantest.Command(command, log))
		want = append([]string{command}, want...)
	}
	s := spanOf(t, steps...)
	got := newestFirst(s)
	if len(got) == 0 || len(got)*len(log) > past.MostRead || (len(got)+2)*len(log) < past.MostRead*9/10 {
		t.Errorf("%d results of %d bytes are read", len(got), len(log))
	}
	if !slices.Equal(got, want[:len(got)]) || s.IsReadWhole() {
		t.Errorf("read is %q, whole: %v", got, s.IsReadWhole())
	}
	if at := s.ItemAt(s.Read); len(at.Calls) != 1 {
		t.Errorf("what is read begins with %s", at.Role)
	}
}

func TestTheLineThatMattersIsToldAsItStands(t *testing.T) {
	f := func(want, output string) {
		t.Helper()
		p := plantest.NewDesk(t).Plan(t, plantest.Body(plantest.Command("go test ./...", output)))
		res := &p.Hist.Results[0]
		if got := past.Of(p, 1, p.Hist.Len(), p.Req.Callers()).LineOf(res); got != want {
			t.Errorf("of %q the line is %q, want %q", output, got, want)
		}
		if got := past.Of(p, 1, res.Item, p.Req.Callers()).LineOf(res); got != "" {
			t.Errorf("of what stands behind the span %q is told", got)
		}
	}
	f("--- FAIL: TestRefund (0.01s)", "=== RUN TestRefund\n--- FAIL: TestRefund (0.01s)\nFAIL\n")
	f("    --- FAIL: TestRefund/twice (0.01s)", "    --- FAIL: TestRefund/twice (0.01s)  \nFAIL\n")
	f("", "exit status 1\n")
	f("", "--- FAIL: TestRefund: "+strings.Repeat("very ", 40)+"long\n")
	f("", "ok\n")
}
