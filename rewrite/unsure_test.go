package rewrite

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
)

// faraway are notes that others share, behind a network that may lose the answers to what is written.
type faraway struct {
	*notes
	answers bool
	ties    int // so often another request is faster
}

// Turn begins one.
func (f *faraway) Turn(string) decision.Turn { return f }

func (*faraway) Failure() error                   { return nil }
func (*faraway) Read([]string)                    {}
func (*faraway) Knows(string) bool                { return true }
func (*faraway) Stamp(string, time.Time)          {}
func (*faraway) Stamped(string) (time.Time, bool) { return time.Time{}, false }

func (f *faraway) Commit(records []decision.Entry) error {
	if !f.answers {
		return decision.ErrUnsure
	}
	if f.ties > 0 {
		f.ties--
		return decision.ErrTie
	}
	for _, r := range records {
		if _, _, err := f.Add(r.Key, r.Value); err != nil {
			return err
		}
	}
	return nil
}

// Where nobody knows whether others will find a decision, the request says so.
func TestADecisionThatOthersMayNotFindIsTold(t *testing.T) {
	a := newAgent(16_000, userSays(theTask))
	a.limits.Floor = 0
	a.work(1, 6_000)
	a.deps.Ledger = &faraway{notes: a.notes}
	out := a.ask(t)
	if r := out.Report; r.Code != event.CodeUnrecorded || !r.Decided || r.Err != nil || !out.Changed {
		t.Errorf("%+v", r)
	}
}

// A decision of which nobody knew whether it was recorded has been sent. If others have decided otherwise meanwhile,
// and theirs stands, the next request goes on in their form, and tells that it does.
func TestWhoGoesOnInAnotherFormThanWasSentTellsIt(t *testing.T) {
	f := func(keep int, more, broke bool) {
		t.Helper()
		here, there := newAgent(16_000, userSays(theTask)), newAgent(16_000)
		here.limits.Floor, there.limits.Floor = 0, 0
		here.work(1, 6_000)
		here.deps.Ledger = &faraway{notes: here.notes}
		sent := here.ask(t)
		there.items, there.notes, there.cupboard = here.items, here.notes, here.cupboard
		there.limits.OffloadKeep = keep
		there.restart()
		there.deps.Ledger = &faraway{notes: here.notes, answers: true}
		if other := there.ask(t).Report; !other.Decided || other.Broke || other.Code == event.CodeUnrecorded {
			t.Fatalf("%+v", other)
		}
		here.deps.Ledger = &faraway{notes: here.notes, answers: true}
		if more {
			here.work(1, 100)
		}
		out := here.ask(t)
		if r := out.Report; r.Broke != broke || r.Code == event.CodeUnrecorded || r.Err != nil {
			t.Errorf("excerpts of %d there, more: %t: %+v", keep, more, r)
		}
		if goesOn := slices.Equal(sentItems(t, out)[:len(sentItems(t, sent))], sentItems(t, sent)); goesOn == broke {
			t.Errorf("excerpts of %d there, more: %t: what was sent goes on: %t", keep, more, goesOn)
		}
		here.work(1, 100)
		if r := here.ask(t).Report; r.Broke {
			t.Errorf("excerpts of %d there, more: %t: it is told again", keep, more)
		}
	}
	kept := newAgent(16_000).limits.OffloadKeep
	f(kept, true, false)
	f(kept, false, false)
	f(300, true, true)
	f(300, false, true)
}

// Somebody else may be faster to go on from a beginning. What is noted of that beginning is then written once more, and
// the request goes on as it was decided.
func TestWhatIsNotedOfABeginningSurvivesATie(t *testing.T) {
	a := newAgent(16_000, userSays(theTask))
	a.limits.Floor = 0
	a.work(1, 6_000)
	a.items = append(a.items, chatMessage(conversation.Assistant, "So"), userSays("Go on."))
	first := a.ask(t)
	a.items = a.items[:len(a.items)-1] // the client has the model go on with its last words
	a.restart()
	far := &faraway{notes: a.notes, answers: true, ties: 1}
	a.deps.Ledger = far
	out := a.ask(t)
	if far.ties != 0 || out.Report.Err != nil || !bytes.HasPrefix(first.Body, bytes.TrimSuffix(out.Body, []byte(`],"stream":true}`))) {
		t.Errorf("%d ties are left; %+v: what was sent as %.300s is sent as %.300s", far.ties, out.Report, first.Body, out.Body)
	}
}
