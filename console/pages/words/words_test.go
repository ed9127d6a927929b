package words

import (
	"testing"

	"epitome/event"
)

func TestEveryFaultAndReasonHasItsWords(t *testing.T) {
	for _, m := range []event.Miss{event.MissFirst, event.MissModel, event.MissPause, event.MissOurs, event.MissLeading,
		event.MissClient, event.MissSmall, event.MissProvider, event.MissUnknown} {
		if got := Miss(m); got == string(m) || got == "" {
			t.Errorf("the miss %q has no words", m)
		}
	}
	for c := range event.Codes() {
		if got := Code(c); got == "" || got == string(c) {
			t.Errorf("the code %q has no words", c)
		}
	}
	for _, f := range []event.Fault{event.ClientGone, event.ClientSlow, event.Refused, event.Unreachable, event.Broken,
		event.Timeout, event.Truncated, event.Failed, event.Stopped, event.Panic} {
		if got := Fault(f); got == string(f) || got == "" {
			t.Errorf("the fault %q has no words", f)
		}
	}
	for _, u := range []string{event.UnpricedModel, event.UnpricedCached, event.UnpricedUsage, event.UnpricedOdd,
		event.UnpricedFailed, event.UnpricedOther} {
		if got := Unpriced(u); got == u || got == "" {
			t.Errorf("the reason %q has no words", u)
		}
	}
}

// A number that is over another one is not written as the same one.
func TestALineIsNotToldAsWhatWasOverIt(t *testing.T) {
	f := func(tokens, line int, want string) {
		t.Helper()
		e := event.Exchange{}
		e.Causes, e.Compared, e.ClearLine = event.CausesOf(event.CauseClearAt), int32(tokens), int32(line)
		if got := Causes(e, tokens); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(51_200, 44_800, "With 51k tokens it was over the line of 45k at which old results are cleared.")
	f(45_200, 44_800, "With 45,200 tokens it was over the line of 44,800 at which old results are cleared.")
}
