package conversation_test

import (
	"testing"

	"epitome/rewrite/conversation"
)

func TestOnlyNewFlawsMakeARewriteWorse(t *testing.T) {
	f := func(worse bool, original, rewritten []string) {
		t.Helper()
		if err := conversation.Worse(mustRead(t, original...), mustRead(t, rewritten...)); (err != nil) != worse {
			t.Errorf("%v\nto %v: %v", original, rewritten, err)
		}
	}
	whole := []string{task, two, one, other, done}
	f(false, whole, whole)
	f(false, whole, []string{task, done})
	f(true, whole, []string{task, one, other, done})
	f(true, whole, []string{task, two, one, done})
	broken := []string{task, one, two, one, other, done}
	f(false, broken, broken)
	f(false, broken, []string{task, one, done})
	f(true, broken, []string{task, one, one, done})
	odd := []string{`{"role":"odd"}`, task, done}
	f(false, odd, []string{task, `{"role":"odd"}`, done})
	f(true, odd, []string{`{"role":"odd"}`, `{"role":"odd"}`, done})
}
