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
		event.Timeout, event.Truncated, event.Stopped, event.Panic} {
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
