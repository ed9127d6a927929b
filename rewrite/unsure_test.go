package rewrite

import (
	"testing"
	"time"

	"epitome/event"
	"epitome/rewrite/decision"
)

// faraway are notes that others share, behind a network that loses the answers to what is written.
type faraway struct{ *notes }

// Turn begins one.
func (f faraway) Turn(string) decision.Turn { return f }

func (faraway) Failure() error                   { return nil }
func (faraway) Read([]string)                    {}
func (faraway) Knows(string) bool                { return true }
func (faraway) Commit([]decision.Entry) error    { return decision.ErrUnsure }
func (faraway) Stamp(string, time.Time)          {}
func (faraway) Stamped(string) (time.Time, bool) { return time.Time{}, false }

// Where nobody knows whether others will find a decision, the request says so.
func TestADecisionThatOthersMayNotFindIsTold(t *testing.T) {
	a := newAgent(16_000, userSays(theTask))
	a.limits.Floor = 0
	a.work(1, 6_000)
	a.deps.Ledger = faraway{a.notes}
	out := a.ask(t)
	if r := out.Report; r.Code != event.CodeUnrecorded || !r.Decided || r.Err != nil || !out.Changed {
		t.Errorf("%+v", r)
	}
}
