package rewrite

import (
	"testing"

	"epitome/event"
	"epitome/rewrite/chat"
	"epitome/rewrite/plan/plantest"
)

// A result that refers to another one is sent whole again when that is left out: it is among what was done, and not
// among what is not sent whole, then and later.
func TestWhatIsWholeAgainDoesNotStand(t *testing.T) {
	a := newAgent(32_000, userSays(theTask))
	a.limits.Repeats, a.limits.Floor = true, 0
	notes := plantest.Entries(1) + plantest.Entries(3)
	a.does("bash", `{"command":"cat notes"}`, notes)
	again := 0
	for compacted := false; again == 0 || len(a.items)-again < 6; {
		a.work(1, 900)
		if !compacted {
			a.work(2, 900)
			a.does("bash", `{"command":"cat notes"}`, notes)
		}
		out := a.ask(t)
		compacted = compacted || compacts(out)
		was, err := chat.Read([]byte(a.body()))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range out.Report.Changes {
			if c.Code == event.CodeWholeAgain {
				again = len(a.items)
			}
		}
		for _, c := range out.StandingChanges(was) {
			if c.Last == 0 && c.After == c.Came && c.Thinking == "" {
				t.Fatalf("it stands: %+v", c)
			}
		}
		if again == 0 && len(a.items) > 400 {
			t.Fatal("nothing was sent whole again")
		}
	}
}
