package shared

import (
	"errors"
	"testing"
	"time"
)

// TestQuestionsUnderWayTogetherAreOneFailure: a server that holds its breath for a moment is not left alone, however
// many ask it then; one that leaves a request's two questions without an answer is.
func TestQuestionsUnderWayTogetherAreOneFailure(t *testing.T) {
	var b breaker
	lost := errors.New("no answer")
	put := time.Now()
	for range 10 {
		if b.note(lost, put) {
			t.Fatal("questions that were put together have the server left alone")
		}
	}
	if !b.lastGap().After(put) {
		t.Error("the gap is not known")
	}
	b.note(nil, put)
	if b.note(lost, time.Now()) {
		t.Fatal("an answer in between counts for nothing")
	}
	if !b.note(lost, time.Now()) {
		t.Error("the server is asked on")
	}
	if up, _, why := b.state(); up || why != lost.Error() {
		t.Errorf("up: %v, why: %q", up, why)
	}
}
